"""Parses files, and mends what a grammar does not know, without moving anything.

What is put in place is as long as what it stands for, and texts are read from the file itself: only kinds of nodes come
from the mended text. Files that parse are left alone.
"""

import re

from tree_sitter import Node, Parser

from facts.javascript.handler_tables import GRAMMARS
from facts.tree_sitter_grammar import n_error_bytes

# Reserved words as names of attributes, in JSX: <label class="a" for="b">, <Route default />. The grammar of TSX takes
# them.
_ATTRIBUTE = re.compile(
    rb"(?<=\s)(?:class|for|default|in|if|else|new|this|import|export|var|function|return|with|typeof|delete|super)(?==[\"'{])"
    rb"|(?<=\s)default(?=\s*/>)"
)
# An ampersand in what may be text between tags and braces, which begins no character reference: <p>Q & A</p>, or two.
_BETWEEN_TAGS = re.compile(rb"(?<=[>}])[^<>{}&]*&[^<>{}]*(?=[<{])")
# And in texts of attributes: <a href="/books?shop=1&order=title">.
_IN_ATTRIBUTE = re.compile(rb"(?<=[\w-]=)(?:\"[^\"\n]*&[^\"\n]*\"|'[^'\n]*&[^'\n]*')")
_TEXTS = frozenset({"jsx_text", "string_fragment", "string"})
# A method bound to its object, as Babel may read it: onClick={::this.show}.
_BOUND_METHOD = re.compile(rb"(?<=[=(\[{,:?&|\s])::(?=[A-Za-z_$])")
_AMPERSAND = re.compile(rb"&(?!=|#?\w+;)")
_TYPE_STAR = re.compile(rb"(?<=\bexport)(\s+)type(?=\s+\*)")
# Words that the grammar wants elsewhere, as names of members: `in?: string`, `in: "header" | "query"`.
_MEMBER = re.compile(rb"(?m)(?<=^[ \t])([ \t]*)(in|abstract)(?=\??:)")
_VARIANCE = re.compile(rb"(?<=[<,])(\s*)(?:in\s+out|in|out)(?=\s+[A-Z])")
# Types of modules: `await f<typeof import("x")>()`, `import("x").T<U>`, `import("x").T[]`.
_MODULE = rb"import\(\s*(?:\"[^\"\n]*\"|'[^'\n]*')\s*\)"
_MODULE_TYPE = re.compile(rb"(?<=\btypeof )" + _MODULE + rb"|\b" + _MODULE + rb"(?=\.[\w.]+(?:[<>]|\[\]))")
# Types that a tag is given, behind `await` or a call: await query<User[]>`SELECT 1`, styled(Button) <Props>`top: 0`.
_TAG_TYPES = re.compile(rb"(?:(?<=[\w$)])|(?<=\) ))<[^<>`()]+(?:<[^<>`()]*>[^<>`()]*)*>(?=[ \t]*`)")
# A word for a type as the name of a parameter: `(string) => void`.
_PARAMETER = re.compile(rb"(?<=\()(?:string|number|boolean|object|symbol|any|unknown|never)(?=\)\s*=>)")
# `as` as the name of a property that a constructor's parameter makes: `private readonly as: Service`.
_PROPERTY = re.compile(rb"(\b(?:private|public|protected|readonly)[ \t]+)as(?=\??:)")
# A line that begins a call signature, `<T>(a: T): B`.
_SIGNATURE = re.compile(rb"\n[ \t]*[ \t](?=<[\s\w])")
_REMARKS = (b"//", b"/*", b"*")
_OPEN_ENDS = frozenset({b"", b"(", b"{", b"[", b",", b";", b"<", b"=", b"&", b"|", b"?", b":"})
_ANNOTATED = re.compile(
    rb"@flow\b|\b(?:import|export)\s+(?:type\b|\{\s*type\b)|[\w})\]]\??\)?\s*:\s*\??(?:string|number|boolean|any|void|mixed|[A-Z]\w*)\b|\w<[A-Z]\w*>\("
)


def _blank(match: re.Match) -> bytes:
    """Return spaces for the words; line ends stay."""
    return re.sub(rb"\S", b" ", match[0])


def _name(match: re.Match) -> bytes:
    """Return a name as long as the text."""
    return b"x" * len(match[0])


