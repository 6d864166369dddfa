"""The Python extractor: the whole grammar of tree-sitter-python.

`extract` parses, `scopes` finds out what every name means, then one walk over the tree makes the facts. The walk is
split by concern; each module enters its handlers into the tables of `tree` by node kind. `unit` holds the walk's state.
"""
