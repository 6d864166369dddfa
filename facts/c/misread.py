"""Rewriting before parsing: casts, attributes and macros that would parse, but as something else.

Every rewriting keeps the length of the text. Unlike those of `attributes`, they are done before anything is parsed.
"""

import re

from facts.c.attributes import BASIC, CAPITALS, FIRST_NAME, NAME, NEAR, PARENTHESES, masked
from facts.c.conditionals import blank

# type *__attribute__((malloc)) f(): a star ends no type to which the grammar would let an attribute belong
_BEHIND_STAR = re.compile(rb"\*\s*(__attribute__\s*" + PARENTHESES + rb")(?=\s*" + NAME + rb"\s*\()")
# = (caddr_t) &x: without the type's declaration, the grammar takes it for the operand of a binary operator
_CAST_OF_ADDRESS = re.compile(
    rb"(?<=[=(,?:])\s*(\(\s*(?!" + BASIC + rb")(?:\w+_t|LP[A-Z]+|PVOID)\s*\))(?=\s*&\s*[A-Za-z_(])"
)
# = (gpointer) &x   = (Name) *x: whoever puts a blank before the operator and none behind it means one operand
_CAST_BEFORE_BLANK = re.compile(rb"(?<=[=(,?:])\s*(\(\s*" + NAME + rb"\s*\))(?=[ \t]+[&*][A-Za-z_(])")
# = (Handle)-1: what a name of a type in parentheses is before is no difference
_CAST_OF_NUMBER = re.compile(rb"(?<=[=(,?:])\s*(\(\s*(?:[A-Z]\w*[a-z]\w*|\w+_t)\s*\))(?=-\d)")
# offsetof(type, member.of[0].member)
_INNER_MEMBER = re.compile(rb"\boffsetof\s*\([^(),]+,\s*(\w+(?:\s*\.\s*\w+|\s*\[\s*\w+\s*\])+)(?=\s*\))")
# MACRO(x) as a whole line, before *p = 1: no product is assigned to
_BEFORE_TARGET = re.compile(
    rb"^[ \t]+" + CAPITALS + rb"\s*" + PARENTHESES + rb"(?:[ \t]*\r?\n)+([ \t])(?=[ \t]*\*+\s*" + NAME + rb"\s*=[^=])",
    re.MULTILINE,
)
# MACRO as a whole line, before *p = 1 or n = 1: no declaration is broken behind its type
_ALONE_BEFORE_TARGET = re.compile(
    rb"(?<=[;{}\n])[ \t]+" + CAPITALS + rb"[ \t]*\r?\n(?:[ \t]*\r?\n)*([ \t])(?=[ \t]*\**\s*" + NAME + rb"\s*=[^=])"
)
# MACRO p->member = 1, MACRO p->member == 1: no declaration has a member in place of its name
_BEFORE_MEMBER = re.compile(
    rb"(?<=[;{}\n])[ \t]+" + CAPITALS + rb"([ \t])(?=[ \t]*" + NAME + rb"\s*(?:->|\.)\s*" + NAME + rb"[^;{}]*;)"
)
# cleanup_free char *text = f();   __do_close int fd = f();   __attribute__((cleanup(g))) int fd = f();
_CLEANED_UP = re.compile(
    rb"(?<=[;{}\s])(?:(\w+)(?:[ \t]*\([ \t]*\w+[ \t]*\))?"
    rb"|__attribute__\s*\(\(\s*_*cleanup_*\s*\(\s*\w+\s*\)\s*\)\))"
    rb"(?=\s+(?:(?:const|struct|unsigned)\s+)*\w+[\s*]+\w+\s*(?:[=;,]|\[))"
)
_CLEANING_NAME = re.compile(rb"\w*(?:free|close|clean|unref|destroy|release)\w*|\w*_auto(?:_\w*)?|auto_\w*")
_CLEANING_TEXT = re.compile(rb"__attribute__\s*\(\([^()]*\b_*cleanup_*\s*\(")
# #define NAME text   #define NAME(parameters) text
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:\\\r?\n|[^\n])*)", re.MULTILINE)
# f(NAME_ type name)   f(NAME_ value): a macro with a comma at its end, by its name
_FIRST_AND_COMMA = re.compile(rb"\w\s*\(\s*([a-z]?[A-Z][A-Z0-9_]*_)(?=\s+[A-Za-z_])")
# f(type name, NAME_ type name): an attribute
_BEHIND_COMMA = re.compile(rb",\s*([a-z]?[A-Z][A-Z0-9_]*_)(?=\s+[A-Za-z_])")
# _name_ variable = value;   a macro without a text, or one of an attribute
_BEFORE_ASSIGNMENT = re.compile(rb"(?m)(?<=^[ \t])[ \t]*(\w+)(?=[ \t]+\w+[ \t]*=[^=])")
_ATTRIBUTE_NAME = re.compile(rb"_[a-z]\w*[a-z0-9]_")
_ATTRIBUTE_TEXT = re.compile(rb"(?:\s|\\|__attribute__\s*" + PARENTHESES + rb"|_Pragma\s*\([^()\n]*\))*")
_POINTER_CLEANED_UP = re.compile(rb"(?<=[;{}\s])g_autoptr\s*\(\s*(\w+)\s*\)(?=\s*\w+\s*[=;,])")
# auto name = value: the type is that of the value (C23)
_INFERRED = re.compile(rb"\bauto(?=\s+(?:const\s+)?" + NAME + rb"\s*=[^=])")
# In a function, THREAD_LOCAL int n;   STATIC char name[8];
_LASTING = re.compile(
    rb"(?m)(?<=^[ \t])([ \t]*)(\w*(?:THREAD_?LOCAL|thread_?local)\w*|STATIC)"
    rb"(?=\s+(?:(?:const|struct|unsigned)\s+)*\w+[\s*]+\w+\s*(?:[=;,]|\[))"
)
# for each_item(item, list) {
_FOR_MACRO = re.compile(
    rb"(?<=[;{}\s])for(?=[ \t]+" + NAME + rb"[ \t]*\((?:[^();{}]++|" + PARENTHESES + rb")*+\)\s*\{)"
)
_REMARKS = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)


