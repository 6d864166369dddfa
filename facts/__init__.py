"""Fact extraction: source text in, facts out.

What flows in: the bytes of one file and its language. What flows out: that file's facts, path-free, as integer columns
with a local symbol table, in the relations of `schema.dl` — the only contract between extractors and rules.
This package imports none of our other packages.
"""
