"""Functors and predicates on columns, as `engine.scalar_functors` defines them on single values.

A functor has a value for given arguments or none; a row for which it has none derives nothing. Functions of texts run
once per distinct argument.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from threading import Lock

import numpy as np

from engine import scalar_functors as scalar
from engine.database import EvaluationError
from engine.kernels.columns import canonical_floats
from engine.language.signatures import LETTERS
from engine.plan.value_encoding import encode_float, signed
from engine.regular_expressions import compiled
from engine.storage.key_tables import HashedKeys
from engine.symbols import Symbols

Values = np.ndarray | int
Defined = tuple[np.ndarray, np.ndarray | None]
"""Values as they stand in a column, and where there is one (None: everywhere)."""

NATIVE = {"number": np.int64, "unsigned": np.uint64, "float": np.float64}
KINDS = {letter: kind for kind, letter in LETTERS.items()}
COMPARISONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def native(value: Values, kind: str) -> np.ndarray:
    """The values of a column as numbers of their kind."""
    return np.ascontiguousarray(value, np.int64).view(NATIVE.get(kind, np.int64))


def canonical(values: np.ndarray) -> np.ndarray:
    """Floats as they stand in a column: one NaN, no negative zero."""
    return canonical_floats(values).view(np.int64)


class Functors:
    """The functors of one evaluation: its width of integers and its symbol table."""

    def __init__(self, number_bits: int, symbols: Symbols) -> None:
        self.bits, self.symbols = number_bits, symbols

    def predicate(self, op: str, kind: str) -> Callable[..., np.ndarray]:
        """Return the function of two columns that says where `left op right` holds."""
        if op in ("=", "!="):
            return COMPARISONS[op]
        if kind == "symbol":
            return TextMatch(op == "match", self) if op in ("match", "not_match") else TextPredicate(op, self)
        compare = COMPARISONS[op]
        return compare if kind == "number" else lambda a, b: compare(native(a, kind), native(b, kind))

    def functor(self, name: str, kind: str, result: str) -> Callable[..., Defined]:
        """Return the function from columns to a column."""
        if name in TEXT_ARGUMENTS or (kind == "symbol" and name in ("min", "max")):
            return TextFunctor(name, kind, result, self)
        if name == "ord":
            return lambda value: (np.asarray(value, np.int64), None)
        if name == "as":
            return lambda value: (self.reinterpret(native(value, kind), kind, result), None)
        if name in CONVERSIONS:
            source, target = CONVERSIONS[name]
            return lambda value: self.convert(native(value, source), target)
        if name not in ARITHMETIC:
            raise EvaluationError(f"the functor '{name}' has no parallel evaluation")
        function = ARITHMETIC[name]
        return lambda *args: self.finish(function(*[native(a, kind) for a in args], self.bits), kind)

    def finish(self, result: np.ndarray | tuple, kind: str) -> Defined:
        values, defined = result if isinstance(result, tuple) else (result, None)
        return self.wrap(values, kind), defined

    def wrap(self, values: np.ndarray, kind: str) -> np.ndarray:
        """Return values of a kind as they stand in a column."""
        if kind == "float":
            return canonical(values)
        if self.bits == 64:
            return values.view(np.int64)
        return (values & 0xFFFFFFFF).view(np.int64) if kind == "unsigned" else values.astype(np.int32)

    def convert(self, values: np.ndarray, target: str) -> Defined:
        """Convert numbers: floats are truncated towards zero and must fit, integers wrap."""
        if values.dtype != np.float64 or target == "float":
            return self.wrap(values.astype(NATIVE[target]), target), None
        low, high = (
            (0.0, 2.0**self.bits) if target == "unsigned" else (-(2.0 ** (self.bits - 1)), 2.0 ** (self.bits - 1))
        )
        whole = np.trunc(values)
        defined = (whole >= low) & (whole < high)
        return self.wrap(np.where(defined, whole, 0.0).astype(NATIVE[target]), target), defined

    def reinterpret(self, values: np.ndarray, source: str, target: str) -> np.ndarray:
        """Read the bits of numbers as another kind; with 32-bit numbers, floats are narrowed first."""
        if self.bits == 64:
            bits = values.view(np.int64)
        elif source == "float":
            bits = values.astype(np.float32).view(np.int32).astype(np.int64)
        else:
            bits = values.astype(np.uint32).view(np.int32).astype(np.int64)
        if target != "float":
            return self.wrap(bits.view(NATIVE[target]), target)
        return canonical(
            bits.view(np.float64) if self.bits == 64 else bits.astype(np.int32).view(np.float32).astype(float)
        )

    def decode(self, column: np.ndarray, kind: str) -> list:
        """The Python values of a column."""
        return self.symbols.texts(column) if kind == "symbol" else native(column, kind).tolist()

    def encode(self, values: Sequence, kind: str) -> Defined:
        """A column of Python values; None stands for no value."""
        defined = np.array([value is not None for value in values], np.bool_)
        if kind == "symbol":
            return self.symbols.intern("" if v is None else v for v in values).astype(np.int64), defined
        if kind == "float":
            return np.array([0 if v is None else encode_float(v) for v in values], np.int64), defined
        return np.array([0 if v is None else signed(v) for v in values], np.int64), defined

    def encode_all(self, values: Iterable, kind: str) -> np.ndarray:
        """A column of texts or numbers, all of which are values."""
        return self.symbols.intern(values).astype(np.int64) if kind == "symbol" else np.fromiter(values, np.int64)


# ---- arithmetic


def divide(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray | tuple:
    """Divide, truncating towards zero; by zero only floats have a value."""
    with np.errstate(all="ignore"):
        if a.dtype == np.float64:
            return a / b
        safe = np.where(b == 0, 1, b).astype(a.dtype)
        quotient = a // safe
    if a.dtype == np.int64:
        quotient = quotient + ((quotient < 0) & (quotient * safe != a))
    return quotient, b != 0


def remainder(a: np.ndarray, b: np.ndarray, bits: int) -> tuple:
    quotient, defined = divide(a, b, bits)
    return a - quotient * b, defined


def power(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray | tuple:
    """Raise to a power; for a negative exponent the exact result is truncated towards zero."""
    if a.dtype != np.int64:
        with np.errstate(all="ignore"):
            return np.power(a, b)
    a, b = np.broadcast_arrays(a, b)
    inverse = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0))
    return np.where(b < 0, inverse, np.power(a, np.maximum(b, 0))), (a != 0) | (b >= 0)


def shift(function: Callable) -> Callable:
    """A shift by the exponent modulo the width."""
    return lambda a, b, bits: function(a, b & np.array(bits - 1, b.dtype))


def shift_right_unsigned(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    mask = np.uint64(2**bits - 1)
    return ((a.view(np.uint64) & mask) >> (b.view(np.uint64) & np.uint64(bits - 1))).view(a.dtype)


def logical(function: Callable) -> Callable:
    return lambda *args: np.asarray(function(*[a != 0 for a in args[:-1]])).astype(args[0].dtype)


ARITHMETIC: dict[str, Callable] = {
    "+": lambda a, b, bits: a + b,
    "-": lambda a, b, bits: a - b,
    "*": lambda a, b, bits: a * b,
    "/": divide,
    "%": remainder,
    "^": power,
    "neg": lambda a, bits: -a,
    "band": lambda a, b, bits: a & b,
    "bor": lambda a, b, bits: a | b,
    "bxor": lambda a, b, bits: a ^ b,
    "bnot": lambda a, bits: ~a,
    "bshl": shift(np.left_shift),
    "bshr": shift(np.right_shift),
    "bshru": shift_right_unsigned,
    "land": logical(np.logical_and),
    "lor": logical(np.logical_or),
    "lxor": logical(np.logical_xor),
    "lnot": logical(np.logical_not),
    "min": lambda *args: reduce(np.minimum, args[:-1]),
    "max": lambda *args: reduce(np.maximum, args[:-1]),
}

CONVERSIONS = {f"{s}to{t}": (KINDS[s], KINDS[t]) for s in "iuf" for t in "iuf" if s != t}


# ---- texts

TEXT_ARGUMENTS: dict[str, tuple[str, ...] | None] = {
    "cat": None,
    "strlen": ("symbol",),
    "substr": ("symbol", "number", "number"),
    "itos": ("number",),
    "utos": ("unsigned",),
    "ftos": ("float",),
    "stoi": ("symbol",),
    "stou": ("symbol",),
    "stof": ("symbol",),
}
"""The kinds of the arguments of the functors from or to texts; None stands for any number of texts."""

TOTAL_ON_COLUMNS: dict[str, Callable[..., Iterable]] = {
    "cat": lambda *texts: map("".join, zip(*texts, strict=True)),
    "strlen": lambda texts: map(len, texts),
    "itos": lambda numbers: map(str, numbers),
    "utos": lambda numbers: map(str, numbers),
}
"""Functors that have a value for all arguments, on columns of Python values."""


class Memo:
    """A function of columns, run once per distinct row of arguments. Safe to share between threads."""

    def __init__(self) -> None:
        self._keys: HashedKeys | None = None
        self._results = np.empty(0, np.int64)
        self._defined = np.empty(0, np.bool_)
        self._lock = Lock()

    def __call__(self, *operands: Values) -> Defined:
        n = max(np.size(operand) for operand in operands)
        rows = np.empty((len(operands), n), np.int64)
        for i, operand in enumerate(operands):
            rows[i] = operand
        with self._lock:
            if self._keys is None:
                self._keys = HashedKeys(len(rows), np.dtype(np.int64))
            ids = self._keys.intern(rows, 0, n, np.arange(len(rows)))
            known = len(self._results)
            if self._keys.n > known:
                results, defined = self.evaluate(self._keys.columns[:, known : self._keys.n])
                self._results = np.concatenate([self._results, results])
                self._defined = np.concatenate([self._defined, defined])
            return self._results[ids], self._defined[ids]

    def evaluate(self, columns: np.ndarray) -> Defined:
        """Return the values for distinct arguments and where they are defined."""
        raise NotImplementedError


class TextPredicate(Memo):
    """A predicate of two texts; it does not hold where it has no value."""

    def __init__(self, op: str, functors: Functors) -> None:
        super().__init__()
        self._op, self._functors = op, functors

    def __call__(self, *operands: Values) -> np.ndarray:
        return super().__call__(*operands)[0] != 0

    def evaluate(self, columns: np.ndarray) -> Defined:
        left, right = (self._functors.decode(column, "symbol") for column in columns)
        found = [bool(scalar.holds(self._op, *pair)) for pair in zip(left, right, strict=True)]
        return all_defined(found)


class TextMatch:
    """A test of texts by patterns, for a match or for none. Mostly all rows have one; each keeps its matches."""

    def __init__(self, is_wanted: bool, functors: Functors) -> None:
        self._wanted, self._functors = is_wanted, functors
        self._by_pattern: dict[int, PatternMatch] = {}

    def __call__(self, patterns: Values, texts: Values) -> np.ndarray:
        if isinstance(patterns, int):
            return self.matched(patterns, texts)
        patterns, texts = np.broadcast_arrays(patterns, texts)
        order = np.argsort(patterns, kind="stable")
        distinct, first = np.unique(patterns[order], return_index=True)
        found = np.empty(len(patterns), np.bool_)
        for pattern, rows in zip(distinct.tolist(), np.split(order, first[1:]), strict=True):
            found[rows] = self.matched(pattern, texts[rows])
        return found

    def matched(self, pattern: int, texts: Values) -> np.ndarray:
        known = self._by_pattern
        memo = known.get(pattern) or known.setdefault(pattern, PatternMatch(pattern, self._wanted, self._functors))
        return memo(texts)[0] != 0


class PatternMatch(Memo):
    """The test by the pattern that a symbol is. It does not hold for a malformed one."""

    def __init__(self, pattern: int, is_wanted: bool, functors: Functors) -> None:
        super().__init__()
        self._wanted, self._functors = is_wanted, functors
        self._pattern = compiled(functors.symbols.texts([pattern])[0])

    def evaluate(self, columns: np.ndarray) -> Defined:
        found = self._pattern.matches_each(self._functors.decode(columns[0], "symbol"))
        return all_defined([each is self._wanted for each in found])


def all_defined(found: Sequence[bool]) -> Defined:
    return np.array(found, np.int64), np.ones(len(found), np.bool_)


class TextFunctor(Memo):
    """A functor from or to texts."""

    def __init__(self, name: str, kind: str, result: str, functors: Functors) -> None:
        super().__init__()
        self._name, self._kind, self._result, self._functors = name, kind, result, functors

    def evaluate(self, columns: np.ndarray) -> Defined:
        kinds = TEXT_ARGUMENTS.get(self._name) or ("symbol",) * len(columns)
        arguments = [self._functors.decode(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        if self._name in TOTAL_ON_COLUMNS:
            made = self._functors.encode_all(TOTAL_ON_COLUMNS[self._name](*arguments), self._result)
            return made, np.ones(len(made), np.bool_)
        found = [
            scalar.apply(self._name, self._kind, values, self._functors.bits) for values in zip(*arguments, strict=True)
        ]
        return self._functors.encode(found, self._result)


# ---- generators


def generate_range(kind: str) -> Callable:
    """Return the generator of `range(from, to[, step])` on a kind: (rows, values) in pieces of at most `room`."""
    dtype = np.float64 if kind == "float" else np.int64

    def generate(operands: Sequence[np.ndarray], room: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        first, last, *given = (np.ascontiguousarray(operand, np.int64).view(dtype) for operand in operands)
        step = given[0] if given else np.where(first > last, -1, 1).astype(dtype)
        counts = range_lengths(first, last, step)
        ends = np.cumsum(counts)
        for lo in range(0, int(ends[-1]), room):
            at = np.arange(lo, min(lo + room, int(ends[-1])))
            row = np.searchsorted(ends, at, side="right")
            values = first[row] + (at - (ends[row] - counts[row])) * step[row]
            inside = np.where(step[row] < 0, values > last[row], values < last[row]) | (step[row] == 0)
            yield row[inside], canonical(values[inside]) if kind == "float" else values[inside]

    return generate


def range_lengths(first: np.ndarray, last: np.ndarray, step: np.ndarray) -> np.ndarray:
    """At least how many values each range has; a step of zero gives the first value alone, unless it is the end."""
    distance = (last.astype(np.float64) - first) / np.where(step == 0, 1, step)
    counts = np.maximum(0, np.ceil(distance) + 1).astype(np.int64)
    return np.where(step == 0, first != last, counts)
