"""Random programs in the language that Datalyze and Soufflé have in common.

Every program ends: values that functors make in recursion are bounded. Each is a few relations that build on one
another, and all relations are outputs. Where the two engines are documented to differ (docs/datalog.md), programs keep
away: no division by zero, no floats or ids of records made into text, no order of texts beyond ASCII.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

PRELUDE = """
.type Name <: symbol
.type Pair = [first: number, second: number]
.type List = [head: number, tail: List]
.type Shape = Circle { radius: number } | Box { width: number, height: number } | Named { name: symbol } | Nothing {}
.decl n1(x: number)
.decl n2(x: number, y: number)
.decl n3(x: number, y: number, z: number)
.decl s1(s: symbol)
.decl sn(s: symbol, x: number)
.decl u2(x: unsigned, y: unsigned)
.decl f2(x: float, n: number)
.decl pairs(p: Pair, n: number)
.decl lists(l: List)
.decl shapes(s: Shape, n: number)
.comp Closure<T> {
  .decl step(x: T, y: T)
  .decl path(x: T, y: T)
  path(x, y) :- step(x, y).
  path(x, z) :- path(x, y), step(y, z).
}
.init numbers = Closure<number>
.init names = Closure<symbol>
numbers.step(x, y) :- n2(x, y).
names.step(s, cat(s, "!")) :- s1(s).
.decl double(x: number, y: number) inline
double(x, y) :- y = x * 2, x < 1000.
.decl linked(x: number, y: number) inline
linked(x, y) :- n2(x, z), n2(z, y).
"""
KINDS = ("number", "symbol", "unsigned", "float", "Pair", "Shape")
BASE = {
    "n1": ("number",),
    "n2": ("number", "number"),
    "n3": ("number", "number", "number"),
    "s1": ("symbol",),
    "sn": ("symbol", "number"),
    "u2": ("unsigned", "unsigned"),
    "f2": ("float", "number"),
    "pairs": ("Pair", "number"),
    "shapes": ("Shape", "number"),
    "numbers.path": ("number", "number"),
    "names.path": ("symbol", "symbol"),
    "double": ("number", "number"),
    "linked": ("number", "number"),
}
TEXTS = ("", "a", "b", "ab", "ba", "abc", "x1", "12", "-7", "A", "a b")
BRANCHES = {"Circle": ("number",), "Box": ("number", "number"), "Named": ("symbol",), "Nothing": ()}
COMPUTED = {
    "number": ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / 3", "{0} % 4", "{0} band {1}", "{0} bor {1}",
               "{0} bxor {1}", "bnot {0}", "-{0}", "max({0}, {1})", "min({0}, {1}, 2)", "{0} bshl 2", "{0} bshr 1",
               "{0} bshru 1", "{0} land {1}", "{0} lor {1}", "lnot {0}", "({0} band 3) ^ 2", "strlen({2})",
               "ord({0})"),
    "unsigned": ("{3} + {3}", "{3} * 2u", "{3} - 1u", "{3} / 2u", "{3} % 3u", "{3} band 6u", "to_unsigned({0})",
                 "{3} bshl 1u", "max({3}, 4u)"),
    "float": ("{4} + 0.5", "{4} * 2.0", "{4} - {4}", "{4} / 4.0", "to_float({0})", "max({4}, 0.25)"),
    "symbol": ("cat({2}, {2})", 'cat({2}, "z")', "substr({2}, 0, 1)", "to_string({0})", "min({2}, {2})",
               'max({2}, "b")', "substr({2}, 1, 2)"),
}  # fmt: skip
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass
class Made:
    """A program: its text, and the columns of the relations it gives out."""

    text: str
    outputs: dict[str, tuple[str, ...]]


@dataclass
class Body:
    """A body in the making: its literals, and the variables that it binds, by kind."""

    literals: list[str] = field(default_factory=list)
    bound: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})


class Generator:
    """Makes one program. `relations` are those that may be read so far."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.relations = dict(BASE)
        self.lines = [PRELUDE, *self.facts()]
        self.outputs: dict[str, tuple[str, ...]] = {}
        self.n_variables = 0

    def program(self, n_relations: int) -> Made:
        for number in range(n_relations):
            self.random.choice((self.plain, self.plain, self.plain, self.recursive, self.equivalence))(f"r{number}")
        if len(self.outputs) > 1 and self.random.random() < 0.2:
            self.outputs = dict([self.outputs.popitem()])
            self.lines.append('.pragma "magic-transform" "*"')
        self.lines += [f".output {name}" for name in self.outputs]
        return Made("\n".join(self.lines) + "\n", self.outputs)

    # ---- facts

    def constant(self, kind: str) -> str:
        r = self.random
        match kind:
            case "number":
                return str(r.choice((*range(-2, 6), r.randint(-20, 20), 2147483647)))
            case "unsigned":
                return f"{r.choice((0, 1, 2, 3, 5, 4294967295))}u"
            case "float":
                return r.choice(("0.5", "1.5", "-2.25", "3.0", "100.0"))
            case "symbol":
                return f'"{r.choice(TEXTS)}"'
            case "Pair":
                return "nil" if r.random() < 0.1 else f"[{self.constant('number')}, {self.constant('number')}]"
        branch, fields = r.choice(list(BRANCHES.items()))
        return f"${branch}({', '.join(map(self.constant, fields))})" if fields else f"${branch}()"

    def facts(self) -> list[str]:
        lines = ["lists(nil)."] + [f"lists([{self.constant('number')}, nil])." for _ in range(2)]
        for name, kinds in BASE.items():
            if "." not in name and name not in ("double", "linked"):
                n = self.random.randint(0, 6)
                lines += [f"{name}({', '.join(map(self.constant, kinds))})." for _ in range(n)]
        return lines

    # ---- terms

    def variable(self, body: Body, kind: str) -> str:
        """A variable that is bound already, if possible, or a new one."""
        known = body.bound[kind]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)
        self.n_variables += 1
        name = f"v{self.n_variables}"
        known.append(name)
        return name

    def known(self, body: Body, kind: str) -> str:
        """A variable that is bound, or a constant."""
        known = body.bound[kind]
        return self.random.choice(known) if known and self.random.random() < 0.9 else self.constant(kind)

    def term(self, body: Body, kind: str) -> str:
        """An argument of a positive atom."""
        chance = self.random.random()
        if chance < 0.12:
            return "_"
        if chance < 0.2:
            return self.constant(kind)
        if kind == "Pair" and chance < 0.5:
            return f"[{self.term(body, 'number')}, {self.term(body, 'number')}]"
        if kind == "Shape" and chance < 0.5:
            branch, fields = self.random.choice([(b, f) for b, f in BRANCHES.items() if f])
            return f"${branch}({', '.join(self.term(body, field) for field in fields)})"
        return self.variable(body, kind)

    def value(self, body: Body, kind: str) -> str:
        """A term that is computed from what is bound."""
        if kind in COMPUTED and self.random.random() < 0.4:
            numbers = self.known(body, "number"), self.known(body, "number")
            rest = self.known(body, "symbol"), self.known(body, "unsigned"), self.known(body, "float")
            return self.random.choice(COMPUTED[kind]).format(*(f"({x})" if x[:1] == "-" else x for x in numbers), *rest)
        if kind == "Pair" and self.random.random() < 0.4:
            return f"[{self.known(body, 'number')}, {self.known(body, 'number')}]"
        return self.known(body, kind)

    # ---- literals

    def atom(self, body: Body, name: str | None = None) -> None:
        name = name or self.random.choice(list(self.relations))
        kinds = self.relations[name]
        if name in ("double", "linked"):
            arguments = [self.known(body, "number"), self.variable(body, "number")]
            if name == "double" and not body.bound["number"][:-1]:
                arguments[0] = self.constant("number")
        else:
            arguments = [self.term(body, kind) for kind in kinds]
        body.literals.append(f"{name}({', '.join(arguments)})")

    def negated(self, body: Body) -> None:
        name = self.random.choice([name for name in self.relations if name not in ("double", "linked")])
        arguments = ["_" if self.random.random() < 0.2 else self.known(body, kind) for kind in self.relations[name]]
        body.literals.append(f"!{name}({', '.join(arguments)})")

    def comparison(self, body: Body) -> None:
        kind = self.random.choice([kind for kind in KINDS if body.bound[kind]] or ["number"])
        operators = COMPARISONS if kind in ("number", "unsigned", "float", "symbol") else ("=", "!=")
        left, right = self.known(body, kind), self.value(body, kind)
        if not body.bound[kind]:
            left = "1"
        body.literals.append(f"{left} {self.random.choice(operators)} {right}")

    def equation(self, body: Body) -> None:
        kind = self.random.choice(KINDS)
        value = self.value(body, kind)
        self.n_variables += 1
        name = f"v{self.n_variables}"
        body.literals.append(f"{name} = {value}" if kind != "unsigned" else f"{name} = {value}, u2({name}, _)")
        body.bound[kind].append(name)

    def matched(self, body: Body) -> None:
        pattern = self.random.choice(("a.*", "[ab]+", ".*b", "x?.*", "[0-9]+"))
        test = self.random.choice((f'match("{pattern}", {{0}})', 'contains("a", {0})', '!contains("b", {0})'))
        if body.bound["symbol"]:
            body.literals.append(test.format(self.random.choice(body.bound["symbol"])))

    def aggregate(self, body: Body, depth: int = 0) -> None:
        """An aggregate over one to two atoms; variables of the body around it may stand in it."""
        inner = Body([], {kind: [*names[:2]] for kind, names in body.bound.items()})
        inlined = ("double", "linked")
        numbers = [n for n, kinds in self.relations.items() if kinds[-1:] == ("number",) and n not in inlined]
        fresh = []
        for _ in range(self.random.randint(1, 2)):
            name = self.random.choice(numbers)
            self.n_variables += 1
            fresh.append(f"v{self.n_variables}")
            kinds = self.relations[name]
            arguments = [self.term(inner, kind) for kind in kinds[:-1]]
            inner.literals.append(f"{name}({', '.join([*arguments, fresh[-1]])})")
        if depth < 1 and self.random.random() < 0.25:
            nested = Body([], {kind: [] for kind in KINDS})
            self.aggregate(nested, depth + 1)
            inner.literals += nested.literals
            inner.literals.append(f"{fresh[0]} {self.random.choice(COMPARISONS)} {nested.bound['number'][-1]}")
        elif self.random.random() < 0.4:
            inner.literals.append(f"{fresh[0]} {self.random.choice(COMPARISONS)} {self.known(body, 'number')}")
        kind = self.random.choice(("count", "sum", "min", "max"))
        target = "" if kind == "count" else f" {fresh[0]}"
        self.n_variables += 1
        result = f"v{self.n_variables}"
        body.literals.append(f"{result} = {kind}{target} : {{ {', '.join(inner.literals)} }}")
        body.bound["number"].append(result)

    # ---- rules

    def body(self, name: str | None = None) -> Body:
        body = Body()
        for _ in range(self.random.randint(1, 3)):
            self.atom(body)
        if name is not None:
            self.atom(body, name)
        return body

    def extended(self, body: Body) -> Body:
        more = (self.negated, self.comparison, self.comparison, self.equation, self.matched, self.aggregate)
        for _ in range(self.random.randint(0, 3)):
            self.random.choice(more)(body)
        return body

    def plain(self, name: str) -> None:
        kinds = tuple(self.random.choice(KINDS) for _ in range(self.random.randint(0, 3)))
        self.declare(name, kinds)
        for _ in range(self.random.randint(1, 2)):
            body = self.extended(self.body())
            head = ", ".join(self.value(body, kind) for kind in kinds)
            self.lines.append(f"{name}({head}) :- {self.text(body)}.")
        self.enter(name, kinds)

    def recursive(self, name: str) -> None:
        """A relation of pairs of numbers within bounds, mutually recursive with another."""
        kinds, other = ("number", "number"), f"{name}b"
        self.declare(name, kinds)
        self.declare(other, kinds)
        self.lines.append(f"{name}(x, y) :- n2(x, y).")
        known = dict(self.relations)
        for head, read in ((name, other), (other, name), (name, name)):
            self.relations |= {read: kinds}
            body = self.body(read)
            self.relations = dict(known)
            self.comparison(body)
            values = [self.known(body, "number") for _ in range(2)]
            if self.random.random() < 0.4:
                values[0] = f"({values[0]} + 1) % 7"
            self.lines.append(f"{head}({', '.join(values)}) :- {self.text(body)}.")
        self.enter(name, kinds)
        self.enter(other, kinds)

    def equivalence(self, name: str) -> None:
        kind = self.random.choice(("number", "symbol"))
        self.declare(name, (kind, kind), " eqrel")
        for _ in range(self.random.randint(1, 2)):
            body = self.body()
            self.lines.append(f"{name}({self.known(body, kind)}, {self.known(body, kind)}) :- {self.text(body)}.")
        self.enter(name, (kind, kind))

    def text(self, body: Body) -> str:
        if len(body.literals) > 2 and self.random.random() < 0.15:
            first, *rest = body.literals
            return f"{first}, {', '.join(rest[:-1])}, ({rest[-1]} ; {rest[-1]}, 1 = 1)"
        return ", ".join(body.literals)

    def declare(self, name: str, kinds: tuple[str, ...], qualifiers: str = "") -> None:
        columns = ", ".join(f"c{i}: {kind}" for i, kind in enumerate(kinds))
        self.lines.append(f".decl {name}({columns}){qualifiers}")

    def enter(self, name: str, kinds: tuple[str, ...]) -> None:
        self.relations[name] = self.outputs[name] = kinds


def generate(seed: int, n_relations: int = 8) -> Made:
    """Return the program of a seed."""
    return Generator(seed).program(n_relations)
