"""The Datalog engine: language, planner, columnar storage and evaluation.

What flows in: Datalog source text, and an EDB as tables, tuples, or integer columns with a symbol table.
What flows out: an IDB in the same forms, statistics, and coded diagnostics.
The engine knows nothing of source code, git or findings, and imports none of our other packages.

Other packages use the names of PUBLIC here, of `engine.cfl`, `engine.incremental`, `engine.provenance` and
`engine.spark`, and the modules `engine.explanation` (plans as data), `engine.profile` (costs as data),
`engine.operating_system`, `engine.atomic_file` (files that are whole) and `engine.trusted_directories`. A test holds
this. The main names are shown in `docs/engine.md`. All load on first use: importing the package loads neither numba nor
lark.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.budget import Budget as Budget
    from engine.budget import BudgetExceeded as BudgetExceeded
    from engine.codec import Codec as Codec
    from engine.codec import Damaged as Damaged
    from engine.database import Always as Always
    from engine.database import Database as Database
    from engine.database import EvaluationError as EvaluationError
    from engine.database import OutOfMemory as OutOfMemory
    from engine.database import Widening as Widening
    from engine.evaluation.coordination_policy import CoordinationPolicy as CoordinationPolicy
    from engine.evaluation.coordination_policy import Dws as Dws
    from engine.evaluation.coordination_policy import Global as Global
    from engine.evaluation.coordination_policy import Ssp as Ssp
    from engine.evaluation.coordination_policy import policy_named as policy_named
    from engine.evaluation.evaluator import EvaluateOptions as EvaluateOptions
    from engine.evaluation.evaluator import evaluate as evaluate
    from engine.evaluation.execution import Options as Options
    from engine.io import FactsError as FactsError
    from engine.io import load as load
    from engine.io import store as store
    from engine.io.value_text import Printer as Printer
    from engine.language.checked_program import CheckedProgram as CheckedProgram
    from engine.language.checked_program import Field as Field
    from engine.language.checked_program import Relation as Relation
    from engine.language.checked_program import Type as Type
    from engine.language.compilation_unit import Unit as Unit
    from engine.language.compiler import check_sources as check_sources
    from engine.language.compiler import compile as compile
    from engine.language.compiler import flatten as flatten
    from engine.language.diagnostics import Diagnostic as Diagnostic
    from engine.language.diagnostics import ProgramError as ProgramError
    from engine.language.extension import ANSWERS as ANSWERS
    from engine.language.extension import extend as extend
    from engine.language.extension import question as question
    from engine.language.extension import spelled as spelled
    from engine.language.source import Source as Source
    from engine.language.to_souffle import souffle_text as souffle_text
    from engine.language.units_codec import UNITS_CODEC as UNITS_CODEC
    from engine.plan.conditional_sources import conditional as conditional
    from engine.plan.constant_clauses import fold_constants as fold_constants
    from engine.plan.isolate_sources import isolate_sources as isolate_sources
    from engine.plan.isolate_sources import written_by as written_by
    from engine.plan.outlined_program import OUTLINED_PROGRAM_CODEC as OUTLINED_PROGRAM_CODEC
    from engine.plan.outlined_program import OutlinedProgram as OutlinedProgram
    from engine.plan.outlined_program import outlined as outlined
    from engine.precompile import compile_kernels as compile_kernels
    from engine.precompile import compiling_kernels as compiling_kernels
    from engine.queries import answering as answering
    from engine.queries import ask as ask
    from engine.queries import query as query
    from engine.result import Result as Result
    from engine.result import RuleStatistics as RuleStatistics
    from engine.result import StratumStatistics as StratumStatistics
    from engine.run_program import answer as answer
    from engine.run_program import compile_file as compile_file
    from engine.run_program import explain as explain
    from engine.run_program import run as run
    from engine.standing_query import StandingQuery as StandingQuery
    from engine.standing_query import answered as answered
    from engine.storage.memory import memory_limited as memory_limited
    from engine.storage.record_table import RecordTable as RecordTable
    from engine.symbols import Symbols as Symbols
    from engine.tables import TableError as TableError
    from engine.tables import facts as facts
    from engine.view import Commit as Commit
    from engine.view import View as View

PUBLIC = {
    "Source": "engine.language.source",
    "compile": "engine.language.compiler",
    "check_sources": "engine.language.compiler",
    "flatten": "engine.language.compiler",
    "souffle_text": "engine.language.to_souffle",
    "Unit": "engine.language.compilation_unit",
    "Diagnostic": "engine.language.diagnostics",
    "ProgramError": "engine.language.diagnostics",
    "CheckedProgram": "engine.language.checked_program",
    "Field": "engine.language.checked_program",
    "Relation": "engine.language.checked_program",
    "Type": "engine.language.checked_program",
    "UNITS_CODEC": "engine.language.units_codec",
    "Codec": "engine.codec",
    "Damaged": "engine.codec",
    "isolate_sources": "engine.plan.isolate_sources",
    "written_by": "engine.plan.isolate_sources",
    "conditional": "engine.plan.conditional_sources",
    "fold_constants": "engine.plan.constant_clauses",
    "OutlinedProgram": "engine.plan.outlined_program",
    "outlined": "engine.plan.outlined_program",
    "OUTLINED_PROGRAM_CODEC": "engine.plan.outlined_program",
    "Symbols": "engine.symbols",
    "RecordTable": "engine.storage.record_table",
    "Database": "engine.database",
    "EvaluationError": "engine.database",
    "OutOfMemory": "engine.database",
    "Always": "engine.database",
    "Widening": "engine.database",
    "Budget": "engine.budget",
    "BudgetExceeded": "engine.budget",
    "memory_limited": "engine.storage.memory",
    "Result": "engine.result",
    "RuleStatistics": "engine.result",
    "StratumStatistics": "engine.result",
    "evaluate": "engine.evaluation.evaluator",
    "EvaluateOptions": "engine.evaluation.evaluator",
    "Options": "engine.evaluation.execution",
    "CoordinationPolicy": "engine.evaluation.coordination_policy",
    "Global": "engine.evaluation.coordination_policy",
    "Ssp": "engine.evaluation.coordination_policy",
    "Dws": "engine.evaluation.coordination_policy",
    "policy_named": "engine.evaluation.coordination_policy",
    "facts": "engine.tables",
    "TableError": "engine.tables",
    "StandingQuery": "engine.standing_query",
    "answered": "engine.standing_query",
    "View": "engine.view",
    "Commit": "engine.view",
    "compile_kernels": "engine.precompile",
    "compiling_kernels": "engine.precompile",
    "ask": "engine.queries",
    "answering": "engine.queries",
    "query": "engine.queries",
    "ANSWERS": "engine.language.extension",
    "extend": "engine.language.extension",
    "question": "engine.language.extension",
    "spelled": "engine.language.extension",
    "Printer": "engine.io.value_text",
    "run": "engine.run_program",
    "answer": "engine.run_program",
    "compile_file": "engine.run_program",
    "explain": "engine.run_program",
    "FactsError": "engine.io",
    "load": "engine.io",
    "store": "engine.io",
}

__getattr__ = load_on_use(__name__, PUBLIC)
