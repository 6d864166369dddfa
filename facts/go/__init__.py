"""The Go extractor: the whole grammar of tree-sitter-go.

`parse` gives the tree, `scopes` holds what names mean, `captures` finds which variables closures share and whose
address is taken; then one walk over the tree makes the facts. The walk is split by concern; each module enters its
handlers into the tables of `tree` by node kind. `unit` holds the walk's state, `places` tells what can be stored to.
"""
