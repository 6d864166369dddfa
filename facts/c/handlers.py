"""The modules that handle the kinds of the grammar: importing this one fills the tables of `tree`."""

from facts.c import (  # noqa: F401
    calls,
    classes,
    control,
    declarations,
    functions,
    includes,
    literals,
    macros,
    operators,
    places,
    statements,
    type_values,
)
