"""Columnar storage: relations in partitions, arrangements (indexes) and record tables.

A `Relation` is a list of `Partition`s, each an append-only set of distinct rows; the delta of an iteration is a range
of rows. An `Arrangement` indexes a relation by some columns and is shared by everything that reads it by that key.
"""
