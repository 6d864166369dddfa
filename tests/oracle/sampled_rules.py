"""Rules that random programs are made of, in each test beside those of its own."""

RECURSIONS = (
    "left(x, y) :- edge(x, y).",
    "left(x, z) :- left(x, y), edge(y, z).",
    "left(x, y) :- wide(x, _, y).",
    "right(x, y) :- edge(x, y), x != y.",
    "right(x, z) :- right(x, y), right(y, z).",
    "odd(x, y) :- edge(x, y).",
    "odd(x, z) :- even(x, y), edge(y, z).",
    "even(x, z) :- odd(x, y), edge(y, z).",
    "even(x, y) :- odd(y, x), flag().",
    "wide(x, y, z) :- edge(x, y), edge(y, z), edge(z, x).",
    "wide(z, x, y) :- wide(x, y, z), edge(y, _).",
)
"""Linear, non-linear and mutual recursion, and recursion in which three columns move."""
