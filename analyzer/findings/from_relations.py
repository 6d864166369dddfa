"""Findings from the relations of an evaluation: places, messages, paths, fingerprints; and counts of calls."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analyzer.findings.entities import Entities
from analyzer.findings.source_texts import Texts
from analyzer.findings.taint_paths import Hop, Paths, kept_between, without_repeats
from analyzer.report import Check, Finding, Place, Step

if TYPE_CHECKING:
    import engine

WAYS = {
    "source": "source",
    "enter": "passed into the called function",
    "leave": "returned to the caller",
    "step": "",
    "share": "",
}
HANDED_ON = "handed on by the called function"
GUESS = "through a call of unknown code"
KEPT = "kept where other functions read it"
MAX_QUOTE = 60
VARIABLES = ("&", "φ ")  # before the name of a variable, in labels of values that stand nowhere


@dataclass(frozen=True, slots=True)
class CallCoverage:
    """Counts of calls: resolved to a function or a library's qualified name, matched by name only, or unresolved."""

    resolved: int = 0
    by_name: int = 0
    unresolved: int = 0


class Findings:
    """The rows of `finding`, turned into findings of the checks that ran.

    `entities` are those of the evaluation, `abandoned` the places of findings whose path was not found in the states
    that a search may look at.
    """

    def __init__(self, result: engine.Result, checks: Sequence[Check], texts: Texts) -> None:
        self._rows = result.relation("finding").T.tolist()
        self._checks: Mapping[str, Check] = {check.id: check for check in checks}
        self.entities = Entities(result)
        self._paths = Paths(result, self.entities)
        self._guessed = set(result.relation("guessed_call")[0].tolist())
        self._forwarded = set(result.relation("only_forwarded")[0].tolist())
        self._evidence = _by_finding(result)
        self._texts = texts
        self.abandoned: list[Place] = []

    def collect(self) -> list[Finding]:
        """Return the findings, ordered by place; equal ones in one place become one.

        So do those of one entity in several contexts: the one with the shortest path counts.
        """
        in_contexts: dict[tuple[Place, str, str], Finding] = {}
        for row in self._rows:
            if finding := self._finding(*row):
                key = (finding.place, finding.check, finding.fingerprint)
                in_contexts[key] = min(in_contexts.get(key, finding), finding, key=_by_path)
        found = {(f.place, f.check, f.message, f.fingerprint): f for f in in_contexts.values()}
        unique: dict[tuple[Place, str, str], Finding] = {}
        for place, check, message, fingerprint in sorted(found):
            unique.setdefault((place, check, message), found[place, check, message, fingerprint])
        return _numbered(list(unique.values()))

    def _finding(self, check_symbol: int, entity: int, detail_symbol: int) -> Finding | None:
        check = self._checks.get(self.entities.text(check_symbol))
        place = self.entities.place(entity)
        if check is None or place is None:
            return None
        detail = self.entities.text(detail_symbol)
        found = self._paths.find(check_symbol, entity)
        if found is None:
            self.abandoned.append(place)
        hops = without_repeats(found or [], self.entities)
        source = self._quote(hops[0]) if hops else "untrusted data"
        message = check.message.replace("{detail}", detail).replace("{source}", source)
        content = "\0".join([check.id, self.entities.chain(entity), detail])
        digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
        steps = self._steps(hops, place) or self._shown(check_symbol, entity)
        return Finding(check.id, message, place, steps, fingerprint=digest)

    def _shown(self, check: int, entity: int) -> tuple[Step, ...]:
        """Return the steps of a finding without tainted data, in order. A single one repeats its place: none."""
        rows = self._evidence.get((check, entity), ())
        steps = [(order, at, words) for order, step, words in rows if (at := self.entities.place(step))]
        shown = tuple(Step(at, self.entities.text(words)) for _, at, words in sorted(steps))
        return shown if len(shown) > 1 else ()

    def _steps(self, hops: Sequence[Hop], sink: Place) -> tuple[Step, ...]:
        """Return the path as places; it ends where the finding is reported."""
        kept = kept_between(hops, self.entities)
        ways = [hop.way for hop in hops[1:]] + [""]
        placed = [(at, hop, place) for at, hop in enumerate(hops) if (place := self.entities.place(hop.value))]
        steps = [Step(place, KEPT if at in kept else self._words(hop, ways[at])) for at, hop, place in placed]
        if steps and steps[-1].place != sink:
            steps.append(Step(sink, ""))
        if steps:
            steps[-1] = replace(steps[-1], message="sink" if len(steps) > 1 else "source and sink")
        return tuple(steps)

    def _words(self, hop: Hop, next_way: str) -> str:
        """Return how data came to a hop; `next_way` is how it goes on."""
        if hop.way == next_way == "enter" and hop.value in self._forwarded:
            return HANDED_ON
        return GUESS if hop.way == "step" and hop.value in self._guessed else WAYS[hop.way]

    def _quote(self, hop: Hop) -> str:
        """Return the source's own text, shortened; the name of a variable that a call fills, or that branches set."""
        place = self.entities.place(hop.value)
        assert place is not None
        label = self.entities.label(hop.value)
        name = next((label.removeprefix(sign) for sign in VARIABLES if label.startswith(sign)), None)
        text = self._texts.region(place) if name is None else name
        return f"'{text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1] + '…'}'"


def _by_finding(result: engine.Result) -> Mapping[tuple[int, int], list[tuple[int, int, int]]]:
    """Return (order, place, words) of the steps that checks show, by check and place of the finding."""
    shown = defaultdict(list)
    for check, place, *step in result.relation("evidence").T.tolist():
        shown[check, place].append(tuple(step))
    return shown


def _by_path(finding: Finding) -> tuple[object, ...]:
    return (not finding.path, len(finding.path), finding.path, finding.message)


def _numbered(findings: list[Finding]) -> list[Finding]:
    """Make fingerprints distinct: the n-th of equal ones, in order of place, gets `-n`."""
    seen: Counter[str] = Counter()
    result = []
    for finding in findings:
        seen[finding.fingerprint] += 1
        n = seen[finding.fingerprint]
        result.append(replace(finding, fingerprint=f"{finding.fingerprint}-{n}") if n > 1 else finding)
    return result


def call_coverage(result: engine.Result) -> CallCoverage:
    """Count the calls of the program by what is known of their targets."""
    resolved, unresolved, by_name = (
        _first_column(result, name) for name in ("resolved_call", "unresolved_call", "method_name_match")
    )
    # In some contexts a call may be resolved, in others not.
    return CallCoverage(len(resolved), len(by_name - resolved), len(unresolved - by_name - resolved))


def _first_column(result: engine.Result, relation: str) -> set[int]:
    return set(result.relation(relation)[0].tolist())
