"""Macros that break the grammar: what stands for attributes, types as arguments, lists of enumerators by macros.

Every rewriting keeps the length of the text and is only tried where the text does not parse as it is. A place at which
a macro is seen is one where C without a preprocessor has no meaning for two names side by side.
"""

import re

from facts.c.conditionals import blank

_MASKED = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|(?:^|(?<=:;))[ \t]*#(?:\\\r?\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
BASIC = (
    rb"(?:int|char|void|float|double|long|short|unsigned|signed|bool|_Bool|size_t|ssize_t|u?int(?:8|16|32|64|ptr)_t)\b"
)
_STARTING = frozenset(
    b"int char void float double long short unsigned signed bool _Bool size_t ssize_t int8_t int16_t int32_t int64_t"
    b" uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t"
    b" struct union enum static extern typedef inline __inline register".split()
)
_START = rb"(?:" + b"|".join(sorted(_STARTING)) + rb")\b"
_TAGS = frozenset((b"struct", b"union", b"enum", b"goto"))
_KEYWORDS = _STARTING | frozenset(
    b"if else for while do switch case default return goto break continue sizeof const volatile restrict auto _Noreturn"
    b" _Atomic __inline__ __restrict __extension__ __attribute__ __asm__ asm __asm NULL defined".split()
)
NAME = rb"(?!(?:" + b"|".join(sorted(_KEYWORDS)) + rb")\b)[A-Za-z_]\w*"
CAPITALS = rb"[A-Z_][A-Z0-9_]*[A-Z0-9]\b"
PARENTHESES = rb"\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\)"

_STARS = rb"(?:\s*\*[\s*]*|\s+)"