def _untyped(match: re.Match) -> bytes:
    """Return the first group, and spaces for the type behind it."""
    return match[1] + b" " * len(match[2])


# Flow writes and TypeScript does not: `?T`, `<*>`, `{| a: T |}`, `+a: T`, `opaque type`, `(x: any)`; and then, if
# errors are left, `{ ...T, a: U }`.
_FLOW = (
    (re.compile(rb"(?<=[:<|(,=])(\s*)\?(?=[\w({\[*])"), _blank),
    (re.compile(rb"(?<=[<,])\*(?=[,>])"), b"_"),
    (re.compile(rb"(?<=\{)\|(?!\|)|(?<!\|)\|(?=\})"), b" "),
    (re.compile(rb"(?<=[{,;\n])([ \t]*)[+-](?=\w+\??\s*:)"), _blank),
    (re.compile(rb"\bopaque(?=\s+type\b)"), _blank),
    (re.compile(rb"(?<=\()([\w.]+)(\s*:\s*[\w.]+)(?=\)[\s;,).\[])(?!\)\s*(?:=>|\{|:))"), _untyped),
)
_SPREAD_TYPES = ((re.compile(rb"\.\.\.\$?[A-Z][\w.]*(?:<[^<>\n]*>)?[ \t]*(?:,|(?=\s*\}))"), _blank),)


def parse(language: str, text: bytes) -> Node:
    """Return the root of the tree of a file."""
    parser = GRAMMARS[language].parser
    root = parser.parse(text).root_node
    if not root.has_error:
        return root
    mended = _without_ampersands(text, parser)
    if language == "javascript":
        mended = _BOUND_METHOD.sub(_blank, mended)
        mended = _ATTRIBUTE.sub(_name, mended)
    else:
        mended = _VARIANCE.sub(_blank, _TYPE_STAR.sub(_blank, mended))
        mended = _TAG_TYPES.sub(_blank, _MODULE_TYPE.sub(_name, mended))
        mended = _PROPERTY.sub(rb"\1xx", _PARAMETER.sub(_name, mended))
        mended = _MEMBER.sub(lambda match: match[1] + b"x" * len(match[2]), mended)
    if language == "typescript":
        mended = _with_ends(mended)
    return root if mended == text else parser.parse(mended).root_node


def parse_annotated(text: bytes, root: Node) -> Node | None:
    """Return the root of a JavaScript file's tree in TypeScript, None if `root`, which it has, is at least as good."""
    if not root.has_error or not _ANNOTATED.search(text):
        return None
    best = root
    for mends in (_FLOW, _SPREAD_TYPES):
        for pattern, replacement in mends:
            text = pattern.sub(replacement, text)
        typed = parse("tsx", text)
        best = typed if n_error_bytes(typed) < n_error_bytes(best) else best
        if not best.has_error:
            break
    return None if best is root else best


def _with_ends(text: bytes) -> bytes:
    """Return the text with a semicolon before each call signature that is behind a member without one."""
    ended = bytearray(text)
    for match in _SIGNATURE.finditer(text):
        if _line_before(text, match.start())[-1:] not in _OPEN_ENDS:
            ended[match.end() - 1 : match.end()] = b";"
    return bytes(ended)


def _line_before(text: bytes, end: int) -> bytes:
    """Return the last line before a place that is neither blank nor a remark."""
    line = b""
    while end > 0 and (not line or line.startswith(_REMARKS)):
        start = text.rfind(b"\n", 0, end) + 1
        line, end = text[start:end].strip(), start - 1
    return line


def _without_ampersands(text: bytes, parser: Parser) -> bytes:
    """Return the text with `|` for ampersands that are text in JSX: as operators, both make trees of one shape."""
    gaps = (gap.span() for form in (_BETWEEN_TAGS, _IN_ATTRIBUTE) for gap in form.finditer(text))
    places = [ampersand.start() for gap in gaps for ampersand in _AMPERSAND.finditer(text, *gap)]
    if not places:
        return text
    root = parser.parse(_with_bars(text, places)).root_node
    return _with_bars(text, [at for at in places if root.descendant_for_byte_range(at, at + 1).type in _TEXTS])


def _with_bars(text: bytes, places: list[int]) -> bytes:
    changed = bytearray(text)
    for at in places:
        changed[at : at + 1] = b"|"
    return bytes(changed)
