"""Machine code of compiled kernels, and functions that run it. LLVM links it; nothing here needs its compiler."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np
from llvmlite import binding as llvm

from engine.kernels.numba_extensions import functions, helpers, runtime
from engine.operating_system import set_pointer

LINKING = Lock()


@dataclass(frozen=True, slots=True)
class MachineCode:
    """An object file, its function `entry` that takes and returns Python objects, and its variable `environment`.

    This variable is to hold an object with the `constants` that the code refers to: the types of the arrays that it
    returns. Code that returns arrays imports Numba.
    """

    content: bytes
    entry: str
    environment: str
    constants: tuple[str, ...]


COMMON_PROCESSOR = "x86-64-v3"
COMMON_FEATURES = "avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse4.2".split()
"""Code for it runs on all processors with these features, those of 2013 and later, so that a wheel can bring it."""


@cache
def processor() -> tuple[str, str]:
    """Return the name and features of the processor that code is made for."""
    features = llvm.get_host_cpu_features()
    if all(features.get(name) for name in COMMON_FEATURES):
        return COMMON_PROCESSOR, ""
    return llvm.get_host_cpu_name(), features.flatten()


def abi() -> tuple[str, ...]:
    """Return what code depends on beside the processor: the system, and the interpreter's layout of objects."""
    return llvm.get_process_triple(), str(sys.implementation.cache_tag), getattr(sys, "abiflags", "")


@lru_cache(maxsize=1)
def linker() -> llvm.ExecutionEngine:
    """Return the linker, which knows all symbols that code refers to."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol("_Py_NoneStruct", id(None))
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            llvm.add_symbol(f"PyExc_{name}", id(value))
    for name, address in (*helpers.c_helpers.items(), *functions.c_helpers.items()):
        llvm.add_symbol(f"numba_{name}", address)
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def linked(code: MachineCode, function: FunctionType) -> Callable[..., Any]:
    """Return a callable that runs the code of a function."""
    environment = functions.Environment(function.__globals__)
    environment.consts.extend(np.dtype(constant) for constant in code.constants)
    with LINKING:
        engine = linker()
        engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
        engine.finalize_object()
        address, variable = engine.get_function_address(code.entry), engine.get_global_value_address(code.environment)
    set_pointer(variable, id(environment))
    module, name, text = sys.modules[function.__module__], function.__name__, function.__doc__ or ""
    return functions.make_function(module, name, text, address, environment, (engine,))
