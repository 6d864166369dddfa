"""Functors and predicates on columns.

Values are defined for every argument or not at all: a row for which a functor has no value (division by zero, a text
that is no number) derives nothing, whatever the join order. Integers wrap at 32 bits (64 with `--number-width 64`).
Division truncates towards zero. Functions of texts run once per distinct argument.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from threading import Lock

import numpy as np

from engine.database import EvaluationError
from engine.storage.keys import HashedKeys
from engine.symbols import Symbols

Values = np.ndarray | int
NATIVE = {"number": np.int64, "unsigned": np.uint64, "float": np.float64}

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
    return np.asarray(value, np.int64).view(NATIVE.get(kind, np.int64))


class Functors:
    """The functors of one evaluation: their width of integers and their symbol table."""

    def __init__(self, number_bits: int, symbols: Symbols) -> None:
        self.bits, self.symbols = number_bits, symbols

    # ---- predicates

    def predicate(self, op: str, kind: str) -> Callable[..., np.ndarray]:
        """Return the function of two columns that says where `left op right` holds."""
        if op in ("=", "!=") and kind != "float":
            return COMPARISONS[op]
        if kind == "symbol":
            return TextPredicate(TEXT_PREDICATES.get(op) or COMPARISONS[op], self.symbols)
        compare = COMPARISONS[op]
        return compare if kind == "number" else lambda a, b: compare(native(a, kind), native(b, kind))

    # ---- functors

    def functor(self, name: str, kind: str, result: str) -> Callable[..., tuple]:
        """Return the function from columns to (values, where they are defined or None for everywhere)."""
        if name in TEXT_FUNCTORS:
            return TextFunctor(TEXT_FUNCTORS[name], self)
        if name in ("min", "max") and kind == "symbol":
            choose = min if name == "min" else max
            return TextFunctor((lambda *texts: choose(texts), None, "symbol"), self)
        if name in ("ord", "as"):
            return lambda value: (self.wrap(native(value, result), result), None)
        if name in CONVERSIONS:
            source, target = CONVERSIONS[name]
            return lambda value: self.convert(native(value, source), target)
        if name not in ARITHMETIC:
            raise EvaluationError(f"the functor {name} is not evaluated yet")
        function = ARITHMETIC[name]
        return lambda *args: self.finish(function(*[native(a, kind) for a in args], self.bits), kind)

    def finish(self, result: np.ndarray | tuple, kind: str) -> tuple:
        values, defined = result if isinstance(result, tuple) else (result, None)
        return self.wrap(values, kind), defined

    def wrap(self, values: np.ndarray, kind: str) -> np.ndarray:
        """Return values of a kind as they stand in a column."""
        if kind == "float":
            return np.asarray(values, np.float64).view(np.int64)
        if self.bits == 64:
            return values.view(np.int64) if values.dtype == np.uint64 else values
        return (values & 0xFFFFFFFF).view(np.int64) if kind == "unsigned" else values.astype(np.int32)

    def convert(self, values: np.ndarray, target: str) -> tuple:
        """Convert numbers: floats truncate towards zero and must fit, integers wrap."""
        if values.dtype != np.float64 or target == "float":
            return self.wrap(values.astype(NATIVE[target]), target), None
        low, high = (0, 2**self.bits) if target == "unsigned" else (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1))
        whole = np.trunc(values)
        defined = (whole >= low) & (whole < high)
        return self.wrap(np.where(defined, whole, 0).astype(NATIVE[target]), target), defined

    def parse(self, text: str, target: str) -> int | None:
        """The number of kind `target` that a text spells, as it stands in a column."""
        try:
            if target == "float":
                return int(np.float64(text).view(np.int64))
            number = int(text, 0)
        except ValueError:
            return None
        low, high = (0, 2**self.bits) if target == "unsigned" else (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1))
        return number if low <= number < high else None


# ---- arithmetic


def divide(a: np.ndarray, b: np.ndarray, bits: int) -> tuple:
    if a.dtype == np.float64:
        with np.errstate(all="ignore"):
            return np.asarray(a / b), None
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    quotient = a // safe
    if a.dtype == np.int64:
        quotient = quotient + ((quotient < 0) & (quotient * safe != a))
    return quotient, b != 0


def remainder(a: np.ndarray, b: np.ndarray, bits: int) -> tuple:
    quotient, defined = divide(a, b, bits)
    return a - quotient * b, defined


def power(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """a to the b; an integer power wraps, and is truncated towards zero for a negative exponent."""
    if a.dtype == np.float64:
        with np.errstate(all="ignore"):
            return np.power(a, b)
    a, b = np.broadcast_arrays(a, b)
    negative = b < 0
    result = np.power(a, np.where(negative, 0, b).astype(a.dtype))
    ones = np.where(a == 1, 1, np.where(a == -1, 1 - 2 * (b & 1), 0)) if a.dtype == np.int64 else 0
    return np.where(negative, ones, result).astype(a.dtype)


def shift(function: Callable) -> Callable:
    """A shift by the exponent modulo the width."""
    return lambda a, b, bits: function(a, b & np.asarray(bits - 1).astype(b.dtype))


def shift_right_unsigned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a.view(np.uint64) >> b.view(np.uint64)).view(a.dtype)


def logical(function: Callable) -> Callable:
    return lambda *args: np.asarray(function(*[a != 0 for a in args[:-1]])).astype(args[0].dtype)


def negate(a: np.ndarray, bits: int) -> np.ndarray:
    return -a


ARITHMETIC: dict[str, Callable] = {
    "+": lambda a, b, bits: a + b,
    "-": lambda a, b, bits: a - b,
    "*": lambda a, b, bits: a * b,
    "/": divide,
    "%": remainder,
    "^": power,
    "neg": negate,
    "band": lambda a, b, bits: a & b,
    "bor": lambda a, b, bits: a | b,
    "bxor": lambda a, b, bits: a ^ b,
    "bnot": lambda a, bits: ~a,
    "bshl": shift(np.left_shift),
    "bshr": shift(np.right_shift),
    "bshru": shift(shift_right_unsigned),
    "land": logical(np.logical_and),
    "lor": logical(np.logical_or),
    "lxor": logical(np.logical_xor),
    "lnot": logical(np.logical_not),
    "min": lambda *args: reduce(np.minimum, args[:-1]),
    "max": lambda *args: reduce(np.maximum, args[:-1]),
}

KINDS = {"i": "number", "u": "unsigned", "f": "float"}
CONVERSIONS = {f"{s}to{t}": (KINDS[s], KINDS[t]) for s in KINDS for t in KINDS if s != t}


# ---- texts


def substring(text: str, start: int, length: int) -> str | None:
    """The part of a text from a position on; none where the position is outside or the length negative."""
    return text[start : start + length] if 0 <= start <= len(text) and length >= 0 else None


TEXT_FUNCTORS: dict[str, tuple[Callable, tuple[str, ...] | None, str]] = {
    "cat": (lambda *texts: "".join(texts), None, "symbol"),
    "strlen": (len, ("symbol",), "number"),
    "substr": (substring, ("symbol", "number", "number"), "symbol"),
    "itos": (str, ("number",), "symbol"),
    "utos": (str, ("unsigned",), "symbol"),
    "ftos": (repr, ("float",), "symbol"),
    "stoi": (None, ("symbol",), "number"),
    "stou": (None, ("symbol",), "unsigned"),
    "stof": (None, ("symbol",), "float"),
}
"""Function, kinds of its arguments (None: all symbols), kind of its value; `sto…` are parsed by `Functors.parse`."""

TEXT_PREDICATES: dict[str, Callable[[str, str], bool]] = {
    "match": lambda pattern, text: re.fullmatch(pattern, text) is not None,
    "not_match": lambda pattern, text: re.fullmatch(pattern, text) is None,
    "contains": lambda part, text: part in text,
    "not_contains": lambda part, text: part not in text,
}


class Memo:
    """A function of texts, run once per distinct row of arguments. Safe to share between threads."""

    def __init__(self) -> None:
        self._keys: HashedKeys | None = None
        self._results = np.empty(0, np.int64)
        self._defined = np.empty(0, np.bool_)
        self._lock = Lock()

    def __call__(self, *operands: Values) -> tuple[np.ndarray, np.ndarray]:
        rows = np.array(np.broadcast_arrays(*np.atleast_1d(*operands, np.zeros(1)))[:-1], np.int64)
        with self._lock:
            if self._keys is None:
                self._keys = HashedKeys(len(rows), np.dtype(np.int64))
            ids = self._keys.intern(rows, 0, rows.shape[1], np.arange(len(rows)))
            known = len(self._results)
            if self._keys.n > known:
                results, defined = self.evaluate(self._keys.columns[:, known : self._keys.n])
                self._results = np.concatenate([self._results, results])
                self._defined = np.concatenate([self._defined, defined])
            return self._results[ids], self._defined[ids]

    def evaluate(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values for distinct arguments and where they are defined."""
        raise NotImplementedError


