"""Operations of interfaces in OpenAPI files: the functions that they name, and which of their parameters are numbers.

An operation is a function of the name that is its `operationId`, behind that of a controller told beside it. A further
function, `NUMBERS`, has the parameters that are numbers or truth values wherever the file tells their type. YAML and
JSON are read alike, by their keys. Source: the OpenAPI Specification, "Operation Object" and "Parameter Object", and
Connexion's page on routing.
"""

import re

from facts.file_facts import FileFacts
from facts.source_text import SourceText
from facts.template.page import Page, Span

NUMBERS = "parameters that are numbers"
_KEY = re.compile(
    rb"(?m)(?:^[ \t]*(?:-[ \t]+)?|[{,][ \t]*)[\"']?"
    rb"(?P<key>operationId|x-(?:openapi|swagger)-router-controller|name|type)[\"']?[ \t]*:[ \t]*[\"']?"
    rb"(?P<value>[A-Za-z_$][\w.$-]*)"
)
_NUMBERS = frozenset({b"integer", b"number", b"boolean"})


def extract(data: bytes) -> FileFacts:
    """Return the facts of a description of an interface."""
    return Interface(SourceText(data), "openapi").extract()


class Interface(Page):
    """A description of an interface."""

    def extract(self) -> FileFacts:
        """Return the facts of the description. A controller is told next to its operation, before or behind it."""
        marks = list(_KEY.finditer(self.source))
        self._function(NUMBERS, Span(0, 0), sorted(numeric(marks)))
        told = [mark for mark in marks if mark["key"] not in (b"name", b"type")]
        for at, mark in enumerate(told):
            if mark["key"] == b"operationId":
                name = mark["value"].decode()
                beside = told[max(at - 1, 0) : at + 2] if "." not in name else []
                controllers = {each["value"].decode() + "." for each in beside if each["key"] != b"operationId"}
                for controller in sorted(controllers or {""}):
                    self._function(controller + name, Span(*mark.span("value")), [])
        return self.finish()

    def _function(self, name: str, span: Span, parameters: list[str]) -> None:
        self.begin_macro("operation", name, parameters, span)
        self.end("operation")


def numeric(marks: list[re.Match[bytes]]) -> set[str]:
    """Return the names of parameters that are numbers or truth values wherever a type is told."""
    types: dict[bytes, set[bytes]] = {}
    name = None
    for mark in marks:
        if mark["key"] == b"name":
            name = mark["value"]
        elif mark["key"] == b"type" and name is not None:
            types.setdefault(name, set()).add(mark["value"])
            name = None
        elif mark["key"] == b"operationId":
            name = None
    return {name.decode() for name, told in types.items() if told <= _NUMBERS}
