"""The modules that handle the kinds of the grammar: importing this one fills the tables of `tree`."""

from facts.javascript import (  # noqa: F401
    assignments,
    bodies,
    calls,
    classes,
    control,
    declared_types,
    exceptions,
    expressions,
    functions,
    imports,
    literals,
    markup,
    names,
    namespaces,
    operators,
    type_values,
)