class TextPredicate(Memo):
    """A predicate of two texts."""

    def __init__(self, function: Callable[[str, str], bool], symbols: Symbols) -> None:
        super().__init__()
        self._function, self._symbols = function, symbols

    def __call__(self, *operands: Values) -> np.ndarray:
        return super().__call__(*operands)[0].astype(np.bool_)

    def evaluate(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        texts = (self._symbols.texts(column) for column in columns)
        try:
            found = np.array([self._function(*pair) for pair in zip(*texts, strict=True)], np.int64)
        except re.error as error:
            raise EvaluationError(f"bad regular expression {error.pattern!r}: {error}") from None
        return found, np.ones(len(found), np.bool_)


class TextFunctor(Memo):
    """A functor from or to texts."""

    def __init__(self, described: tuple[Callable, Sequence[str] | None, str], functors: Functors) -> None:
        super().__init__()
        self._function, self._kinds, self._result = described
        self._functors = functors
        if self._function is None:
            self._function = lambda text: functors.parse(text, self._result)

    def evaluate(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kinds = self._kinds or ("symbol",) * len(columns)
        arguments = list(self._arguments(columns, kinds))
        found = [self._function(*values) for values in zip(*arguments, strict=True)]
        defined = np.array([value is not None for value in found], np.bool_)
        if self._result == "symbol":
            return self._functors.symbols.intern("" if v is None else v for v in found).astype(np.int64), defined
        return np.array([0 if v is None else v for v in found], np.int64), defined

    def _arguments(self, columns: np.ndarray, kinds: Sequence[str]) -> Iterator[list]:
        for column, kind in zip(columns, kinds, strict=True):
            if kind == "symbol":
                yield self._functors.symbols.texts(column)
            else:
                yield native(np.ascontiguousarray(column), kind).tolist()


# ---- generators


def generate_range(kind: str) -> Callable:
    """Return the generator of `range(from, to[, step])` on a kind: (rows, values) in pieces of at most `room`."""

    def generate(operands: Sequence[np.ndarray], room: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        first, last = (native(np.ascontiguousarray(a, np.int64), kind) for a in operands[:2])
        if len(operands) == 3:
            step = native(np.ascontiguousarray(operands[2], np.int64), kind)
        else:
            step = np.where(first <= last, 1, -1).astype(first.dtype)
        counts = range_lengths(first, last, step)
        ends = np.cumsum(counts)
        for lo in range(0, int(ends[-1]), room):
            at = np.arange(lo, min(lo + room, int(ends[-1])))
            row = np.searchsorted(ends, at, side="right")
            nth = (at - (ends[row] - counts[row])).astype(first.dtype)
            yield row, (first[row] + nth * step[row]).view(np.int64)

    return generate


def range_lengths(first: np.ndarray, last: np.ndarray, step: np.ndarray) -> np.ndarray:
    """How many values each range has; a step of zero gives the first value alone, unless the range is empty."""
    distance = (last.astype(np.float64) - first.astype(np.float64)) / np.where(step == 0, 1, step).astype(np.float64)
    counts = np.maximum(0, np.ceil(distance)).astype(np.int64)
    return np.where(step == 0, (first != last).astype(np.int64), counts)
