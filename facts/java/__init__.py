"""The Java extractor: the whole grammar of tree-sitter-java, for Java up to 21.

`extract` parses, `captures` finds out which variables lambdas and classes share, then one walk over the tree makes
the facts. The walk is split by concern; each module enters its handlers into the tables of `tree` by node kind. `unit`
holds the walk's state, `scopes` says what a name means.
"""
