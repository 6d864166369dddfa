"""The extractor of JavaScript, TypeScript and TSX: the whole grammars of tree-sitter-javascript and -typescript.

`extract` parses, `declared_names` finds out what every scope declares, then one walk over the tree makes the facts. The
walk is split by concern; each module enters its handlers into the tables of `tree` by node kind, in all grammars that
have it. `unit` holds the walk's state. The packages of the dialects name their class of it.
"""
