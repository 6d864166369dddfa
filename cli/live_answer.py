"""An answer by the live process of a directory, where one answers, or by the command itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cli.terminal import warn

Answer = TypeVar("Answer")


def live_or_own(mode: str | None, ask: Callable[[], tuple[Answer | None, str]], own: Callable[[], Answer]) -> Answer:
    """Return the answer that `ask` gets, which warns where nobody answered, or else one's own.

    `mode` is the value of `--live`.
    """
    from analyzer.live.rendezvous import may_answer

    if may_answer(mode):
        answer, warning = ask()
        if warning:
            warn(warning)
        if answer is not None:
            return answer
    return own()
