"""Scripts that stand in pages of HTML: one module of JavaScript for all of a page, each piece where it stands.

What a template's engine puts into a script is unknown: a name that nothing binds, `____`, stands for what it prints,
and blanks for what it does. Scripts that people do not write are left out: minified ones, and all of pages that a tool
has generated, such as documentation and reports. So are data and templates in elements named `script`.
"""

import re
from collections.abc import Iterator

from facts.file_facts import FileFacts
from facts.minified import is_minified
from facts.page.engines import without_engine
from facts.page.markup import Markup
from facts.source_text import SourceText

_KINDS = frozenset(
    {b"", b"module", b"babel", b"jsx", b"text/javascript", b"application/javascript", b"text/ecmascript"}
    | {b"application/x-javascript", b"application/ecmascript", b"text/babel", b"text/jsx", b"javascript"}
)
_MINIFIED_BYTES = 1024
"""Loaders that tools put into pages are short."""
_GENERATED = re.compile(
    rb"<meta\s+name=[\"']?generator[\"']?\s+content=[\"']?(?![\"'\s]*[{<$])[\w]"
    rb"|<meta\s+content=[\"'][\w][^\"'>]*[\"']\s+name=[\"']?generator"
    rb"|<!--[^>]{0,80}(?:\b[Gg]enerated (?:by|with|from|using)\b|DO NOT EDIT|NewPage)"
    rb"|created at |<title>(?:Code coverage report for|Coverage (?:for|report))|\bDoxygen\b"
    rb"|<html[^>]*\bdata-(?:generated|build)"
)
_HEAD_BYTES = 4 * 1024
_CHARACTER_DATA = re.compile(rb"\A\s*<!\[CDATA\[|\]\]>\s*\Z")
_WORD = re.compile(rb"<script\b", re.IGNORECASE)


def scripts_of(page: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the scripts of a page stand that are to be read."""
    if not _WORD.search(page) or _GENERATED.search(page[:_HEAD_BYTES]):
        return
    for tag in Markup(page).scripts():
        if tag.content_end < 0 or tag.attribute(b"src"):
            continue
        kind = tag.attribute(b"type") or tag.attribute(b"language")
        if kind is not None and page[kind.start : kind.end].strip().lower().partition(b";")[0] not in _KINDS:
            continue
        script = page[tag.end : tag.content_end]
        if script.strip() and not is_minified(script, _MINIFIED_BYTES):
            yield tag.end, tag.content_end


def extract(data: bytes, syntax: str | None) -> FileFacts | None:
    """Return the facts of a page's scripts, None if there are none. `syntax` is that of the template that it is."""
    if not _WORD.search(data):
        return None
    page = SourceText(data).utf8
    scripts = list(scripts_of(page))
    if not scripts:
        return None
    # Pages without scripts are many, and the extractor of JavaScript takes a while to load.
    from facts.javascript.extract import extract_pieces
    from facts.pieced_text import PiecedText

    text = PiecedText(data)
    for start, end in scripts:
        text.piece(start, end, _code(page[start:end], syntax))
        text.words(b"\n;\n", end)
    text.assemble()
    return extract_pieces(text)


def _code(script: bytes, syntax: str | None) -> bytes:
    code = _CHARACTER_DATA.sub(lambda found: re.sub(rb"\S", b" ", found[0]), script)
    return code if syntax is None else without_engine(code, syntax)
