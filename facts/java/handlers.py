"""The modules that handle the kinds of the grammar: importing this one fills the tables of `tree`."""

from facts.java import (  # noqa: F401
    annotations,
    assignments,
    calls,
    classes,
    control,
    exceptions,
    expressions,
    functions,
    imports,
    literals,
    members,
    operators,
    patterns,
    switches,
    type_values,
)
