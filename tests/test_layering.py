"""Which package may import which: data flows one way."""

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "facts": set(),
    "rules": set(),
    "engine": set(),
    "analyzer": {"facts", "rules", "engine"},
    "cli": {"analyzer", "engine"},
}
ROOMS = (
    "sources",
    "configuration",
    "extraction",
    "evaluation",
    "findings",
    "history",
    "live",
    "explanation",
    "outputs",
    "graphs",
    "batch",
    "queries",
)
"""The packages of `analyzer`: each imports from those before it, and from what all share."""
SHARED = {
    "errors",
    "cache_entries",
    "exit_codes",
    "engine_errors",
    "report",
    "escaping",
    "state_directory",
    "context_policies",
}
PIPELINE = {"scan"}
"""It stands between findings and history."""
SPARK_LIVES_IN = ("engine/spark/", "analyzer/batch/")
DOOR_PACKAGES = ("engine", "engine.cfl", "engine.incremental", "engine.provenance", "engine.spark")
"""Others use names that these have in PUBLIC …"""
DOOR_MODULES = {
    f"engine.{name}" for name in ("explanation", "profile", "operating_system", "atomic_file", "trusted_directories")
}
"""… and all names of these."""
OUTSIDE = ("facts", "rules", "analyzer", "cli", *(f"tests/{name}" for name in ("analyzer", "batch", "cli", "rules")))
SCHEDULERS_ARE_USED_IN = ("engine/schedule/", "engine/incremental/")


@cache
def imported_modules(path):
    """Return (dotted name, whether at module level) for every import in the file."""
    return list(_imported_modules(path))


