"""The Datalog engine: language, planner, columnar storage and evaluation.

What flows in: Datalog source text, and an EDB as integer columns with a symbol table.
What flows out: an IDB in the same form, statistics, and coded diagnostics.
The engine knows nothing of source code, git or findings, and imports none of our other packages.

Public names load on first use, so that importing the package loads neither numba nor lark.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.database import Database as Database
    from engine.database import EvaluationError as EvaluationError
    from engine.database import Widening as Widening
    from engine.evaluation.coordination_policy import CoordinationPolicy as CoordinationPolicy
    from engine.evaluation.coordination_policy import Dws as Dws
    from engine.evaluation.coordination_policy import Global as Global
    from engine.evaluation.coordination_policy import Ssp as Ssp
    from engine.evaluation.evaluator import evaluate as evaluate
    from engine.io import FactsError as FactsError
    from engine.io import load as load
    from engine.io import store as store
    from engine.language.checked_program import CheckedProgram as CheckedProgram
    from engine.language.compiler import Source as Source
    from engine.language.compiler import compile as compile
    from engine.language.diagnostics import Diagnostic as Diagnostic
    from engine.language.diagnostics import ProgramError as ProgramError
    from engine.queries import query as query
    from engine.result import Result as Result
    from engine.session import Session as Session
    from engine.symbols import Symbols as Symbols

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
    "CoordinationPolicy": "engine.evaluation.coordination_policy",
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
