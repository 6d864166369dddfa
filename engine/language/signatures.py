"""Signatures of the intrinsic functors, their overloads, and the monomorphic names evaluators see.

Evaluators meet these names (`Functor.name`), with `Functor.kind` the kind operated on where there are several:
`+ - * / % ^ neg band bor bxor bnot bshl bshr bshru land lor lxor lnot min max` on numeric kinds (`min max` on symbols
too), `cat strlen substr ord range autoinc`, and the conversions `itos utos ftos stoi stou stof itou itof utoi utof ftoi
ftou` (i number, u unsigned, f float, s symbol). `as` is left where bits are read as another numeric kind: `kind` is the
source's, `type_argument` the target's.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.language.syntax import Functor

NUMERIC = ("number", "unsigned", "float")
INTEGRAL = ("number", "unsigned")
LETTERS = {"number": "i", "unsigned": "u", "float": "f", "symbol": "s"}
KINDS = {letter: kind for kind, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature; a variadic one takes one or more arguments of the kind `parameters[0]`."""

    parameters: tuple[str, ...]
    result: str
    variadic: bool = False

    def accepts(self, n_arguments: int) -> bool:
        return n_arguments >= 1 if self.variadic else n_arguments == len(self.parameters)

    def parameter(self, position: int) -> str:
        return self.parameters[0 if self.variadic else position]


def _same(kinds: tuple[str, ...], arity: int) -> tuple[Overload, ...]:
    return tuple(Overload((kind,) * arity, kind) for kind in kinds)


def _conversions(result: str) -> tuple[Overload, ...]:
    return tuple(Overload((kind,), result) for kind in ("number", "unsigned", "float", "symbol"))


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "+": (*_same(NUMERIC, 2), Overload(("symbol", "symbol"), "symbol")),
    **{name: _same(NUMERIC, 2) for name in ("-", "*", "/", "^")},
    **{name: _same(INTEGRAL, 2) for name in ("%", "band", "bor", "bxor", "bshl", "bshr", "bshru")},
    **{name: _same(INTEGRAL, 2) for name in ("land", "lor", "lxor")},
    **{name: _same(INTEGRAL, 1) for name in ("bnot", "lnot")},
    "neg": _same(("number", "float"), 1),
    **{name: tuple(Overload((k,), k, True) for k in (*NUMERIC, "symbol")) for name in ("min", "max")},
    "range": _same(NUMERIC, 2) + _same(NUMERIC, 3),
    "cat": (Overload(("symbol",), "symbol", True),),
    "strlen": (Overload(("symbol",), "number"),),
    "substr": (Overload(("symbol", "number", "number"), "symbol"),),
    "ord": tuple(Overload((kind,), "number") for kind in (*NUMERIC, "symbol", "record", "adt")),
    "autoinc": (Overload((), "number"),),
    **{f"to_{kind}": _conversions(kind) for kind in NUMERIC},
    "to_string": _conversions("symbol"),
    **{
        f"{LETTERS[source]}to{LETTERS[target]}": (Overload((source,), target),)
        for source in NUMERIC
        for target in NUMERIC
        if source != target
    },
}

INFIX = frozenset("+ - * / % ^ band bor bxor bshl bshr bshru land lor lxor".split())


def result_kind(functor: Functor) -> str:
    """Return the kind of the value of a monomorphic functor."""
    if functor.name == "as":
        return functor.type_argument or ""
    if functor.name in ("strlen", "ord", "autoinc"):
        return "number"
    if functor.name in ("cat", "substr"):
        return "symbol"
    source, to, target = functor.name.partition("to")
    if to and source in KINDS and target in KINDS:
        return KINDS[target]
    return functor.kind


def arities(name: str) -> str:
    """Return in words how many arguments a functor takes."""
    if any(overload.variadic for overload in OVERLOADS[name]):
        return "one or more arguments"
    counts = sorted({len(overload.parameters) for overload in OVERLOADS[name]})
    text = " or ".join(map(str, counts))
    return f"{text} argument{'' if counts == [1] else 's'}"


def conversion(name: str, source: str) -> str | None:
    """Return the monomorphic name of `to_…` applied to a kind; None where it changes nothing."""
    target = {"to_string": "symbol"}.get(name) or name.removeprefix("to_")
    return None if source == target else f"{LETTERS[source]}to{LETTERS[target]}"
