"""The modules that handle the kinds of the grammar: importing this one fills the tables of `tree`."""

from facts.python import (  # noqa: F401
    assignments,
    calls,
    classes,
    comprehensions,
    control,
    exceptions,
    expressions,
    functions,
    imports,
    literals,
    operators,
    patterns,
)
