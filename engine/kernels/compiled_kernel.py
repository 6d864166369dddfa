"""Kernels: functions that run as machine code, by the types of their arguments.

The code for some types is read from disk when it is first asked for. Numba is imported only if it is not there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import signature
from itertools import count
from pathlib import Path
from threading import RLock
from types import FunctionType
from typing import Any

import numpy as np

from engine.kernels import kernel_cache
from engine.kernels.machine_code import linked
from engine.kernels.numba_extensions import conversions, dispatcher

COMPILING = RLock()
FIRST_CODE = 1 << 30
"""Numba numbers types from 0: when it is imported later, and its numbers are asked for, none of them is one of ours."""


class Inlined:
    """A function that is compiled as a part of the kernels that call it."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.__doc__ = function.__doc__


class Instruction:
    """An instruction of processors, which kernels call by name; `numba_compiler` has code for it."""

    def __init__(self, name: str) -> None:
        self.name = name


class TypeCode:
    """The number by which the dispatcher knows a type."""

    def __init__(self, number: int) -> None:
        self._code = number


class OmittedArgument:
    """Stands for an argument that is not given; no kernel has any."""


NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
CODES = {
    name: TypeCode(FIRST_CODE + at)
    for at, name in enumerate([*NUMBERS, "float32", "float64", "complex64", "complex128"])
}
FURTHER_CODES = count(FIRST_CODE + len(CODES))
"""Threads take numbers of types that are new at the same time."""
TYPES = conversions.new_type_manager()
if "numba" not in sys.modules:
    dispatcher.typeof_init(OmittedArgument, {name: code._code for name, code in CODES.items()})


def type_name(value: Any) -> str:
    """Return the name of a value's type: `<i4:2C` of an array of int32 of two dimensions, by rows."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return f"{value.dtype.str}:{value.ndim}{layout}{'' if flags.writeable else 'r'}"
    if isinstance(value, tuple):
        return f"({','.join(map(type_name, value))})"
    if isinstance(value, bool | np.bool_):
        return "bool"
    if isinstance(value, int | float):
        return "int64" if isinstance(value, int) else "float64"
    if isinstance(value, np.generic):
        return value.dtype.name
    raise TypeError(f"no kernel takes a {type(value).__name__}")


def type_code(value: Any) -> Any:
    """Return the object with the number of a value's type: Numba's where it has been imported."""
    name = type_name(value)
    if "numba" in sys.modules:
        from numba import typeof

        return typeof(value)
    return CODES.get(name) or CODES.setdefault(name, TypeCode(next(FURTHER_CODES)))


class Kernel(dispatcher.Dispatcher):  # type: ignore[misc]  # A class in C.
    """Calls the code of a function for the types of its arguments; `n_compiled` of them were not on disk."""

    _enable_sysmon = False

    def __init__(self, function: FunctionType, directory: Callable[[], Path]) -> None:
        self.function, self.directory = function, directory
        self.__doc__, self.__code__ = function.__doc__, function.__code__
        self.code: dict[tuple[str, ...], Callable[..., Any]] = {}
        self.known: set[tuple[int, ...]] = set()
        self.n_compiled = 0
        names = tuple(signature(function).parameters)
        super().__init__(conversions.get_pointer(TYPES), len(names), True, names, (), False, False, True)

    def typeof_pyval(self, value: Any) -> Any:
        """The dispatcher asks for the number of a type that it does not know."""
        return type_code(value)

    def _compile_for_args(self, *arguments: Any) -> Callable[..., Any]:
        """The dispatcher asks for code for the types of some arguments, and calls it.

        Threads ask at the same time. What it is given twice it takes for ambiguous, and asks at every call.
        """
        types = tuple(map(type_name, arguments))
        with COMPILING:
            self.compile(types)
            codes = tuple(type_code(value)._code for value in arguments)
            if codes not in self.known:
                self.known.add(codes)
                self._insert([*codes], self.code[types], False)
        return self.code[types]

    def compile(self, types: tuple[str, ...], *, wait: bool = True) -> None:
        """Have code for arguments of some types, by their names; if not `wait`, unless another process compiles it."""
        if types in self.code:
            return
        file = kernel_cache.code_file(self.directory(), self.function, types)
        if (kept := kernel_cache.load(file)) is None:
            with kernel_cache.claimed(file, wait=wait) as is_ours:
                if not is_ours:
                    return
                if (kept := kernel_cache.load(file)) is None:
                    self._make(types, file)
                    return
        self.code[types] = linked(kept, self.function)

    def _make(self, types: tuple[str, ...], file: Path) -> None:
        from engine.kernels.numba_compiler import compiled

        code, self.code[types] = compiled(self.function, types)
        self.n_compiled += 1
        kernel_cache.save(file, code)
