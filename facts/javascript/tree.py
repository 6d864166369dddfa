"""The grammar of JavaScript and its tables of handlers."""

from facts.javascript import handler_tables

GRAMMAR = handler_tables.GRAMMARS["javascript"]
STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS["javascript"], handler_tables.EXPRESSIONS["javascript"]