# API const char *f();
_BEFORE_CONST = re.compile(
    rb"(?<![\w.>])(" + CAPITALS + rb")(?=\s+const\s+(?:" + _START + rb"|" + NAME + _STARS + rb"[\w(]))"
)
# api const int f();   api const type *f();
_WORD_BEFORE_CONST = re.compile(
    rb"(?<![\w.>])(" + NAME + rb")(?=\s+const\s+(?:" + _START + rb"|" + NAME + _STARS + NAME + rb"\s*[(=;,)\[]))"
)
# struct name FAR *p;   type const FAR *p;   struct { … } FAR name;
_BEFORE_STAR = re.compile(
    rb"(?:\bstruct\s+"
    + NAME
    + rb"|(?<![\w.>])(?=[a-z])"
    + NAME
    + rb"\s+const)\s+("
    + CAPITALS
    + rb")(?=\s*\*)|\}\s*("
    + CAPITALS
    + rb")(?=\s+"
    + NAME
    + rb"\s*;)"
)
# How far back the end of the statement before is looked for.
NEAR = 400
# Two words side by side, with what may make them three: API type f();   API type *f();   API type (*f)();
_WORDS = re.compile(
    rb"(?<![\w.>])([A-Za-z_]\w*+)\s++(?=([A-Za-z_]\w*+)(" + _STARS + rb"(?:\(\s*\*\s*)?([A-Za-z_]\w*+)|\s*\(\s*\*)?)"
)
# int API f();   char *API f();   void API (*f)();   int api f();
_AFTER_TYPE = re.compile(
    rb"\b"
    + BASIC
    + rb"(?:\s+"
    + NAME
    + rb"(?=\s*\*))?[\s*]+("
    + CAPITALS
    + rb"(?=[\s*]+"
    + NAME
    + rb"\s*[(=;,)\[]|\s*\(\s*\*\s*"
    + NAME
    + rb"\s*\)\s*\()|"
    + NAME
    + rb"(?=\s+(?!"
    + CAPITALS
    + rb")"
    + NAME
    + rb"\s*\())"
)
# type *API f;   type (API *f)();   f(type *may_alias p)   type *api f();
_BESIDE_STAR = re.compile(
    rb"(?<=\w)\s*\*\s*("
    + CAPITALS
    + rb")(?=\s+"
    + NAME
    + rb"\s*[(=;,)\[])|\(\s*("
    + CAPITALS
    + rb")(?=\s*\*\s*"
    + NAME
    + rb"\s*\)\s*\()|(?<=\w)\s*\*\s*("
    + NAME
    + rb")(?=[ \t]+"
    + NAME
    + rb"\s*[,);]|\s+(?!"
    + CAPITALS
    + rb")"
    + NAME
    + rb"\s*\()"
)
# f(int n API, char *text API)
_BEHIND_PARAMETER = re.compile(
    rb"(?:\b" + BASIC + rb"|(?<![\w.>])" + NAME + rb")" + _STARS + NAME + rb"\s+(" + CAPITALS + rb")(?=\s*[,)])"
)
# static HEAD(name, item) list;   HEAD(, item) list[2];   but not FOR(i, 16) list[i] = 0;
_LIST_TYPE = re.compile(
    rb"(?:\A|(?<=[;{}]))(?:\s|static\b|extern\b)*(?!(?:\w*_)?(?:FOR|ITER)(?:_\w*)?\b|\w*FOR_?EACH)"
    + CAPITALS
    + rb"(\s*\([^(),]*,[^()]*\))(?=[ \t]+\*?"
    + NAME
    + rb"\s*[;=,\[])"
)
# What GNU's compilers know themselves of the names with two lines on both sides: it is no macro.
_GNU = rb"__(?!(?:attribute|asm|extension|inline|restrict|typeof|volatile|const|signed|alignof|label|real|imag)__)"
_GNU_MACRO = _GNU + rb"[a-z]\w*__\b"
# _nonnull_(2) char *f();   _pure_ const char *f();   __attribute_nonnull__(2) char *f();
_LOWER_CALL = re.compile(
    rb"(?<![\w.>])((?:_[a-z]\w*_|"
    + _GNU_MACRO
    + rb")\s*"
    + PARENTHESES
    + rb")(?=\s*(?:const\b|"
    + _START
    + rb"|"
    + NAME
    + rb"))"
)
# __attribute_pure__ name *f();   f(__attribute_unused__ int n)
_GNU_NAME = re.compile(rb"(?<![\w.>])(" + _GNU_MACRO + rb")(?=\s+(?:const\b|" + _START + rb"|" + NAME + rb"))")
# int f() __attribute_pure__;
_GNU_BEHIND = re.compile(
    rb"(?:(?<=\))\s*|(?<=\w)(?<!\breturn)(?<!\bgoto)\s+)("
    + _GNU_MACRO
    + rb"(?:\s*"
    + PARENTHESES
    + rb")?+)(?=\s*(?:[;,){]|"
    + _GNU_MACRO
    + rb"))"
)
# n++; __attribute_fallthrough__ case 2:
_GNU_STATEMENT = re.compile(rb"(?<=[;{}])\s*(" + _GNU_MACRO + rb")(?=\s*(?:\}|case\b|default\b))")
_LOWER_NAME = re.compile(rb"(?<![\w.>])(_[a-z]\w*[a-z0-9]_)(?=\s+(?:const\b|" + _START + rb"))")
# int API(1) f();   API API(1) void *f();
_CALL_BEFORE_NAME = re.compile(
    rb"(?<=[\w*])\s+(" + CAPITALS + rb"\s*" + PARENTHESES + rb")(?=[\s*]*" + NAME + rb"\s*\()"
)
_CALL_BEFORE_TYPE = re.compile(rb"(?<=[A-Z])\s+(" + CAPITALS + rb"\s*" + PARENTHESES + rb")(?=\s+" + _START + rb")")
# void like_printf(1, 2) f();   void f(char *, ...) like_printf(1, 2);
_NUMBERS = rb"[a-z_]\w*\s*\(\s*\d+\s*(?:,\s*\d+\s*)*+\)"
_NUMBERED = re.compile(
    rb"(?<=[\w*])(?<!\breturn)(?<!\bcase)(?<!\belse)(?<!\bdo)\s+(" + _NUMBERS + rb")(?=[\s*]+" + NAME + rb"\s*\()"
)
_NUMBERED_BEHIND = re.compile(rb"\.\.\.\s*\)\s*(" + _NUMBERS + rb")(?=\s*[;{])")
# int f() API;   int f() API(1, 2);   int f() API(1, 2) API;   A = 1 API(1),
_BEHIND = re.compile(
    rb"\)\s*("
    + CAPITALS
    + rb"(?:\s*"
    + PARENTHESES
    + rb")?(?:\s*+"
    + CAPITALS
    + rb"(?:\s*"
    + PARENTHESES
    + rb")?+(?=\s*;))?+)(?=\s*(?:;|\{|"
    + CAPITALS
    + rb"))"
)
_BEHIND_NAME = re.compile(
    rb"(?<=[\w\]])(?<!\breturn)(?<!\bcase)(?<!\belse)(?<!\bdo)\s+("
    + CAPITALS
    + rb"\s*"
    + PARENTHESES
    + rb")(?=\s*[,=};])"
)
# ONLY_SOMETIMES(int x = 1);
_WRAPPED = re.compile(
    rb"(?<![\w.>])("
    + CAPITALS
    + rb"\s*\()\s*(?:const\s+)?(?:(?:struct|unsigned)\s+)?(?:"
    + BASIC
    + rb"|"
    + NAME
    + rb")"
    + _STARS
    + NAME
    + rb"\s*(?:=(?!=)[^;{}]*|\[[^;{}]*\])?(\))(?=\s*;)"
)
# (local char *)p   (const char FAR *)p: two words, one of which is a macro
_QUALIFIED_CAST = re.compile(rb"\(\s*(?:(?:const|volatile|unsigned|signed)\s+)*(\w+)\s+(\w+)\s*\*[\s*]*\)")
# f(type FAR * FAR *p)
_TWICE = re.compile(
    rb"(?<=\w)(?<!\breturn)(?<!\bcase)(?<!\belse)\s+(" + CAPITALS + rb")\s*\*\s*(\1)(?=\s*\*+\s*" + NAME + rb"\s*[,)])"
)
# if(__builtin_available(macOS 10.12, *))
_AVAILABLE = re.compile(rb"\b__builtin_available\s*\(([^()]*)\)")
# MACRO(x) as a whole line, before a statement
_UNFINISHED = re.compile(
    rb"^[ \t]+" + CAPITALS + rb"\s*" + PARENTHESES + rb"(?:[ \t]*\r?\n)+(?=([ \t])[ \t]*[A-Za-z_])", re.MULTILINE
)
# MACRO as a whole line, behind a statement; among declarations one that begins or ends them, or the last of a file
_ALONE = re.compile(
    rb"^(?:[ \t]+("
    + CAPITALS
    + rb"|__[a-z_]+__)[ \t]*\r?$|([A-Z0-9_]*(?<![A-Z0-9])(?:BEGIN|END)(?![A-Z0-9])[A-Z0-9_]*)[ \t]*\r?$|("
    + CAPITALS
    + rb")\s*\Z)",
    re.MULTILINE,
)
# MACRO(x) as a whole line at the top level, which is no type of a function and no head of a block
_DECLARING = re.compile(
    rb"^" + CAPITALS + rb"\s*" + PARENTHESES + rb"[ \t]*(?:;|\r?$)(?!\s*(?:\{|[a-z_]\w*\s*\())", re.MULTILINE
)
# f(MACRO(x) "text")   f("text" MACRO(x) "text")
_BEFORE_TEXT = re.compile(rb"(?<=[(,\"])\s*(" + CAPITALS + rb"\s*" + PARENTHESES + rb")(?=\s*\")")
# f(ONE OTHER "text")   f("text" ONE OTHER "text")   f(ONE OTHER)
_NAMES_OF_TEXTS = re.compile(
    rb"(?:(?<=[(,=?:\"])\s*"
    + CAPITALS
    + rb"((?:\s+"
    + CAPITALS
    + rb")+)(?=\s*\"))|(?:(?<=[(,=?\"])\s*"
    + CAPITALS
    + rb"((?:\s+"
    + CAPITALS
    + rb")+)(?=\s*[,);}]))"
)
# EACH(a, b, <)   CHECK(p, return -1);   CHECK(p, return -1;);
_CODE = rb"(?:[<>!=]=?\s*\)|(?:return|goto|break|continue)\b)"
_CODE_AS_ARGUMENT = re.compile(
    rb"(?<![\w.])\w+\s*\((?:[^(),;{}]++|" + PARENTHESES + rb"|,(?!\s*" + _CODE + rb"))*+"
    rb"(,(?=\s*" + _CODE + rb")(?:[^(){},]++|" + PARENTHESES + rb")*+)\)"
)
# { {1, 2}, ENTRIES {3, 4} }: a macro that ends with a comma
_ENTRY_AND_COMMA = re.compile(rb"(?:,|=\s*\{)\s*" + CAPITALS + rb"(?=\s*\{)")
# { HEAD(a) 0, 1 }
_CALL_AND_COMMA = re.compile(rb"(?:,|=\s*\{)\s*[A-Z]\w*[A-Z0-9]\s*" + PARENTHESES + rb"(\s)(?=\s*[\d{])")
# check(a, ==, b)
_OPERATOR = re.compile(rb"(?<=,)\s*([<>]=?|[!=]=)(?=\s*,)")
# MAKE(.a = 1, .b = 2)
_NAMED_MEMBERS = re.compile(rb"(?<![\w.>])[A-Za-z_]\w++(?<=\w\w\w)(?=\(\s*\.\w+\s*=[^=])")
_ARGUMENTS = re.compile(PARENTHESES)
# int f OF((int n));   as compilers before C89 needed it
_PROTOTYPE = re.compile(
    rb"(?<=\w)(?<!\breturn)(?<!\bcase)(?<!\belse)(?<!\bdo)\s+("
    + CAPITALS
    + rb"\s*\()\s*"
    + PARENTHESES
    + rb"\s*(\))(?=\s*[;,])"
)
# unsigned int member:1; in a file that is included within a structure
_WIDTH = re.compile(rb"^[ \t]*(?:[A-Za-z_]\w*+[ \t]+){1,3}[A-Za-z_]\w*+[ \t]*(:[ \t]*\d+)(?=[ \t]*;)", re.MULTILINE)
_STATEMENT_ENDS = (b";", b"{", b"}", b":")
_CALL_END = re.compile(rb"[;{}:)]\s*" + NAME + rb"\s*" + PARENTHESES + rb"\Z")
_ENUM = re.compile(rb"\benum\b[^;{}()]*\{[^{}]*\}")
_ENTRY = re.compile(rb"(?<=[{,])(\s*" + NAME + rb"\s*\(\s*)(" + NAME + rb")(\s*(?:,(?:[^()]++|\([^()]*+\))*+)?\))")
_EMPTY_ARGUMENT = re.compile(rb"(?<=[^{]),(?=\s*[,)])")
_VARIABLE_ARGUMENT = re.compile(rb"\bva_arg\s*\((?:[^,()]++|" + PARENTHESES + rb")*+,\s*([^()]+?)\s*\)")


