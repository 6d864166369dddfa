"""A second thread that evaluates strata of an evaluation while the first one evaluates others.

It shares all relations: complete ones are read by both threads, and each writes those of its own stratum. What is
ready, begun and done belongs to whoever holds `changed`. A stratum that the second thread cannot finish, for whatever
reason, is given back, and the thread ends: the first one meets the same reason, and says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Condition, Thread
from typing import Generic, TypeVar

from engine.process_setting import ProcessSetting

SWITCH_S = 0.001
"""A kernel that returns waits for the interpreter's lock for so long, while the other thread plans."""
Done = TypeVar("Done")


def switches_often() -> ProcessSetting:
    """Threads that wait for the interpreter's lock get it soon."""

    def change() -> Callable[[], object]:
        usual_s = sys.getswitchinterval()
        sys.setswitchinterval(min(usual_s, SWITCH_S))
        return lambda: sys.setswitchinterval(usual_s)

    return ProcessSetting(change)


SWITCHING = switches_often()


class StrataBeside(Generic[Done]):
    """The thread. `take` returns the stratum to begin, or None if none is ready; `finish` and `give_back` end it.

    They are called under the condition `changed`, `evaluate` is not; after `stop` that raises soon.
    """

    def __init__(
        self,
        changed: Condition,
        take: Callable[[], int | None],
        evaluate: Callable[[int], Done],
        finish: Callable[[int, Done], object],
        give_back: Callable[[int], object],
        stop: Callable[[], object],
    ) -> None:
        self.changed, self.take, self.evaluate = changed, take, evaluate
        self.finish, self.give_back, self.stop = finish, give_back, stop
        self.is_at_work, self.is_ended = True, False
        self.thread = Thread(target=self.work, name="strata", daemon=True)
        self.thread.start()

    def work(self) -> None:
        with SWITCHING:
            while (at := self.next()) is not None:
                try:
                    done = self.evaluate(at)
                except BaseException:
                    with self.changed:
                        self.give_back(at)
                        self.is_ended = True
                else:
                    with self.changed:
                        self.finish(at, done)
                        self.changed.notify_all()
        with self.changed:
            self.is_at_work = False
            self.changed.notify_all()

    def next(self) -> int | None:
        """Return the stratum to evaluate now, as soon as there is one; None at the end."""
        with self.changed:
            while not self.is_ended:
                at = self.take()
                self.is_at_work = at is not None
                if at is not None:
                    return at
                self.changed.notify_all()
                self.changed.wait()
        return None

    def end(self) -> None:
        """Let the thread end, and wait for it."""
        self.stop()
        with self.changed:
            self.is_ended = True
            self.changed.notify_all()
        self.thread.join()
