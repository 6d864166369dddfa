"""The catalogue: every bundled Datalog file, and for each check its metadata, help and examples.

A check is two files of one name below `checks/`: `NAME.dl`, which begins with a header of comments, and `NAME.md`,
which says why it matters. The fenced code blocks of `NAME.md` are examples and tests at once; a comment in them says
what is found there: `expect: id`, `ok: id`, or for known mistakes `spurious: id` and `missing: id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SEVERITIES = ("error", "warning", "note")
PRECISIONS = ("very-high", "high", "medium", "low")
CONTEXTS = ("insensitive", "1-call", "2-call", "1-object", "2-object", "1-type", "2-type", "hybrid")
TIERS = ("default", "audit", "library")
"""Default: what should block a merge. On request, audit: what is dangerous, without a proven source; library: what
parameters of exported functions reach."""
REQUIRED = ("id", "name", "severity", "precision", "message")
KEYS = (
    *REQUIRED,
    "cwe",
    "security-severity",
    "tags",
    "context",
    "tier",
    "max-calls",
    "max-returns",
    "calls-down",
    "also",
)
MAX_CALLS = 12
"""The most calls that a path enters or leaves, unless a check says so: of longer ones most are wrong."""

_ENTRY = re.compile(r"@([\w-]+)[ \t]+((?:(?![ \t]{2,}@).)*)")
_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
_OPENING = re.compile(r"^```(\w+)", re.M)


class HeaderError(Exception):
    """A check's header is wrong: `line` says where, the text what, `help` what to do."""

    def __init__(self, message: str, line: int, help: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.help = help


@dataclass(frozen=True, slots=True)
class DatalogFile:
    """A source text by its name, a path relative to where it was found."""

    name: str
    text: str

    @property
    def module(self) -> str:
        """The name that the file is imported by: its path below `lib/` or, of other files, below `rules/`, dotted."""
        return self.name.removeprefix("rules/").removeprefix("lib/").removesuffix(".dl").replace("/", ".")


@dataclass(frozen=True, slots=True)
class Check:
    """A check's metadata and program. `help` is Markdown; `message` may hold `{source}` and other placeholders.

    A check whose header says how severe its findings are for security has the tag `security`. `context` names the
    context policy that the check is to be evaluated under, if it asks for one. `tier` is one of TIERS.
    A path through more than `max_calls` is for the audit tier, one down to another layer of the program by more than
    `calls_down`, and one of data that functions of other files give more than `max_returns` times. `also` are the
    names, or patterns of them, under which other tools report the same.
    """

    id: str
    name: str
    severity: str
    precision: str
    message: str
    file: DatalogFile
    cwe: tuple[int, ...] = ()
    security_severity: str = ""
    tags: tuple[str, ...] = ()
    help: str = ""
    context: str = ""
    tier: str = "default"
    max_calls: int = MAX_CALLS
    max_returns: int = MAX_CALLS
    calls_down: int = 0
    also: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first paragraph of the help, on one line."""
        paragraphs = (part.strip() for part in re.split(r"\n\s*\n", self.help))
        return next((" ".join(part.split()) for part in paragraphs if part and not part.startswith("#")), "")

    @property
    def examples(self) -> list[tuple[str, str]]:
        """The (language, code) of every fenced block of the help, in order."""
        return _FENCE.findall(self.help)

    @property
    def languages(self) -> set[str]:
        """The languages of the examples."""
        return set(_OPENING.findall(self.help))


def read_check(name: str, text: str, help: str = "") -> Check:
    """Return the check whose program is `text`. Raises HeaderError where its header is incomplete or wrong."""
    entries: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            break
        for key, value in _ENTRY.findall(line):
            if key not in KEYS:
                known = ", ".join(f"@{key}" for key in KEYS)
                raise HeaderError(f"unknown key '@{key}'; known: {known}", number, _nearest(f"@{key}", KEYS, "@"))
            earlier = f"{entries[key][0]} " if key == "also" and key in entries else ""
            entries[key] = (earlier + value.strip(), number)
    if missing := [f"@{key}" for key in REQUIRED if key not in entries]:
        raise HeaderError(f"the header lacks {', '.join(missing)}", 1)
    _check_choice(entries, "severity", SEVERITIES)
    _check_choice(entries, "precision", PRECISIONS)
    if "context" in entries:
        _check_choice(entries, "context", CONTEXTS)
    if "tier" in entries:
        _check_choice(entries, "tier", TIERS)
    max_calls, calls_down = _number(entries, "max-calls", MAX_CALLS), _number(entries, "calls-down", 0)
    max_returns = _number(entries, "max-returns", MAX_CALLS)
    values = {key.replace("-", "_"): value for key, (value, _) in entries.items()}
    cwe = tuple(int(number) for number in re.findall(r"\d+", values.pop("cwe", "")))
    also = tuple(values.pop("also", "").split())
    tags = ["security"] * ("security_severity" in values) + values.pop("tags", "").replace(",", " ").split()
    return Check(
        **values, file=DatalogFile(name, text), cwe=cwe, tags=tuple(dict.fromkeys(tags)), help=help, also=also,
        max_calls=max_calls, max_returns=max_returns, calls_down=calls_down,
    )  # fmt: skip


def _number(entries: dict[str, tuple[str, int]], key: str, default: int) -> int:
    value, line = entries.pop(key, (str(default), 1))
    if not value.isdecimal():
        raise HeaderError(f"@{key} is '{value}'; expected a number", line)
    return int(value)


def _check_choice(entries: dict[str, tuple[str, int]], key: str, choices: tuple[str, ...]) -> None:
    value, line = entries[key]
    if value not in choices:
        expected = f"expected one of {', '.join(choices)}"
        raise HeaderError(f"@{key} is '{value}'; {expected}", line, _nearest(value, choices))


def _nearest(word: str, known: tuple[str, ...], sign: str = "") -> str:
    near = get_close_matches(word, [sign + each for each in known], n=1)
    return f"did you mean '{near[0]}'?" if near else ""


def _files(folder: str) -> Iterator[DatalogFile]:
    for path in sorted((HERE / folder).rglob("*.dl")):
        yield DatalogFile(f"rules/{path.relative_to(HERE).as_posix()}", path.read_text(encoding="utf-8"))


@cache
def library() -> tuple[DatalogFile, ...]:
    """The analyses of `lib/`."""
    return tuple(_files("lib"))


@cache
def models() -> tuple[DatalogFile, ...]:
    """Return what is known of languages' libraries and of frameworks: `models/`."""
    return tuple(_files("models"))


@cache
def checks() -> tuple[Check, ...]:
    """The bundled checks, ordered by id."""
    found = []
    for file in _files("checks"):
        page = HERE.parent / Path(file.name).with_suffix(".md")
        found.append(read_check(file.name, file.text, page.read_text(encoding="utf-8") if page.exists() else ""))
    return tuple(sorted(found, key=lambda check: check.id))