class _Macros:
    """Macros that break the grammar, by their names and, where the file has them, their texts."""

    def __init__(self, text: bytes) -> None:
        self._texts: dict[bytes, list[bytes]] = {}
        self._with_comma: set[bytes] = set()
        for match in _DEFINED.finditer(text):
            name, parameters, written = match[1], match[2], _REMARKS.sub(b" ", match[3]).strip()
            self._texts.setdefault(name, []).append(written)
            if written.endswith(b",") and written.count(b",") == 1 and parameters is None and len(name) > 1:
                self._with_comma.add(name)

    def cleans_up(self, match: re.Match) -> bool:
        """Return True if what stands before a declaration is a `cleanup` attribute."""
        name = match[1]
        if name is None or self._has_cleanup(name):
            return True
        return bool(_CLEANING_NAME.fullmatch(name)) and not (name in self._texts and self._is_idle(name))

    def _has_cleanup(self, name: bytes, depth: int = 4) -> bool:
        """Return True if a text of the macro is the attribute, or begins with the name of a macro that is."""
        for text in self._texts.get(name, ()):
            first = FIRST_NAME.match(text)
            if _CLEANING_TEXT.search(text) or (first and depth and self._has_cleanup(first[0], depth - 1)):
                return True
        return False

    def without_idle(self, text: bytes) -> bytes:
        """Return the text without macros that stand for nothing, or for attributes, before an assignment."""
        return _BEFORE_ASSIGNMENT.sub(lambda match: b" " * len(match[0]) if self._is_idle(match[1]) else match[0], text)

    def _is_idle(self, name: bytes) -> bool:
        texts = self._texts.get(name)
        return bool(_ATTRIBUTE_NAME.fullmatch(name)) if texts is None else all(map(_ATTRIBUTE_TEXT.fullmatch, texts))

    def with_commas(self, text: bytes) -> bytes:
        """Return the text with a comma as the last letter of macros that stand for an argument and one."""
        named = {match[1] for match in _FIRST_AND_COMMA.finditer(text)} - self._texts.keys()
        names = self._with_comma | (named and named - {match[1] for match in _BEHIND_COMMA.finditer(text)})
        if not names:
            return text
        pattern = rb"(?<=[(,])\s*\b(?:" + b"|".join(map(re.escape, sorted(names))) + rb")(?=\s*[^\s\w,()]|\s+[\w(])"
        return re.sub(pattern, lambda match: match[0][:-1] + b",", text)


def without_misread(text: bytes) -> bytes:
    """Return the text without attributes behind stars and casts of addresses, which are read as something else.

    What is cleaned up as its scope ends is as little the function's to release as what a static variable holds; what
    each thread has of its own lasts as long as that.
    """
    macros = _Macros(text)
    text = macros.with_commas(macros.without_idle(text))
    text = _LASTING.sub(lambda match: match[1] + b"static".ljust(len(match[2])), text)
    text = _FOR_MACRO.sub(b"   ", text)
    text = _INFERRED.sub(b"Auto", text)
    text = _with_static(text, macros)
    text = _POINTER_CLEANED_UP.sub(lambda match: (b"static " + match[1] + b"*").ljust(len(match[0])), text)
    result = bytearray(text)
    for match in _INNER_MEMBER.finditer(text):
        result[slice(*match.span(1))] = re.sub(rb"\W", b"_", match[1])
    for pattern in (_BEHIND_STAR, _CAST_OF_ADDRESS, _CAST_BEFORE_BLANK, _CAST_OF_NUMBER):
        for match in pattern.finditer(text):
            blank(result, *match.span(1))
    for match in _BEFORE_TARGET.finditer(text):
        result[match.start(1)] = ord(";")
    for match in (*_ALONE_BEFORE_TARGET.finditer(text), *_BEFORE_MEMBER.finditer(text)):
        if text[max(0, match.start() - NEAR) : match.start()].rstrip()[-1:] in b";{}":
            result[match.start(1)] = ord(";")
    return bytes(result)


def _with_static(text: bytes, macros: _Macros) -> bytes:
    """Return the text with `static` in place of what says that a variable is cleaned up, or `auto` in few letters."""
    result = bytearray(text)
    for match in _CLEANED_UP.finditer(masked(text)):
        if len(match[0]) >= len(b"auto") and macros.cleans_up(match):
            lasting = b"static" if len(match[0]) >= len(b"static") else b"auto"
            result[slice(*match.span())] = lasting.ljust(len(match[0]))
    return bytes(result)