def _imported_modules(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        yield from ((name, id(node) not in inside) for name in names)


def imported(path):
    """Yield (top-level name, whether at module level) for every import in the file."""
    return ((name.split(".")[0], at_top) for name, at_top in imported_modules(path))


def modules(package):
    return sorted((TOP / package).rglob("*.py"))


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_lies_upstream(package):
    others = MAY_IMPORT.keys() - MAY_IMPORT[package] - {package}
    wrong = [(path.relative_to(TOP), name) for path in modules(package) for name, _ in imported(path) if name in others]
    assert modules(package)
    assert not wrong


def test_the_commands_use_the_engine_for_programs_only():
    """All else goes through the analyzer."""
    using = {path.name for path in modules("cli") if "engine" in {name for name, _ in imported(path)}}
    assert using == {"run.py", "update.py", "plan_text.py"}


@pytest.mark.parametrize("room", [*ROOMS, *sorted(SHARED)])
def test_a_room_of_the_analyzer_imports_from_those_before_it(room):
    before = SHARED | {room}
    if room in ROOMS:
        before |= {*ROOMS[: ROOMS.index(room)]}
    if room in ROOMS[ROOMS.index("history") :]:
        before |= PIPELINE
    files = sorted((TOP / "analyzer" / room).rglob("*.py")) or [TOP / "analyzer" / f"{room}.py"]
    wrong = {
        (path.relative_to(TOP).as_posix(), name)
        for path in files
        for name, _ in imported_modules(path)
        if name.startswith("analyzer.") and name.split(".")[1] not in before
    }
    assert not wrong


def test_spark_is_imported_in_two_places_only():
    for package in MAY_IMPORT:
        for path in modules(package):
            if not path.relative_to(TOP).as_posix().startswith(SPARK_LIVES_IN):
                assert "pyspark" not in {name for name, _ in imported(path)}, path


def test_schedulers_know_nothing_of_the_engine_and_are_used_in_one_place():
    for path in modules("engine"):
        place = path.relative_to(TOP).as_posix()
        packages = {".".join(name.split(".")[:2]) for name, _ in imported_modules(path) if name.startswith("engine.")}
        if place.startswith("engine/schedule/"):
            assert packages <= {"engine.schedule"}, path
        if not place.startswith(SCHEDULERS_ARE_USED_IN):
            assert "engine.schedule" not in packages, path


@pytest.mark.parametrize("heavy", ["sqlite_utils", "rich", "lark"])
def test_the_pipeline_and_the_commands_load_heavy_modules_when_they_need_them(heavy):
    allowed = {"rich": ("cli/text.py", "cli/check_catalogue.py", "cli/plan_text.py")}.get(heavy, ())
    for package in ("analyzer", "cli"):
        for path in modules(package):
            at_top = {name for name, top_level in imported(path) if top_level}
            if path.relative_to(TOP).as_posix() not in allowed and "TYPE_CHECKING" not in path.read_text():
                assert heavy not in at_top, path


@pytest.mark.parametrize("package", DOOR_PACKAGES)
def test_type_checkers_see_the_names_of_the_engine_that_load_on_use(package):
    file = TOP.joinpath(*package.split("."), "__init__.py")
    seen = {
        alias.asname: node.module
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    door = import_module(package)
    assert seen == door.PUBLIC
    assert all(hasattr(door, name) for name in seen)
    inner = {name.rpartition(".")[2] for name in sys.modules if name.rpartition(".")[0] == package}
    assert not inner & seen.keys(), "the name would be a module or not, by the order of imports"


@pytest.mark.parametrize("package", DOOR_PACKAGES)
def test_a_door_of_the_engine_loads_nothing_heavy(package):
    code = f"import sys, {package}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    assert package in done.stdout.split()
    assert not set(done.stdout.split()) & {
        "numba",
        "numpy",
        "lark",
        "pyarrow",
        "pandas",
        "pyspark",
        "engine.operating_system",
    }


def reached(path):
    """Yield all names of the engine that a file imports or uses, dotted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "engine")
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module.split(".")[0] == "engine":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "engine":
            yield f"engine.{node.attr}"


def is_public(name):
    """Return True if a name is a door of the engine, or stands in one."""
    package, _, last = name.rpartition(".")
    if name in DOOR_PACKAGES or name in DOOR_MODULES or package in DOOR_MODULES:
        return True
    return package in DOOR_PACKAGES and (last in import_module(package).PUBLIC or last == "__path__")


@pytest.mark.parametrize("directory", OUTSIDE)
def test_the_engine_is_used_through_its_public_names(directory):
    files = sorted((TOP / directory).rglob("*.py"))
    wrong = {(path.relative_to(TOP).as_posix(), name) for path in files for name in reached(path)}
    assert files
    assert not {(path, name) for path, name in wrong if not is_public(name)}


def test_no_check_reads_another():
    """Each may be selected alone: what several need is of the library."""
    for path in (TOP / "rules/checks").rglob("*.dl"):
        assert not re.search(r"(?m)^\.use .*\bchecks\.", path.read_text(encoding="utf-8")), path


def test_no_module_shadows_a_standard_one():
    names = {path.stem for package in MAY_IMPORT for path in modules(package)}
    assert not names & {"ast", "types", "symbol", "token"}


def test_ignored_types_are_few_and_say_which_and_why():
    texts = [path.read_text(encoding="utf-8") for package in MAY_IMPORT for path in modules(package)]
    lines = [line for text in texts for line in text.splitlines() if "# type: ignore" in line]
    ignored = [line.partition("# type: ignore")[2] for line in lines]
    assert 0 < len(ignored) <= 50
    assert all(re.fullmatch(r"\[[a-z-]+\]  # \S.*", rest) for rest in ignored)


def test_help_loads_no_heavy_module():
    code = "import sys; from cli import cli; cli(['scan', '--help'], standalone_mode=False); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    loaded = {name.strip("'[] ") for name in done.stdout.splitlines()[-1].split(",")}
    heavy = {"numba", "numpy", "lark", "sqlite_utils", "tree_sitter", "pathspec", "rich.console", "multiprocessing"}
    assert not loaded & heavy
    assert not loaded & {"engine", "facts", "rules", "analyzer.scan", "sqlite3", "tomllib"}
    assert "Usage: " in done.stdout


def test_a_worker_loads_neither_the_engine_nor_its_compiler():
    code = "import sys, analyzer.extraction.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numba", "llvmlite", "rich", "lark", "rules", "sqlite_utils"}
    assert not {name for name in loaded if name.startswith("engine.")}


def test_numba_is_imported_where_kernels_are_compiled_alone():
    """Its import takes longer than a small scan; compiled kernels run without it."""
    importing = {
        path.relative_to(TOP).as_posix()
        for package in MAY_IMPORT
        for path in modules(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if any(name.split(".")[0] == "numba" for name in names_imported(node))
    }
    assert importing == {"engine/kernels/numba_compiler.py"}


def names_imported(statement):
    if isinstance(statement, ast.ImportFrom):
        return [statement.module or ""]
    return [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
