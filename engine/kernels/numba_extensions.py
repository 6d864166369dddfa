"""Numba's extension modules without Numba, which takes ten times as long to import as all else that a run needs.

A compiled kernel needs no compiler, only these: `_dispatcher` selects the code for the types of arguments, and
`_dynfunc` calls it; the code itself calls functions of `_helperlib` and `_nrt_python`. Their interfaces are Numba's own
affair, so `pyproject.toml` names the versions of Numba that they are known of.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType


def numba_directory() -> Path:
    spec = find_spec("numba")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


@contextmanager
def empty_packages() -> Iterator[None]:
    """Let empty modules stand for Numba's packages, so that importing a module of theirs runs nothing else.

    Afterwards none of it is known to the import system: who imports Numba gets all of it.
    """
    if "numba" in sys.modules:
        yield
        return
    for name in ("numba", "numba.core", "numba.core.runtime", "numba.core.typeconv"):
        sys.modules[name] = package = ModuleType(name)
        package.__path__ = [str(HOME.joinpath(*name.split(".")[1:]))]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "numba"]:
            del sys.modules[name]


HOME = numba_directory()
VERSION = (HOME / "_version.py").read_bytes()
"""A text that is another one in another version of Numba."""

with empty_packages():
    dispatcher = import_module("numba._dispatcher")
    functions = import_module("numba._dynfunc")
    helpers = import_module("numba._helperlib")
    runtime = import_module("numba.core.runtime._nrt_python")
    conversions = import_module("numba.core.typeconv._typeconv")
