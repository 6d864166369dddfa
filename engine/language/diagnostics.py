"""Diagnostics: a code, a place, a message and help, rendered with the source line and a caret.

The codes are listed in CODES and explained in `docs/errors.md`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.language.syntax import Span

CODES = {
    # Reading
    "E001": "syntax error",
    "E002": "malformed literal or comment",
    "E003": "number out of range",
    "E004": "missing or circular include",
    "E005": "feature of Soufflé that is not supported",
    "E006": "directive not allowed in an untrusted source",
    "E007": "clause nested too deeply, or of too many alternatives",
    # Names and shapes
    "E010": "undeclared relation",
    "E011": "name declared twice",
    "E012": "wrong number of arguments",
    "E013": "attribute or field declared twice",
    "E014": "variable not bound",
    "E015": "`_` where a value is needed",
    "E016": "fact that is not constant",
    "E017": "variable bound inside an aggregate used outside it",
    "E018": "aggregates that depend on each other",
    "E019": "counter in a recursive rule or an aggregate",
    # Types
    "E020": "undeclared type",
    "E021": "type declared twice",
    "E022": "type defined by itself",
    "E023": "invalid base or member type",
    "E024": "argument not of the declared type",
    "E025": "contradictory types",
    "E026": "constant of the wrong type",
    "E027": "functor applied to the wrong types",
    "E028": "record of unknown type or wrong length",
    "E029": "unknown, ambiguous or ill-formed branch",
    # Strata
    "E030": "negation in a cycle",
    "E031": "aggregate in a cycle",
    # Components
    "E040": "undeclared component",
    "E041": "wrong component parameters",
    "E042": "component that contains itself",
    "E043": "override of a relation that is not overridable",
    # Qualifiers and hints
    "E050": "malformed equivalence relation",
    "E051": "unknown key in a choice domain",
    "E052": "plan that does not fit its rule",
    "E053": "malformed directive",
    "E054": "relation that cannot be inlined",
    # Aggregates in heads
    "E060": "misplaced or incomplete aggregate in a head",
    "E061": "inconsistent aggregates of a relation",
    "E062": "recursion through an aggregate that is not premappable",
    "E063": "recursive sum of values that may be negative",
    # Grammars
    "E070": "malformed production",
    "E071": "unbound index",
    "E072": "grammar without productions",
    "E073": "unknown section of a grammar",
    "E074": "unknown symbol of a grammar",
    # Modules
    "E080": "relation private to another module",
    "E081": "relation of a module that is not imported",
    "E082": "rule for a relation that takes none of other modules",
    "E083": "unknown or unused import",
}

HELP = {
    "E001": "check this line and the end of the preceding clause",
    "E003": "use a constant in range, or numbers of 64 bits (--number-width 64)",
    "E004": "give a path beside the including file, included once",
    "E005": "see docs/datalog.md for unsupported features",
    "E006": "remove the directive, or mark the source as trusted",
    "E007": "move parts of it to relations of their own",
    "E010": "declare it with '.decl'",
    "E011": "choose another name",
    "E012": "see docs/datalog.md for its arguments",
    "E013": "give one of them another name",
    "E016": "give a constant",
    "E020": "declare it with '.type'",
    "E021": "choose another name",
    "E022": "define it by other types; a record may hold itself",
    "E023": "mix kinds by an algebraic type, 'A { x: number } | B { y: symbol }'",
    "E024": "convert the value with 'as(…)', or widen the declared type",
    "E025": "convert one side with 'to_number', 'to_string' or 'as(…)'",
    "E026": "write a constant of the expected type",
    "E027": "convert the arguments, or see docs/datalog.md for the functor's arguments",
    "E028": "give the fields of the declared record type, or say which it is by 'as(…)'",
    "E029": "declare the branch in one type, and give it all its fields",
    "E040": "declare it with '.comp'",
    "E041": "give one type for each parameter",
    "E042": "break the cycle between the components",
    "E043": "declare the relation 'overridable' in the base component",
    "E050": "give the relation two attributes of one type",
    "E051": "name attributes of the relation",
    "E054": "remove the qualifier 'inline' from one of them",
    "E060": "see docs/datalog.md for aggregates in heads",
    "E070": "write the left side, then the symbols of the right side, separated by tabs; one alternative a line",
    "E072": "write productions, one a line: the left side, then the symbols of the right side",
}
"""Help for errors that give none of their own."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error. `line_text` is the source line that `span` begins on."""

    code: str
    message: str
    span: Span
    help: str = ""
    line_text: str = ""

    def render(self) -> str:
        """Return the text shown to users: message, place, source line with a caret under the span, help."""
        span = self.span
        lines = [f"error[{self.code}]: {self.message}"]
        if span.line:
            lines.append(f"  --> {span.source}:{span.line}:{span.column}")
        if self.line_text:
            gutter = f"{span.line} | "
            lines += [gutter + self.line_text, " " * (len(gutter) - 2) + "| " + self._carets()]
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)

    def _carets(self) -> str:
        span = self.span
        end = span.end_column if span.end_line == span.line else len(self.line_text) + 1
        # Tabs are kept so that the caret stands under its text whatever their width.
        indent = "".join("\t" if c == "\t" else " " for c in self.line_text[: span.column - 1])
        return indent + "^" * max(1, end - span.column)


class ProgramError(Exception):
    """A program is wrong: `diagnostics` holds every error found, in source order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        return "\n\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class Report:
    """Collects diagnostics; `texts` are the sources by name, for the lines shown."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._lines = {name: text.split("\n") for name, text in texts.items()}
        self._found: dict[Diagnostic, None] = {}

    def add_source(self, name: str, text: str) -> None:
        self._lines[name] = text.split("\n")

    def merge(self, other: Report) -> None:
        for found in other._found:
            self.error(found.code, found.message, found.span, found.help)

    def error(self, code: str, message: str, span: Span, help: str = "") -> None:
        """Record a diagnostic, with the code's help if it has none; the same one twice is kept once."""
        assert code in CODES, code
        lines = self._lines.get(span.source, [])
        text = lines[span.line - 1].rstrip("\r") if 0 < span.line <= len(lines) else ""
        self._found[Diagnostic(code, message, span, help or HELP.get(code, ""), text)] = None

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Everything recorded, in source order."""
        key = {name: position for position, name in enumerate(self._lines)}
        return sorted(
            self._found,
            key=lambda d: (key.get(d.span.source, -1), d.span.line, d.span.column, d.code),
        )

    @property
    def has_errors(self) -> bool:
        return bool(self._found)

    def has(self, code: str) -> bool:
        return any(diagnostic.code == code for diagnostic in self._found)

    def raise_if_errors(self) -> None:
        if self.has_errors:
            raise ProgramError(self.diagnostics)


def plural(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return help that names the nearest of the known names, or `otherwise` when none is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else otherwise
