"""The Datalog language: text in, checked program out.

`grammar.lark` → `parse` → `syntax` (positions kept) → components and includes expanded → `check` (arity, types, safety,
stratification; coded errors) → `CheckedProgram`. Every evaluator, the reference included, starts from that.
"""
