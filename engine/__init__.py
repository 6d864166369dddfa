"""The Datalog engine: language, planner, columnar storage and evaluation.

What flows in: Datalog source text, and an EDB as integer columns with a symbol table.
What flows out: an IDB in the same form, statistics, and coded diagnostics.
The engine knows nothing of source code, git or findings, and imports none of our other packages.

Public names load on first use, so that importing the package loads neither numba nor lark.
"""

from importlib import import_module

PUBLIC = {
    "Source": "engine.language.compiler",
    "compile": "engine.language.compiler",
    "Diagnostic": "engine.language.diagnostics",
    "ProgramError": "engine.language.diagnostics",
    "CheckedProgram": "engine.language.checked_program",
    "Symbols": "engine.symbols",
    "Database": "engine.database",
    "EvaluationError": "engine.database",
    "Widening": "engine.database",
    "Result": "engine.result",
    "evaluate": "engine.evaluation.evaluator",
    "Policy": "engine.evaluation.coordination_policy",
    "Global": "engine.evaluation.coordination_policy",
    "Ssp": "engine.evaluation.coordination_policy",
    "Dws": "engine.evaluation.coordination_policy",
    "Session": "engine.session",
    "query": "engine.queries",
    "FactsError": "engine.io",
    "load": "engine.io",
    "store": "engine.io",
}


def __getattr__(name: str) -> object:
    if name not in PUBLIC:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)