# What the first group matches gives no facts.
_BLANKED = (
    _CALL_BEFORE_NAME,
    _CALL_BEFORE_TYPE,
    _BEHIND_NAME,
    _BEFORE_TEXT,
    _BEHIND_PARAMETER,
    _LIST_TYPE,
    _LOWER_CALL,
    _LOWER_NAME,
    _GNU_NAME,
    _GNU_BEHIND,
    _GNU_STATEMENT,
    _NUMBERED,
    _NUMBERED_BEHIND,
    _CODE_AS_ARGUMENT,
)
# #define ONE ONE, between enumerators
_DEFINITION = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*", re.MULTILINE)


def masked(text: bytes) -> bytes:
    """Return the text with comments and directives blanked, and strings without what they hold."""
    return _MASKED.sub(_mask, text)


def _mask(match: re.Match) -> bytes:
    found = match[0]
    return b'"' * len(found) if found[:1] in (b'"', b"'") else re.sub(rb"[^\n]", b" ", found)


FIRST_NAME = re.compile(rb"[A-Za-z_]\w*")


def without_attributes(text: bytes) -> bytes:
    """Return the text with macros blanked that stand where attributes do."""
    result = bytearray(text)
    mask = bytearray(masked(text))
    _make_arguments(result, bytes(mask))
    for start, end in (*_of_prototypes(bytes(mask)), *_outer_widths(bytes(mask))):
        blank(result, start, end)
        blank(mask, start, end)
    for start, end in (*_definitions_in_enums(text, bytes(mask)), *_spans(bytes(mask))):
        blank(result, start, end)
        blank(mask, start, end)
    for match in _UNFINISHED.finditer(mask):
        if mask[max(0, match.start() - NEAR) : match.start()].rstrip()[-1:] in b";{}:)":
            result[match.start(1)] = ord(";")
    for _ in range(4):
        spans = [*_adjacent(bytes(mask))]
        for start, end in spans:
            blank(result, start, end)
            blank(mask, start, end)
        if not spans:
            break
    return bytes(result)


