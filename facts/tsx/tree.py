"""The grammar of TypeScript with JSX and its tables of handlers."""

from facts.javascript import tables

GRAMMAR = tables.GRAMMARS["tsx"]
STATEMENTS, EXPRESSIONS = tables.STATEMENTS["tsx"], tables.EXPRESSIONS["tsx"]
