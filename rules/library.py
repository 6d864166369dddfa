"""The files of the analysis program, in the order in which they build on each other."""

import re
from pathlib import Path

from rules.catalogue import DatalogFile

RULES = Path(__file__).parent
HERE, EXPORTS = RULES / "lib", RULES / "exports"

ANALYSIS = (
    "model_vocabulary.dl",
    "library_methods.dl",
    "modelled_names.dl",
    "name_resolution.dl",
    "class_hierarchy.dl",
    "constant_propagation.dl",
    "comparison_operators.dl",
    "counting_loops.dl",
    "body_facts.dl",
    "local_memory.dl",
    "test_code.dl",
    "hub_functions.dl",
    "points_to.dl",
    "context_clones.dl",
    "call_graph.dl",
    "decorator_wrappers.dl",
    "collections.dl",
    "library_callbacks.dl",
    "list_positions.dl",
    "operators.dl",
    "reflection.dl",
    "points_to_interface.dl",
    "container_keys.dl",
    "arguments.dl",
    "execution_order.dl",
    "strong_updates.dl",
    "field_updates.dl",
    "must_alias.dl",
)
"""Names, class hierarchy, constants and feasibility, strong updates, points-to with the call graph, what others read,
what loads may refer to where stores are told apart by their order, and what names one object.

Folders of `lib/` hold what single languages add. A file there has the name of the core file that it adds to, unless it
is about something that this language alone has; files on taint, `taint*.dl`, are no part of the analysis, nor are files
that use what is not.

Nothing feeds back from a later stage to an earlier one; the files from `points_to.dl` to `reflection.dl` are one
recursion.
"""


def analysis() -> list[DatalogFile]:
    """Return the files of the analysis program, without the fact schema, in order."""
    core = {Path(name).stem for name in ANALYSIS}
    files = (_file(path) for path in sorted(HERE.glob("*/*.dl")) if _is_analysis(path.name))
    own = {file.module: file for file in files}
    while beyond := [name for name, file in own.items() if not used(file.text) <= core | own.keys()]:
        for name in beyond:
            del own[name]
    return [*(_file(HERE / name) for name in ANALYSIS), *own.values()]


def used(text: str) -> set[str]:
    """The modules that a file names behind `.use`."""
    return {name for line in re.findall(r"^\.use (.+)$", text, re.MULTILINE) for name in line.split(", ")}


def _is_analysis(name: str) -> bool:
    """Return True for a language's file that adds to a file of the analysis, or to no file of the core."""
    return name in ANALYSIS or not (name.startswith("taint") or (HERE / name).exists())


def call_graph() -> list[DatalogFile]:
    """Return the program for exports of the call graph: the analysis, and what says where programs begin."""
    return [*analysis(), _file(EXPORTS / "call_graph.dl")]


def missing_models() -> DatalogFile:
    """Return what asks taint analysis for the calls of libraries that no model knows."""
    return _file(EXPORTS / "missing_models.dl")


def derived_models() -> DatalogFile:
    """Return what asks taint analysis for what exported functions do with their parameters."""
    return _file(EXPORTS / "derived_models.dl")


def line_question() -> DatalogFile:
    """Return what stands for `lib/taint_question.dl` in a question about a line."""
    return _file(EXPORTS / "line_question.dl")


def explanations() -> DatalogFile:
    """Return the words in which explanations tell what was derived."""
    return _file(EXPORTS / "explanations.dl")


def why_not() -> DatalogFile:
    """Return what asks taint analysis why nothing is reported at a place."""
    return _file(EXPORTS / "why_not.dl")


def pointer_graph() -> DatalogFile:
    """Return the program that makes a graph of C for CFL reachability, without the fact schema."""
    return _file(EXPORTS / "pointer_graph.dl")


def grammars() -> dict[str, Path]:
    """Return the files of the grammars for that graph, by name."""
    return {path.stem: path for path in sorted(EXPORTS.glob("*.cfg"))}


def contexts() -> DatalogFile:
    """Return what asks the analysis for the calls that contexts are chosen by."""
    return _file(EXPORTS / "contexts.dl")


def _file(path: Path) -> DatalogFile:
    return DatalogFile(f"rules/{path.relative_to(RULES).as_posix()}", path.read_text(encoding="utf-8"))
