"""The order in which strata are evaluated, and what may be evaluated aside by another process meanwhile.

Large recursions take most of the time, one after the other. What leads to the next one comes first, then what leads to
the one behind it, and so on (the critical path of Kelley and Walker, 1959, with large recursions for its length). Of
what leads to the next one a half of what is ready can be evaluated aside, and all that neither leads to it nor waits
for it. Without large recursions strata come in the order of the program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from heapq import heappop, heappush
from itertools import chain

from engine.language.checked_program import Stratum


class State(Enum):
    LEFT, BEGUN, ASIDE, DONE = range(4)


THERE = frozenset({State.ASIDE, State.DONE})
"""The states of strata that a copy has, or evaluates before it comes to more."""


class StrataOrder:
    """Which strata are left, begun, aside and done, by their positions.

    `needs` has the strata that each one waits for. `large` are the large recursions in order, `may_move` says of each
    stratum whether it may be evaluated aside.
    """

    def __init__(
        self, sizes: Sequence[int], needs: Sequence[Collection[int]], large: Iterable[int], may_move: Iterable[bool]
    ) -> None:
        self.sizes, self.needs, self.large, self.may_move = sizes, needs, list(large), list(may_move)
        self.feeds: list[list[int]] = [[] for _ in needs]
        for at, needed in enumerate(needs):
            for other in needed:
                self.feeds[other].append(at)
        self.states = [State.LEFT] * len(needs)
        self.n_waited_for = [len(needed) for needed in needs]
        self.n_left = len(needs)
        self.goals = self.first_goals()
        self.ready: list[list[int]] = [[] for _ in range(len(self.large) + 1)]
        """Of each goal the strata that wait for nothing, as a heap; some may have begun since."""
        self.set_goal()
        for at, n in enumerate(self.n_waited_for):
            if not n:
                self.enter(at)

    def first_goals(self) -> list[int]:
        """Return the goal of each stratum: the position of the first large recursion that it is or leads to.

        One that leads to none has the number of large recursions.
        """
        goals = [len(self.large)] * len(self.needs)
        for goal, large in enumerate(self.large):
            path = [large]
            while path:
                at = path.pop()
                if goals[at] == len(self.large):
                    goals[at] = goal
                    path += self.needs[at]
        return goals

    def set_goal(self) -> None:
        """Find the next large recursion that is left, and what does not wait for it."""
        left = (goal for goal, at in enumerate(self.large) if self.states[at] is State.LEFT)
        self.goal = next(left, len(self.large))
        self.movable: dict[int, None] = {}
        self.movable_size = 0
        for at in chain.from_iterable(self.ready):
            self.offer(at)

    def enter(self, at: int) -> None:
        """A stratum waits for nothing any more."""
        if self.states[at] is State.LEFT:
            heappush(self.ready[self.goals[at]], at)
            self.offer(at)

    def offer(self, at: int) -> None:
        """Take a stratum for movable, and what waits for such ones only, where another process is of use."""
        path = [at] if self.large else []
        while path:
            at = path.pop()
            if at in self.movable or not self.may_move[at] or self.states[at] is not State.LEFT:
                continue
            if self.goals[at] == self.goal:
                continue
            if all(self.states[other] is State.DONE or other in self.movable for other in self.needs[at]):
                self.movable[at] = None
                self.movable_size += self.sizes[at]
                path += self.feeds[at]

    def next(self) -> int | None:
        """Return the stratum to begin now, or None if all that is left waits for what is aside."""
        for waiting in self.ready:
            while waiting:
                at = heappop(waiting)
                if self.states[at] is State.LEFT:
                    self.begin(at)
                    return at
        return None

    def next_beside(self) -> int | None:
        """Return the stratum to begin now beside another one, or None if there is none: no large recursion."""
        for waiting in self.ready:
            for at in sorted(waiting):
                if self.states[at] is State.LEFT and self.may_move[at] and at not in self.large:
                    self.begin(at)
                    return at
        return None

    def begin(self, at: int) -> None:
        self.states[at] = State.BEGUN
        self.hold(at)

    def hold(self, at: int) -> None:
        """A stratum is not to be given away any more."""
        if at in self.movable:
            del self.movable[at]
            self.movable_size -= self.sizes[at]

    def finish(self, at: int) -> None:
        """A stratum is done, here or aside."""
        self.states[at] = State.DONE
        self.n_left -= 1
        for other in self.feeds[at]:
            self.n_waited_for[other] -= 1
            if self.n_waited_for[other]:
                self.offer(other)
            else:
                self.enter(other)
        if at in self.large[self.goal : self.goal + 1]:
            self.set_goal()

    def to_give(self, most: float) -> list[int]:
        """Return, in order, what can be evaluated aside from now on: it needs what is done, or each other.

        There is no more once that has so many clauses.
        """
        found: dict[int, None] = {}
        size = 0
        for at in chain(self.shared(), sorted(self.movable, key=lambda at: (self.goals[at], at))):
            if size >= most:
                break
            # One that it needs may have begun here since it was offered.
            if all(self.states[other] in THERE or other in found for other in self.needs[at]):
                found[at] = None
                size += self.sizes[at]
        return list(found)

    def size(self, strata: Iterable[int]) -> int:
        return sum(self.sizes[at] for at in strata)

    def shared(self) -> list[int]:
        """Every second one of the strata that are ready and lead to the goal."""
        ready = {at for at in self.ready[self.goal] if self.states[at] is State.LEFT and self.may_move[at]}
        return sorted(ready.difference(self.large))[1::2]

    def give(self, strata: Iterable[int]) -> None:
        """Strata are evaluated aside from now on."""
        for at in strata:
            self.states[at] = State.ASIDE
            self.hold(at)

    def take_back(self, strata: Iterable[int]) -> None:
        """Strata that were aside are left again, and stay."""
        for at in strata:
            self.states[at] = State.LEFT
            if not self.n_waited_for[at]:
                self.enter(at)
        self.bar(strata)

    def bar(self, strata: Iterable[int]) -> None:
        """Strata stay."""
        for at in strata:
            self.may_move[at] = False
        self.set_goal()

    @property
    def is_at_goal(self) -> bool:
        """True while the next large recursion is evaluated."""
        return self.goal < len(self.large) and self.states[self.large[self.goal]] is State.BEGUN

    @property
    def not_done(self) -> list[int]:
        return [at for at, state in enumerate(self.states) if state is not State.DONE]


def needs_of(
    strata: Sequence[Stratum], reads: Sequence[Collection[str]], grown_by: Mapping[str, str]
) -> list[set[int]]:
    """Return the strata that each one waits for. `reads` are the relations that each one reads.

    Of the relations named by `grown_by` each gets rows in the stratum of another relation, too: what stands before that
    and reads it does so before, what stands behind afterwards.
    """
    writer = {name: at for at, stratum in enumerate(strata) for name in stratum.relations}
    needs = [{writer[name] for name in read if name in writer} - {at} for at, read in enumerate(reads)]
    for name, grower in grown_by.items():
        growing = writer[grower]
        for at in [at for at, needed in enumerate(needs) if writer[name] in needed]:
            if at < growing:
                needs[growing].add(at)
            elif at > growing:
                needs[at].add(growing)
    return needs
