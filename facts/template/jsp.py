"""Java Server Pages: `<%= value %>`, `<% code %>`, `<%! members %>`, `${value}`, and tags of JSTL.

Their code is Java. So the page around it is blanked out, byte by byte, a class with the implicit objects as its fields
is put before it, and the result is read by Java's extractor. Expressions in `${}` and tags are marked by empty blocks,
which are replaced by what they do. Sources: Jakarta Server Pages, Expression Language, Standard Tag Library.
"""

import re
from collections.abc import Callable

from tree_sitter import Node

from facts.file_facts import FileFacts
from facts.function_body import MODULE, Body
from facts.instructions import load_attribute
from facts.java.extract import build
from facts.java.tree import children, parse
from facts.java.unit import Unit
from facts.row_builder import tail
from facts.source_text import SourceText
from facts.template.expressions import Expressions, Grammar
from facts.template.page import ESCAPED, RAW, Span, Unreadable
from facts.template.page_places import QUOTED, TEXT, PagePlaces
from facts.tree_walk import deep_recursion

_TAG = re.compile(
    rb"<%--.*?--%>|<%(?P<kind>[@=!]?)(?P<code>.*?)%>|(?<!\\)[$#]\{(?P<el>(?:[^{}'\"]|'[^']*'|\"[^\"]*\")*)\}"
    rb"|<(?P<tag>[A-Za-z][\w-]*:[\w.-]+)(?P<attributes>(?>\"[^\"]*\"|'[^']*'|[^>\"'])*)>"
    rb"|</(?P<end>[A-Za-z][\w-]*:[\w.-]+)\s*>",
    re.DOTALL,
)
_PARAMETER = re.compile(rb"<(?:c|jsp):param\b(?P<attributes>(?>\"[^\"]*\"|'[^']*'|[^>\"'])*)>")
_INCLUDING = frozenset({b"jsp:include", b"c:import"})
_IMPORT = re.compile(rb"\bimport\s*=\s*[\"']([^\"']*)[\"']")
_FILE = re.compile(rb"\b(?:file|page)\s*=\s*[\"']([^\"']*)[\"']")
_ATTRIBUTE = re.compile(rb"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_EL = re.compile(rb"[$#]\{([^}]*)\}")
_NOT_BLANK = re.compile(rb"[^\s]")
_CLASS = (
    b"class Page{javax.servlet.http.HttpServletRequest request;javax.servlet.http.HttpServletResponse response;"
    b"javax.servlet.http.HttpSession session;javax.servlet.ServletContext application;javax.servlet.jsp.JspWriter out;"
    b"javax.servlet.jsp.PageContext pageContext;javax.servlet.ServletConfig config;Throwable exception;{"
)


def _function(expressions: Expressions, value: int, start: int) -> int | None:
    """`fn:escapeXml(x)`"""
    if expressions.peek() != ":" or expressions.kind(1) != "name" or expressions.peek(2) != "(":
        return None
    expressions.take(":")
    return expressions.page.filtered(expressions.word(), expressions.arguments(), expressions.since(start))


_GRAMMAR = Grammar(
    frozenset({"and", "or", "eq", "ne", "lt", "gt", "le", "ge", "div", "mod"}), _function, False, plus="add"
)
Step = Callable[["_Template"], None]


def extract(data: bytes) -> FileFacts:
    """Return the facts of a page."""
    text = SourceText(data)
    code = _Code(text.utf8)
    text.put_before(code.before, code.before + bytes(code.result) + b"}}")
    root = parse(text.utf8)
    with deep_recursion():
        unit = _Template(root, text, code)
        return build(unit, root)


class _Code:
    """The code of a page: `result` has it where it stands; `before` what is put before it.

    `printed` says of calls, by their place behind `before`, where in the page they print, `steps` what blocks do, and
    `within` of both which tags of libraries they stand in.
    """

    def __init__(self, page: bytes) -> None:
        self.page = page
        self.result = bytearray(_NOT_BLANK.sub(b" ", page))
        self.printed: dict[int, str] = {}
        self.steps: dict[int, Step] = {}
        self.within: dict[int, tuple[str, ...]] = {}
        self._open: list[str] = []
        self._places = PagePlaces()
        imports, at = [], 0
        last = max(page.rfind(b">"), page.rfind(b"}")) + 1
        for tag in _TAG.finditer(page, 0, last):
            self._places.text(page[at : tag.start()])
            at = tag.end()
            if tag["kind"] == b"@":
                for found in _IMPORT.finditer(tag["code"]):
                    imports += [b"import " + name.strip() + b";" for name in found[1].split(b",") if name.strip()]
            self._read(tag)
        self.before = b"".join(imports) + _CLASS

    def _read(self, tag: re.Match[bytes]) -> None:
        start, end = tag.span()
        if tag["kind"] == b"=":
            self.printed[start + 1] = self._places.place
            self.within[start + 1] = tuple(self._open)
            self._put(start, b" p(" + tag["code"])
            self._put(end - 2, b");")
        elif tag["kind"] == b"!":
            self._put(start, b" } " + tag["code"] + b" {")
        elif tag["kind"] == b"":
            self._put(tag.start("code"), tag["code"])
        elif tag["kind"] == b"@" and (file := _FILE.search(tag["code"])):
            name = file[1].decode(errors="replace")
            self._mark(start, lambda unit: unit.values.include(name, Span(start, end)))
        elif tag["el"] is not None:
            place, el = self._places.place, Span(*tag.span("el"))
            self._mark(start, lambda unit: unit.values.prints(unit.values.value(el), Span(start, end), RAW, place))
        elif tag["end"] is not None:
            self._close(tag["end"].decode())
        elif tag["tag"] is not None:
            attributes = _attributes(tag) | self._parameters(tag)
            step = _TAGS.get(tag["tag"].decode())
            if step is not None:
                self._mark(start, lambda unit: step(unit.values, attributes, Span(start, end)))
            if not tag["attributes"].endswith(b"/"):
                self._open.append(tag["tag"].decode())
        else:
            return
        self._places.printed()

    def _parameters(self, tag: re.Match[bytes]) -> dict[str, Span]:
        """Return what a tag that includes a page gives it as parameters: `param.name`."""
        end = self.page.find(b"</" + tag["tag"] + b">", tag.end())
        if tag["tag"] not in _INCLUDING or tag["attributes"].endswith(b"/") or end < 0:
            return {}
        given = (_attributes(found) for found in _PARAMETER.finditer(self.page, tag.end(), end))
        return {
            "param." + self.page[slice(*each["name"])].decode(errors="replace"): each["value"]
            for each in given
            if "name" in each and "value" in each
        }

    def _close(self, name: str) -> None:
        """End a tag, and those in it that have no end of their own."""
        if name in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(name) :]

    def _put(self, at: int, code: bytes) -> None:
        self.result[at : at + len(code)] = code

    def _mark(self, at: int, step: Step) -> None:
        self._put(at, b"{}")
        self.steps[at] = step
        self.within[at] = tuple(self._open)


def _attributes(tag: re.Match[bytes]) -> dict[str, Span]:
    """Return where the values of a tag's attributes stand."""
    start = tag.start("attributes")
    return {
        found[1].decode(): Span(*(start + place for place in found.span(2 if found[2] else 3)))
        for found in _ATTRIBUTE.finditer(tag["attributes"])
    }


class _Template(Unit):
    """The walk over a page's code."""

    def __init__(self, root: Node, text: SourceText, code: _Code) -> None:
        super().__init__(root, text)
        self._code, self._before = code, len(code.before)
        self.values = _Values(self, code.page)
        self.emit("template", MODULE)

    def statement(self, node: Node) -> None:
        """Execute a statement, print, or do what a block stands for."""
        at = node.start_byte - self._before
        self.values.within = self._code.within.get(at, ())
        if node.type == "block" and at in self._code.steps:
            self.revive()
            try:
                self._code.steps[at](self)
            except Unreadable:
                self.facts.unparsed(node.start_byte, node.end_byte)
        elif node.type == "expression_statement" and at in self._code.printed and not node.has_error:
            self.revive()
            (call,) = children(node)
            for argument in children(call.child_by_field_name("arguments")):
                self.values.prints(
                    self.value(argument), Span(at - 1, node.end_byte - self._before), RAW, self._code.printed[at]
                )
        else:
            super().statement(node)


class _Values:
    """The expressions and tags of a page, in the body at hand. `names` are those that tags bind.

    What is printed next stands in the tags `within`.
    """

    def __init__(self, unit: _Template, page: bytes) -> None:
        self._unit, self.source = unit, page
        self._before = len(unit._code.before)
        self.emit = unit.emit
        self.names: dict[str, int] = {}
        self.within: tuple[str, ...] = ()
        self.label = unit.label

    @property
    def body(self) -> Body:
        return self._unit.body

    def entity(self, label: str, span: Span) -> int:
        """Return a new entity of the body at hand that stands at the span."""
        start, end = span.start_byte + self._before, span.end_byte + self._before
        return self._unit.facts.entity(self.body.entity, tail(" ".join(label.split())), start, end)

    def read(self, name: str, span: Span) -> int:
        """Return the value of a name: bound by a tag, an imported class, or an attribute that the page is given."""
        if name in self.names:
            return self.names[name]
        if name in self._unit.names.types:
            return self._unit.names.types[name][0]
        return self.body.load_once(("attribute", name), name, "load_name", MODULE, name)

    def value(self, span: Span) -> int:
        """Evaluate an expression. Raises Unreadable."""
        expressions = Expressions(self, span, _GRAMMAR)
        value = expressions.value()
        if not expressions.ended:
            raise Unreadable
        return value

    def given(self, span: Span | None) -> int:
        """Return the value of a tag's attribute: of the expression in it, or a text."""
        if span is None:
            raise Unreadable
        found = _EL.search(self.source, span.start_byte, span.end_byte)
        if found is None:
            return self.body.load_constant("string", self.text(span))
        return self.value(Span(*found.span(1)))

    def text(self, span: Span) -> str:
        return self.source[span.start_byte : span.end_byte].decode(errors="replace")

    def call(self, callee: int, arguments: list[tuple[str, int]], span: Span) -> int:
        """Return the result of a call."""
        result = self.body.running(self.entity(self.label(callee) + "()", span))
        self.emit("call", result, self.body.entity, callee)
        for position, (_, value) in enumerate(arguments):
            self.emit("argument", result, position, value)
        return result

    def filtered(self, name: str, arguments: list[tuple[str, int]], span: Span) -> int:
        """Return what a function of a tag library gives."""
        callee = self.body.load_once(("function", name), "|" + name, "load_name", MODULE, "|" + name)
        return self.call(callee, arguments, span)

    def include(self, name: str, span: Span, parameters: dict[str, int] | None = None) -> None:
        """Print another page, which is given these parameters beside those of the request."""
        callee = self.body.load_once(("function", "include"), "include", "load_name", MODULE, "include")
        result = self.call(callee, [("", self.body.load_constant("string", name))], span)
        for parameter, value in (parameters or {}).items():
            self.emit("keyword_argument", result, parameter, value)

    def prints(self, value: int, span: Span, how: str, place: str) -> None:
        """Print a value at a place in the page."""
        print_ = self.body.running(self.entity("print " + self.label(value), span))
        self.emit("prints", print_, value, how)
        if place not in (TEXT, QUOTED):
            self.emit("printed_in", print_, place)
        for tag in dict.fromkeys(self.within):
            self.emit("printed_within", print_, tag)


def _out(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    """`<c:out value="${x}" escapeXml="false"/>`"""
    raw = "escapeXml" in attributes and values.text(attributes["escapeXml"]) == "false"
    values.prints(values.given(attributes.get("value")), span, RAW if raw else ESCAPED, TEXT)


def _property(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    """`<s:property value="x.y" escapeHtml="false"/>`: an expression without a sign."""
    if "value" not in attributes:
        return
    raw = any(values.text(attributes[name]) == "false" for name in ("escape", "escapeHtml") if name in attributes)
    text = values.text(attributes["value"])
    inner = attributes["value"] if re.fullmatch(r"[\w.]+", text) else None
    if inner is not None:
        values.prints(values.value(inner), span, RAW if raw else ESCAPED, TEXT)


def _set(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    if "var" in attributes and "value" in attributes:
        values.names[values.text(attributes["var"])] = values.given(attributes["value"])


def _for_each(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    """`<c:forEach items="${xs}" var="x">`: the name is known up to the end of the page."""
    if "items" in attributes and "var" in attributes:
        iterable = values.given(attributes["items"])
        item = values.body.running(values.entity("next " + values.label(iterable), span))
        values.emit("iterate", item, iterable)
        values.names[values.text(attributes["var"])] = item


def _get_property(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    """`<jsp:getProperty name="bean" property="name"/>`"""
    if "name" in attributes and "property" in attributes:
        bean = values.read(values.text(attributes["name"]), span)
        value = load_attribute(values, bean, values.text(attributes["property"]), span)
        values.prints(value, span, RAW, TEXT)


def _include(values: _Values, attributes: dict[str, Span], span: Span) -> None:
    """`<jsp:include page="x.jsp">`, `<c:import url="x.jsp">`"""
    page = attributes.get("page") or attributes.get("url")
    if page is None:
        return
    given = {name: each for name, each in attributes.items() if name.startswith("param.")}
    values.include(values.text(page), span, {name: values.given(each) for name, each in given.items()})


_TAGS = {
    "c:out": _out, "c:set": _set, "c:forEach": _for_each, "jsp:getProperty": _get_property, "jsp:include": _include,
    "c:import": _include, "s:property": _property,
}  # fmt: skip
