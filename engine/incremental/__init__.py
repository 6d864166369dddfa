"""Results that are kept up to date as facts come and go.

What flows in: a checked program, facts, and then facts inserted and deleted. What flows out: relations as columns, and
the tuples that each update has inserted and deleted.
`preparation` (which strata are kept how) → `update_policy` (update or bootstrap) → `maintained_program` →
`maintained_stratum`, `grouped_stratum`, `extremal_recursion` or `recomputed_stratum` (of one) → `counting_bootstrap`,
or `update_plans` and `iteration_stamps` (plans of rules), `group_ends` (plans that aggregate) → `maintained_relation`
and `agenda` (what is stored, and what is to be decided). `demanded_arrangement` and `sorted_ids` look a few tuples up
in what was stored without an index of all. `changed_rows` tells which changes a rule can match: most plans are neither
made nor run; `duration_model` predicts how long an update takes; `support_query` finds the supports of a tuple.
From files: `program_update` (a command) → `delta_files` (facts that change) and `saved_state` (a view in a directory) →
`view_serialization` (a view as arrays), `block_file` (arrays in files), `state_manifest` and `state_identity` (which
files are valid, and for which program), `state_migration` (what another program takes over), `file_lock`.
"""

from typing import TYPE_CHECKING

from engine.lazy_import import load_on_use

if TYPE_CHECKING:
    from engine.incremental.block_file import DamagedFile as DamagedFile
    from engine.incremental.bounded_recursion import Bound as Bound
    from engine.incremental.bounded_recursion import CannotUpdate as CannotUpdate
    from engine.incremental.changes import Changes as Changes
    from engine.incremental.duration_model import DurationModel as DurationModel
    from engine.incremental.file_lock import lock as lock
    from engine.incremental.maintained_program import MaintainedProgram as MaintainedProgram
    from engine.incremental.maintained_program import nothing as nothing
    from engine.incremental.prepared_program import PREPARED_CODEC as PREPARED_CODEC
    from engine.incremental.prepared_program import PreparedProgram as PreparedProgram
    from engine.incremental.prepared_program import prepare_program as prepare_program
    from engine.incremental.program_update import UpdateSummary as UpdateSummary
    from engine.incremental.program_update import update_program as update_program
    from engine.incremental.saved_state import Base as Base
    from engine.incremental.saved_state import NoState as NoState
    from engine.incremental.saved_state import State as State
    from engine.incremental.saved_state import StateError as StateError
    from engine.incremental.state_manifest import MANIFEST as MANIFEST
    from engine.incremental.support_query import Tuple as Tuple
    from engine.incremental.support_query import supports as supports
    from engine.incremental.update_policy import POLICIES as POLICIES
    from engine.incremental.update_policy import Maintainer as Maintainer
    from engine.incremental.update_policy import Outcome as Outcome
    from engine.incremental.update_policy import Predicted as Predicted
    from engine.incremental.update_policy import UpdateOnly as UpdateOnly
    from engine.incremental.update_policy import UpdatePolicy as UpdatePolicy

PUBLIC = {
    "MaintainedProgram": "engine.incremental.maintained_program",
    "nothing": "engine.incremental.maintained_program",
    "Bound": "engine.incremental.bounded_recursion",
    "CannotUpdate": "engine.incremental.bounded_recursion",
    "Maintainer": "engine.incremental.update_policy",
    "Changes": "engine.incremental.changes",
    "Outcome": "engine.incremental.update_policy",
    "UpdatePolicy": "engine.incremental.update_policy",
    "Predicted": "engine.incremental.update_policy",
    "UpdateOnly": "engine.incremental.update_policy",
    "POLICIES": "engine.incremental.update_policy",
    "DurationModel": "engine.incremental.duration_model",
    "PreparedProgram": "engine.incremental.prepared_program",
    "prepare_program": "engine.incremental.prepared_program",
    "PREPARED_CODEC": "engine.incremental.prepared_program",
    "State": "engine.incremental.saved_state",
    "Base": "engine.incremental.saved_state",
    "NoState": "engine.incremental.saved_state",
    "StateError": "engine.incremental.saved_state",
    "DamagedFile": "engine.incremental.block_file",
    "MANIFEST": "engine.incremental.state_manifest",
    "lock": "engine.incremental.file_lock",
    "Tuple": "engine.incremental.support_query",
    "supports": "engine.incremental.support_query",
    "UpdateSummary": "engine.incremental.program_update",
    "update_program": "engine.incremental.program_update",
}

__getattr__ = load_on_use(__name__, PUBLIC)