def _make_arguments(result: bytearray, mask: bytes) -> None:
    """Put commas behind macros that bring one along, names for operators, and literals for lists of members."""
    for match in _ENTRY_AND_COMMA.finditer(mask):
        result[match.end() - 1] = ord(",")
    for match in _CALL_AND_COMMA.finditer(mask):
        result[match.start(1)] = ord(",")
    for match in _OPERATOR.finditer(mask):
        result[slice(*match.span(1))] = b"_" * len(match[1])
    for match in _NAMED_MEMBERS.finditer(mask):
        arguments = _ARGUMENTS.match(mask, match.end())
        if arguments:
            result[match.start()], result[match.end() - 1], result[match.end()] = b"(){"
            result[arguments.end() - 1] = ord("}")


def _of_prototypes(mask: bytes):
    """Yield the spans of macros around the parameters of a prototype."""
    for match in _PROTOTYPE.finditer(mask):
        yield match.span(1)
        yield match.span(2)


def _outer_widths(mask: bytes):
    """Yield the spans of widths that members have outside of all braces."""
    depth, position = 0, 0
    for match in _WIDTH.finditer(mask):
        depth += mask.count(b"{", position, match.start(1)) - mask.count(b"}", position, match.start(1))
        position = match.start(1)
        if depth <= 0:
            yield match.span(1)


