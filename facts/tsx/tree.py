"""The grammar of TypeScript with JSX and its tables of handlers."""

from facts.javascript import handler_tables

GRAMMAR = handler_tables.GRAMMARS["tsx"]
STATEMENTS, EXPRESSIONS = handler_tables.STATEMENTS["tsx"], handler_tables.EXPRESSIONS["tsx"]
