"""Grammar files, as Graspan and POCR write them.

A line is a production: its left side, then the symbols of its right side, between tabs or spaces; a left side alone
goes to ε. Graspan and POCR allow two symbols on the right, here there may be more. Lines that begin with `#` are
comments.

POCR's grammars may have titles, `Production:`, `Insert:`, `Follow:` and `Count:`, the last three above lists of symbols
with commas between them. Symbols that end in `_i` are indexed: in one production all have the same index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.cfl.grammar import INDEX, Grammar, Production, Step
from engine.language.diagnostics import Report, did_you_mean
from engine.language.syntax import Span

SECTIONS = ("Production:", "Insert:", "Follow:", "Count:")
FORMATS = ("graspan", "pocr")
SIGNS = frozenset(("->", "→", "::=", ":=", "=>", "|", ":"))
EMPTY = frozenset(("ε", "eps", "epsilon"))

Word = tuple[str, Span]


@dataclass
class Lines:
    """The words of a grammar's productions, line by line, and the symbols that `Count:` lists."""

    productions: list[list[Word]] = field(default_factory=list)
    counted: list[Word] = field(default_factory=list)


def parse_grammar(name: str, text: str, format: str | None = None) -> Grammar:
    """Return the grammar in a file's text; `format` is one of FORMATS, found out where it is None.

    POCR's format is told by its titles and by indexed symbols. Raises ProgramError with every error found.
    """
    report = Report({name: text})
    lines = read_lines(name, text, format, report)
    for words in lines.productions:
        check_production(words, report)
    productions = tuple(
        Production(head, tuple(Step(word) for word, _ in body)) for (head, _), *body in lines.productions
    )
    if not productions:
        report.error("E072", "the grammar has no productions", Span(name, 1, 1, 1, 2))
    grammar = Grammar(productions, counted=tuple(dict.fromkeys(word for word, _ in lines.counted)))
    if format != "graspan":
        indexed = frozenset(label for label in grammar.labels if label.endswith(INDEX))
        check_indices(lines.productions, report)
        grammar = Grammar(productions, indexed, grammar.counted)
    check_symbols(lines.counted, grammar, report)
    report.raise_if_errors()
    return grammar


def read_lines(name: str, text: str, format: str | None, report: Report) -> Lines:
    lines, section = Lines(), SECTIONS[0]
    for number, line in enumerate(text.split("\n"), start=1):
        words = list(words_of(name, number, line, "," if section != SECTIONS[0] else ""))
        if not words or words[0][0].startswith("#"):
            continue
        first, span = words[0]
        if format != "graspan" and len(words) == 1 and first.endswith(":") and len(first) > 1:
            section = first
            if first not in SECTIONS:
                help = did_you_mean(first, SECTIONS, f"sections are {' '.join(SECTIONS)}")
                report.error("E073", f"'{first}' is not a section of a grammar", span, help)
                section = SECTIONS[0]
        elif section == SECTIONS[0]:
            lines.productions.append(words)
        elif section == SECTIONS[-1]:
            lines.counted += words
    return lines


def words_of(name: str, number: int, line: str, separators: str) -> Iterator[Word]:
    for found in re.finditer(rf"[^\s{separators}]+", line):
        yield found[0], Span(name, number, found.start() + 1, number, found.end() + 1)


def check_production(words: Sequence[Word], report: Report) -> None:
    """Report words that are signs of other notations."""
    for word, span in words:
        if word in SIGNS:
            report.error("E070", f"'{word}' is not part of a production", span)
        elif word in EMPTY:
            help = "the empty word is a right side without symbols: write the left side alone"
            report.error("E070", f"'{word}' is not part of a production", span, help)


def check_indices(productions: Sequence[Sequence[Word]], report: Report) -> None:
    """Report left sides whose index no symbol of the right side binds."""
    for (head, span), *body in productions:
        if head.endswith(INDEX) and not any(word.endswith(INDEX) for word, _ in body):
            help = f"name a symbol that ends in '{INDEX}' on the right side, or take '{INDEX}' off the left side"
            report.error("E071", f"'{head}' is indexed, but no symbol of its right side is", span, help)


def check_symbols(named: Sequence[Word], grammar: Grammar, report: Report) -> None:
    """Report symbols that the grammar does not have."""
    known = grammar.symbols
    for word, span in named:
        if word not in known:
            help = did_you_mean(word, known, f"the symbols are {', '.join(known)}")
            report.error("E074", f"no production mentions '{word}'", span, help)
