"""Plan a checked clause: `flatten` (rules of simple literals) → `join_order` → operators.

A rule is planned per semi-naive variant, when it first has something to do, with the sizes known then; the plan is made
anew when a relation it reads has changed its size by an order of magnitude.
"""
