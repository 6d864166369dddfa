"""Numba: a kernel becomes machine code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import from_dtype, njit, types
from numba.core import config
from numba.core.cgutils import get_item_pointer
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from engine.kernels.compiled_kernel import Inlined, Instruction, Kernel
from engine.kernels.machine_code import MachineCode, processor

config.CPU_NAME, config.CPU_FEATURES = processor()
ARRAY = re.compile(r"(?P<dtype>[^:]+):(?P<dimensions>\d+)(?P<layout>[CFA])(?P<readonly>r?)")


@intrinsic
def compare_and_swap(typing: Any, array: Any, at: Any, expected: Any, value: Any) -> Any:
    """Put a value where the expected one is; return what was there."""

    def code(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        array, at, expected, value = arguments
        held = make_array(signature.args[0])(context, builder, array)
        place = get_item_pointer(context, builder, signature.args[0], held, [at])
        return builder.extract_value(builder.cmpxchg(place, expected, value, "acq_rel", "acquire"), 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), code


INSTRUCTIONS = {"compare_and_swap": compare_and_swap}


def compiled(function: FunctionType, names: Sequence[str]) -> tuple[MachineCode, Callable[..., Any]]:
    """Return the code of a kernel for arguments of some types, by their names, and what calls it."""
    made = dispatcher(function)
    arguments = tuple(map(named_type, names))
    callable = made.compile(arguments)
    result = made.overloads[arguments]
    content, _ = result.library.serialize_using_object_code()[-1]
    about, constants = result.fndesc, tuple(constant.str for constant in result.environment.consts)
    return MachineCode(content, about.llvm_cpython_wrapper_name, about.env_name, constants), callable


def named_type(name: str) -> Any:
    """Return Numba's type for a name that `compiled_kernel.type_name` gives."""
    if name.startswith("("):
        return types.Tuple([named_type(part) for part in parts(name[1:-1])])
    if found := ARRAY.fullmatch(name):
        dtype = from_dtype(np.dtype(found["dtype"]))
        return types.Array(dtype, int(found["dimensions"]), found["layout"], readonly=bool(found["readonly"]))
    return types.boolean if name == "bool" else from_dtype(np.dtype(name))


def parts(names: str) -> list[str]:
    """Return names that commas separate; those in parentheses belong to a part."""
    found, depth = [""], 0
    for character in names:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


@cache
def dispatcher(function: FunctionType, inline: str = "never") -> Any:
    """Return Numba's form of a kernel, or of what is inlined there: it sees Numba's forms of all that it calls."""
    known = dict(function.__globals__)
    for name in function.__code__.co_names:
        called = known.get(name)
        if isinstance(called, Kernel):
            known[name] = dispatcher(called.function)
        elif isinstance(called, Inlined):
            known[name] = dispatcher(called.function, "always")
        elif isinstance(called, Instruction):
            known[name] = INSTRUCTIONS[called.name]
    seen = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    # Numba names the code by it; two kernels may share all else.
    seen.__qualname__ = function.__name__
    if inline == "always":
        return njit(inline="always")(seen)
    return njit(nogil=True, error_model="numpy")(seen)
