"""The grammar of TypeScript and its tables of handlers."""

from facts.javascript import handler_tables

GRAMMAR = handler_tables.GRAMMARS["typescript"]
STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS["typescript"], handler_tables.EXPRESSIONS["typescript"]