def _definitions_in_enums(text: bytes, mask: bytes):
    """Yield the spans of macros that are defined between enumerators, where the grammar takes none."""
    for region in _ENUM.finditer(mask):
        yield from (match.span() for match in _DEFINITION.finditer(text, *region.span()))


def names_alone(mask: bytes):
    """Yield the spans of macros without arguments that are all of a line, where no statement goes on."""
    last = -1
    for match in _ALONE.finditer(mask):
        before = mask[max(0, last, match.start() - NEAR) : match.start()].rstrip()
        if before[-1:] in _STATEMENT_ENDS or not before:
            last = match.end()
            yield match.span(match.lastindex)


def declaring(mask: bytes):
    """Yield the spans of macros with arguments that stand where a declaration does, at the top level."""
    for match in _DECLARING.finditer(mask):
        if mask[max(0, match.start() - NEAR) : match.start()].rstrip()[-1:] in b";})":
            yield match.span()


def end_of_call(mask: bytes, position: int, beside: bool = False) -> int | None:
    """Return where `name(…)`, a statement on lines of its own, ends before a position; None if there is none.

    Beside what begins at the position, it may be on the same line: `TIMES(i, 8) to[i] = from[i];`.
    """
    before = mask[max(0, position - NEAR) : position]
    call = before.rstrip()
    apart = beside and call != before and FIRST_NAME.match(mask, position)
    if not (apart or b"\n" in before[len(call) :]) or not _CALL_END.search(call):
        return None
    return position - len(before) + len(call)


