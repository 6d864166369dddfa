"""Queries in Datalog on what the analyses derive of a tree, on any program and its facts, and on a batch's results."""
