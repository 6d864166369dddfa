"""Coordination policies: may a worker begin its next local iteration, or should it wait, and for what?

Workers own partitions and exchange tuples. A worker that has tuples at hand asks the policy before each local iteration
(Wu et al., DCDatalog, SIGMOD 2022, Algorithms 1 and 2). Policies know neither threads nor clocks: all they go by is the
`Situation` passed to them, so that a simulator can drive them as the engine does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Spacing:
    """The mean and the variance of the seconds from one tuple to the next: 1/λ and σ², or 1/μ and σ²."""

    mean_s: float
    variance: float


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Tuples at hand that came from one producer, and how they have been arriving from there."""

    n_tuples: int
    spacing: Spacing


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation in which worker `worker` has `n_tuples` to work on and has waited `waited_s` since it could begin.

    `iterations` counts the local iterations that each worker has ended. Workers that are not `active` have nothing to
    do: nobody waits for them. `service` is the worker's time per tuple, None before it has worked.
    """

    worker: int
    iterations: Sequence[int]
    active: Sequence[bool]
    n_tuples: int
    waited_s: float
    arrivals: Sequence[Arrivals]
    service: Spacing | None

    @property
    def lead(self) -> int:
        """By how many iterations the worker is ahead of the slowest that is active."""
        reached = (n for n, active in zip(self.iterations, self.active, strict=True) if active)
        own = self.iterations[self.worker]
        return own - min(reached, default=own)


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait until `tuples` are at hand, `seconds` have passed, or another worker has ended an iteration; ask again."""

    tuples: float = inf
    seconds: float = inf


class CoordinationPolicy(Protocol):
    """Decides if a worker begins its next iteration (None) or waits."""

    name: str

    def decide(self, situation: Situation) -> Wait | None: ...


@dataclass(frozen=True, slots=True)
class Ssp:
    """Stale-synchronous parallel: at most `slack` iterations ahead of the slowest worker (Das and Zaniolo, 2019)."""

    slack: int
    name = "ssp"

    def decide(self, situation: Situation) -> Wait | None:
        return None if situation.lead <= self.slack else Wait()


@dataclass(frozen=True, slots=True)
class Global:
    """A barrier after each iteration: nobody gets ahead of anybody (Algorithm 1)."""

    name = "global"

    def decide(self, situation: Situation) -> Wait | None:
        return None if situation.lead <= 0 else Wait()


GLOBAL = Global()


@dataclass(frozen=True, slots=True)
class Dws:
    """Dynamic weight-based strategy: collect ω tuples, but wait no longer than τ (Algorithm 2).

    A worker whose tuples arrive faster than it serves them (ρ ≥ 1) proceeds at once, as does one that no other worker
    can send anything. ω and τ are those of the moment: they are computed anew whenever the worker asks.
    """

    name = "dws"

    def decide(self, situation: Situation) -> Wait | None:
        if sum(situation.active) <= 1:
            return None
        omega, tau = thresholds(situation.arrivals, situation.service)
        if situation.n_tuples >= omega or situation.waited_s >= tau:
            return None
        return Wait(omega, tau - situation.waited_s)


def policy_named(name: str, slack: int) -> CoordinationPolicy:
    """Return the policy `global`, `ssp` (with so much slack) or `dws`."""
    return {"global": GLOBAL, "ssp": Ssp(slack), "dws": Dws()}[name]


def thresholds(arrivals: Sequence[Arrivals], service: Spacing | None) -> tuple[float, float]:
    """Return ω, the expected length of the queue, and τ, the expected wait in it; zeros where there is no estimate.

    Kingman's formula, Equation 2: L = ρ² (C²a + C²s) / (2 (1 − ρ)), ω = L, τ = L / λ.
    """
    arrival = mixture(arrivals)
    if arrival is None or service is None or not 0 < service.mean_s < arrival.mean_s:
        return 0.0, 0.0
    rho = service.mean_s / arrival.mean_s
    variability = arrival.variance / arrival.mean_s**2 + service.variance / service.mean_s**2
    omega = rho**2 * variability / (2 * (1 - rho))
    return omega, omega * arrival.mean_s


def mixture(arrivals: Sequence[Arrivals]) -> Spacing | None:
    """Return the spacing of tuples from all producers, each weighted by its tuples at hand (Equation 1)."""
    n_tuples = sum(a.n_tuples for a in arrivals)
    if not n_tuples:
        return None
    mean = sum(a.n_tuples * a.spacing.mean_s for a in arrivals) / n_tuples
    square = sum(a.n_tuples * (a.spacing.variance + a.spacing.mean_s**2) for a in arrivals) / n_tuples
    return Spacing(mean, max(0.0, square - mean**2))


FADE = 0.75


class Moments:
    """Running mean and variance of seconds per tuple; what is long past fades, by a quarter with each batch."""

    __slots__ = ("n", "total", "squares")

    def __init__(self) -> None:
        self.n = self.total = self.squares = 0.0

    def add(self, n_tuples: int, elapsed_s: float) -> None:
        """Note n tuples that took `elapsed_s` together, spread evenly: a batch is how they are sent, not how made."""
        self.n = FADE * self.n + n_tuples
        self.total = FADE * self.total + elapsed_s
        self.squares = FADE * self.squares + elapsed_s**2 / n_tuples

    @property
    def spacing(self) -> Spacing | None:
        if not self.n:
            return None
        mean = self.total / self.n
        return Spacing(mean, max(0.0, self.squares / self.n - mean**2))
