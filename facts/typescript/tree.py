"""The grammar of TypeScript and its tables of handlers."""

from facts.javascript import tables

GRAMMAR = tables.GRAMMARS["typescript"]
STATEMENTS, EXPRESSIONS = tables.STATEMENTS["typescript"], tables.EXPRESSIONS["typescript"]
