"""The list of repositories: a file with one PATH[@REV] or URL[@REV] per line, or a directory of repositories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from analyzer.errors import AnalyzeError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
NAMED = re.compile(rf"({NAME.pattern})=(.+)")
URL = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:")


@dataclass(frozen=True, slots=True)
class Listed:
    """A repository as the user names it: `source` is a path, or a URL of git's; `revision` may be ""."""

    name: str
    source: str
    revision: str = ""
    line: int = 0

    @property
    def is_url(self) -> bool:
        return bool(URL.match(self.source))


def read_listing(path: Path) -> list[Listed]:
    """Return the repositories listed in a file, or those in a directory, by name.

    Raises AnalyzeError: B001 if nothing is listed, or the list cannot be read; B002 if two have the same name.
    """
    try:
        listed = list(in_directory(path) if path.is_dir() else in_file(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise AnalyzeError("B001", f"cannot read the list of repositories {path}: {reason}") from None
    if not listed:
        hint = "write one path or git URL per line, optionally followed by @REV"
        raise AnalyzeError("B001", f"{path} lists no repositories", help=hint)
    by_name: dict[str, Listed] = {}
    for item in sorted(listed, key=lambda item: (item.name.lower(), item.line)):
        # Results are named so, also on file systems to which case makes no difference.
        other = by_name.setdefault(item.name.lower(), item)
        if other is not item:
            message = f"{other.source} and {item.source} are both named '{item.name}'"
            help = f"list one of them by another name: NAME={item.source}"
            raise AnalyzeError("B002", message, file=str(path), line=item.line, help=help)
    return list(by_name.values())


def in_directory(path: Path) -> Iterator[Listed]:
    """Yield the repositories directly in a directory."""
    found = (entry for entry in sorted(path.iterdir()) if is_repository(entry))
    yield from (Listed(name_of(entry.name), str(entry), line=number) for number, entry in enumerate(found, 1))


def is_repository(path: Path) -> bool:
    """Return True if a directory looks like a git repository, damaged or not."""
    return (path / ".git").exists() or all((path / name).exists() for name in ("HEAD", "objects", "refs"))


def in_file(path: Path) -> Iterator[Listed]:
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = re.sub(r"(^|\s)#.*", "", text).strip()
        if text:
            yield parse(text, number)


def parse(text: str, line: int = 0) -> Listed:
    """Parse a line of the list: [NAME=]SOURCE[@REV]."""
    named = None if URL.match(text) or Path(text).is_dir() else NAMED.fullmatch(text)
    source, revision = parted(named[2] if named else text)
    base = re.split(r"[/:]", source.rstrip("/"))[-1]
    if not URL.match(source):
        base = Path(source).resolve().name
    return Listed(named[1] if named else name_of(base), source, revision, line)


def parted(text: str) -> tuple[str, str]:
    """Split source and revision. A directory may have an @ in its name, and a URL one before its path."""
    url = URL.match(text)
    if url is None and Path(text).is_dir():
        return text, ""
    head = len(url[0]) if url else 0
    if url and url[0].endswith("://"):
        head = max(head, text.find("/", head))
    rest = text[head:]
    places = [place for place, letter in enumerate(rest) if letter == "@"]
    if url is None:  # The longest directory there is.
        places = [place for place in places if Path(rest[:place]).is_dir()] or places[-1:]
    if not places:
        return text, ""
    return text[: head + places[-1]], rest[places[-1] + 1 :]


def name_of(base: str) -> str:
    """Return a valid file name made from the last component of a path or URL."""
    name = re.sub(r"[^A-Za-z0-9._+-]", "-", base.removesuffix(".git")).lstrip("._+-")
    return name or "repository"
