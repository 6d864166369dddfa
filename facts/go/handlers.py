"""The modules that handle the kinds of the grammar: importing this one fills the tables of `tree`."""

from facts.go import (  # noqa: F401
    assignments,
    calls,
    channels,
    classes,
    composites,
    control,
    declarations,
    expressions,
    functions,
    imports,
    literals,
    operators,
    statements,
    switches,
    type_values,
)
