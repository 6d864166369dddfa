"""The files of the analysis program, in the order in which they build on each other."""

from importlib.resources import files

ANALYSIS = (
    "builtins.dl",
    "model_names.dl",
    "names.dl",
    "hierarchy.dl",
    "constant.dl",
    "local_facts.dl",
    "local.dl",
    "test_code.dl",
    "hubs.dl",
    "points_to.dl",
    "calls.dl",
    "wrappers.dl",
    "containers.dl",
    "operators.dl",
    "interface.dl",
)
"""Names, class hierarchy, constants and feasibility, strong updates, points-to with the call graph, what others read.

Nothing feeds back from a later stage to an earlier one; the files from `points_to.dl` to `operators.dl` are one
recursion.
"""


def read(name: str) -> str:
    """Return the text of a file of the rule library."""
    return files("rules").joinpath("lib", name).read_text(encoding="utf-8")


def analysis() -> list[tuple[str, str]]:
    """Return the analysis program, without the fact schema: (file name, text) in order."""
    return [(f"rules/lib/{name}", read(name)) for name in ("models.dl", *ANALYSIS)]
