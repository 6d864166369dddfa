"""Errors that the user can fix: each has a code, a location, a message and help."""

from __future__ import annotations

INSTALL_SPARK = "pip install 'pyspark>=4,<5' pyarrow pandas"
"""The packages of the extra `spark`. The project's own name may be another project on a package index."""


class AnalyzeError(Exception):
    """Ends a command with exit code 2 and `render()` on standard error, never with a traceback.

    `code` is a letter and three digits: A arguments, B batches, C configuration, F facts, G git, L live processes,
    R rules, S state directory, V evaluation.
    """

    def __init__(
        self, code: str, message: str, *, file: str = "", line: int = 0, source: str = "", help: str = ""
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.file, self.line, self.source, self.help = code, message, file, line, source, help

    def render(self) -> str:
        lines = [f"error[{self.code}]: {self.message}"]
        if self.file:
            lines.append(f"  --> {self.file}:{self.line}" if self.line else f"  --> {self.file}")
        if self.source:
            lines.append(f"{self.line} | {self.source}")
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


class ProgramErrors(AnalyzeError):
    """Datalog sources that do not compile; `rendered` holds each diagnostic as the engine words it."""

    def __init__(self, rendered: list[str]) -> None:
        super().__init__("R001", f"{len(rendered)} error(s) in Datalog rules")
        self.rendered = rendered

    def render(self) -> str:
        return "\n\n".join(self.rendered)


class NotEnoughMemory(AnalyzeError):
    """The rules cannot be evaluated in the available memory."""

    def __init__(self, detail: str = "") -> None:
        message = f"not enough memory: {detail}" if detail else "not enough memory"
        super().__init__("V002", message, help="scan a part of the repository, or fewer rules")


def suggest(word: str, known: list[str]) -> str:
    """Return a help text that names the known word nearest to `word`, or all of them."""
    import difflib

    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
