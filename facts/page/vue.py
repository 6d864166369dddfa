"""Components of Vue: `<script>`, `<script setup>`, and a `<template>` with directives and `{{ … }}`.

Source: the documentation of Vue 3 and 2, chapters on template syntax and single-file components.
"""

import re

from facts.file_facts import FileFacts
from facts.page.component import View
from facts.page.markup import Attribute, Tag

_NEXT = re.compile(rb"\{\{|<!--|</?[a-zA-Z]")
_FOR = re.compile(rb"\s*(.*?)\s+(?:in|of)\s+(.*)", re.DOTALL)
_NAME = re.compile(rb"\s*[A-Za-z_$][\w$]*\s*")
"""A name alone may be of a reactive reference, of which the markup sees what it holds."""
_GLOBALS = frozenset(
    "Infinity undefined NaN isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI"
    " encodeURIComponent Math Number Date Array Object Boolean String RegExp Map Set JSON Intl BigInt console Error"
    " Symbol arguments this element$".split()
)
"""Names of the language that templates see; others are the component's."""


def extract(data: bytes) -> FileFacts:
    """Return the facts of a component."""
    view = View(data)
    template_from, depth, at = -1, 0, 0
    while (found := _NEXT.search(view.page, at)) is not None:
        start = found.start()
        if found[0] == b"<!--":
            at = view.markup.after_comment(start)
        elif found[0] == b"{{":
            end = view.page.find(b"}}", start) if depth else -1
            if end >= 0:
                view.shows((start + 2, end))
            at = end + 2 if end >= 0 else start + 2
        else:
            tag = view.markup.tag(start)
            at = tag.after
            if not depth and tag.name == b"script" and not tag.closes:
                view.script(tag)
            elif not depth and tag.name == b"style":
                view.shown(tag.end, tag.after)
            elif tag.name.lower() == b"template" and tag.closes and depth == 1:
                view.shown(template_from, start)
                view.ends(b"template", start)
                depth = 0
            elif tag.name.lower() == b"template" and not depth and not tag.closes and not tag.is_whole:
                template_from, at, depth = tag.end, *_after_opening(view, tag)
            elif depth:
                depth += _nested(tag)
                _element(view, tag)
    if depth:
        view.shown(template_from, len(view.page))
    return view.facts(lambda name: name not in _GLOBALS)


def _after_opening(view: View, tag: Tag) -> tuple[int, int]:
    """Return where the reader goes on behind the tag of a template, and its depth: 0 if it is not HTML."""
    if view.value(tag.attribute(b"lang")).strip().lower() in (b"", b"html"):
        view.begins(b"template", b"")
        return tag.end, 1
    end = view.page.rfind(b"</template", tag.end)
    end = len(view.page) if end < 0 else end
    view.shown(tag.end, end)
    return end, 0


def _nested(tag: Tag) -> int:
    if tag.name.lower() != b"template" or tag.is_whole:
        return 0
    return -1 if tag.closes else 1


def _element(view: View, tag: Tag) -> None:
    """Evaluate what the attributes of an element say, in the scope of what it binds."""
    if tag.closes:
        return view.ends(tag.name, tag.start)
    closers = b""
    for attribute in tag.attributes:
        if attribute.name == b"v-for":
            closers = _loop(view, attribute) + closers
    for attribute in tag.attributes:
        if _is_slot(attribute.name):
            closers = view.given((attribute.start, attribute.end)) + closers
    for attribute in tag.attributes:
        if attribute.start < attribute.end and attribute.name != b"v-for" and not _is_slot(attribute.name):
            _directive(view, tag, attribute)
    if tag.is_whole:
        view.words(closers, tag.end)
    else:
        view.begins(tag.name, closers)


def _is_slot(name: bytes) -> bool:
    return name.startswith((b"#", b"v-slot")) or name in (b"slot-scope", b"scope")


def _directive(view: View, tag: Tag, attribute: Attribute) -> None:
    name, span = attribute.name, (attribute.start, attribute.end)
    if name.startswith(b"@") or name.startswith(b"v-on:"):
        view.handles(span)
    elif name.startswith(b"v-model"):
        view.binds(span)
    elif name == b"v-html":
        view.shows_as(b"innerHTML", span)
        if _NAME.fullmatch(view.page, *span):
            view.code(b"element$.innerHTML = (", span, b".value);\n")
    elif name.startswith((b":", b".", b"v-bind:")):
        view.attribute(tag, name.removeprefix(b"v-bind").lstrip(b":.").partition(b".")[0], span)
    elif name.startswith(b"v-"):
        view.shows(span)


def _loop(view: View, attribute: Attribute) -> bytes:
    """`item in items`, `(item, index) in items`, `{ id } of items`"""
    found = _FOR.fullmatch(view.page, attribute.start, attribute.end)
    if found is None:
        return b""
    start, end = found.span(1)
    if view.page[start : start + 1] == b"(" and view.page[end - 1 : end] == b")":
        start, end = start + 1, end - 1
    (first, *others) = _parts(view.page, start, end)
    closers = view.loop(first, found.span(2))
    for part in others:
        closers = view.given(part) + closers
    return closers


def _parts(page: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts between commas that stand in no brackets."""
    parts, depth, at = [], 0, start
    for place in range(start, end):
        sign = page[place : place + 1]
        depth += (sign in b"([{") - (sign in b")]}")
        if sign == b"," and not depth:
            parts.append((at, place))
            at = place + 1
    return [*parts, (at, end)]
