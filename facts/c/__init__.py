"""The C extractor: the whole grammar of tree-sitter-c, and what its preprocessor leaves to it.

`parse` finds a text that parses, byte for byte in the file's places; `scopes` finds out what names mean; then one
walk over the tree makes the facts. The walk is split by concern; each module enters its handlers into the tables of
`tree` by node kind. `unit` holds the walk's state, `places` tells what can be stored to, `macros` reads the text of
macros.
"""
