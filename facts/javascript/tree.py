"""The grammar of JavaScript and its tables of handlers."""

from facts.javascript import tables

GRAMMAR = tables.GRAMMARS["javascript"]
STATEMENTS, EXPRESSIONS = tables.STATEMENTS["javascript"], tables.EXPRESSIONS["javascript"]