def _spans(mask: bytes):
    """Yield the spans of macros with arguments, entries of enumerations but for their name, and empty arguments."""
    for region in _ENUM.finditer(mask):
        for entry in _ENTRY.finditer(mask, *region.span()):
            yield entry.span(1)
            yield entry.span(3)
    yield from (match.span() for match in _EMPTY_ARGUMENT.finditer(mask))
    for pattern in (_BEFORE_STAR, _BESIDE_STAR, _NAMES_OF_TEXTS):
        yield from (match.span(match.lastindex) for match in pattern.finditer(mask))
    for pattern in _BLANKED:
        yield from (match.span(1) for match in pattern.finditer(mask))
    yield from (match.span(1) for match in _AVAILABLE.finditer(mask))
    yield from (match.span(2) for match in _TWICE.finditer(mask))
    yield from (span for match in _QUALIFIED_CAST.finditer(mask) if (span := _macro_of_cast(match)))
    for match in _WRAPPED.finditer(mask):
        yield match.span(1)
        yield match.span(2)
    depth, position = 0, 0
    for match in _BEHIND.finditer(mask):
        depth += mask.count(b"{", position, match.start(1)) - mask.count(b"}", position, match.start(1))
        position = match.start(1)
        if depth > 0 and _LINE_OF_MACRO.fullmatch(mask, mask.rfind(b"\n", 0, match.start()) + 1, match.start(1)):
            continue
        if depth <= 0 or mask[match.end() : match.end() + 4].strip()[:1] == b"":
            yield match.span(1)


def _macro_of_cast(match: re.Match) -> tuple[int, int] | None:
    """Return the span of the word that is no part of the type to which a cast leads; None if both are."""
    first, second = match[1], match[2]
    if first in _TAGS or first in _QUALIFIERS or second in _QUALIFIERS:
        return None
    if first in _KEYWORDS:
        return match.span(2) if second not in _KEYWORDS and second.isupper() else None
    return match.span(2 if second not in _KEYWORDS and _is_second(first, second) else 1)


_QUALIFIERS = frozenset((b"const", b"volatile", b"restrict", b"_Atomic"))
# MACRO(x) as a whole line: a statement, behind which another one begins
_LINE_OF_MACRO = re.compile(rb"[ \t]*" + CAPITALS + rb"\s*" + PARENTHESES + rb"[ \t]*\r?\n\s*")


def _adjacent(mask: bytes):
    """Yield the spans of names that stand before a type, or between a type and a name."""
    for pattern in (_BEFORE_CONST, _WORD_BEFORE_CONST, _AFTER_TYPE):
        yield from (match.span(1) for match in pattern.finditer(mask))
    yield from (match.span(match.lastindex) for match in _BESIDE_STAR.finditer(mask))
    tag_ends = -1
    for match in _WORDS.finditer(mask):
        first, second, third = match[1], match[2], match[4]
        if first not in _KEYWORDS:
            if second in _STARTING:
                yield match.span(1)
            elif match[3] and not {second, third} & _KEYWORDS and match.start() != tag_ends:
                yield match.span(2 if _is_second(first, second) else 1)
        tag_ends = match.end() if first in _TAGS else -1


def _is_second(first: bytes, second: bytes) -> bool:
    """Return True if the second of three names in a row is the macro: the first one may be the type."""
    if not second.isupper():
        return False
    return not first.isupper() or first.endswith(b"_T")


def type_arguments(text: bytes, errors: list[int]) -> dict[int, int]:
    """Return the spans of types that stand as arguments: of `va_arg`, and where an error says that one does."""
    spans = {match.start(1): match.end(1) for match in _VARIABLE_ARGUMENT.finditer(text)} if b"va_arg" in text else {}
    for position in errors:
        start = max(text.rfind(b"(", 0, position), text.rfind(b",", 0, position)) + 1
        match = _TYPE_ARGUMENT.match(text, start)
        if match is not None and match.start(1) <= position <= match.end(1) and start > 0:
            spans[match.start(1)] = match.end(1)
    return spans


_TYPE_ARGUMENT = re.compile(
    rb"\s*((?:(?:const|struct|union|enum|unsigned|signed|long|short)\s+)*\w+(?:\s+const)?[\s*]*?)(?=\s*[,)])"
)


def named(text: bytes, spans: dict[int, int]) -> bytes:
    """Return the text with a name in place of every type among the arguments."""
    result = bytearray(text)
    for start, end in spans.items():
        result[start:end] = b"_" + re.sub(rb"\W", b"_", result[start + 1 : end])
    return bytes(result)
