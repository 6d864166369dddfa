"""Seeded mutations of the product's sources: one small change of meaning each, as a mutation tester makes them.

A mutation replaces a stretch of one file: a comparison, an arithmetic or logical operator, a condition, or a number in
Python; a literal's sign, a comparison, or a whole body literal in Datalog. Which ones are made depends on the seed and
the sources alone (DeMillo, Lipton and Sayward, Hints on test data selection, 1978).
"""

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

AREAS = {
    "planner": ["engine/plan/*.py"],
    "update": ["engine/incremental/*.py"],
    "kernels": ["engine/kernels/*.py"],
    "extractors": ["facts/*.py", "facts/*/*.py"],
    "rules": ["rules/lib/*.dl", "rules/lib/*/*.dl", "rules/checks/*/*.dl"],
    "reports": ["analyzer/*.py", "analyzer/[!b]*/*.py"],
}
OPERATORS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: (" in ", " not in "), ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "), ast.IsNot: (" is not ", " is "),
    ast.And: (" and ", " or "), ast.Or: (" or ", " and "),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"),
}  # fmt: skip
RULE_CHANGES = (
    (re.compile(r"(?<=[,-] )!(?=\w)"), ""),
    (re.compile(r", !?\w+\([^()]*\)(?=[,.])"), ""),
    (re.compile(r"(?<= )!= "), "= "),
    (re.compile(r"(?<= )< (?=\d)"), "<= "),
    (re.compile(r"(?<= )> (?=\d)"), ">= "),
)


@dataclass(frozen=True)
class Mutation:
    """Bytes `start` to `end` of a file, and what stands there instead."""

    area: str
    file: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, top: Path) -> None:
        path = top / self.file
        data = path.read_bytes()
        path.write_bytes(data[: self.start] + self.text.encode() + data[self.end :])


def sample(top: Path, seed: int, n: int) -> list[Mutation]:
    """Return n mutations, as many of each area."""
    chosen = random.Random(seed)
    by_area = {area: chosen.sample(found := list(of_area(top, area)), k=len(found)) for area in AREAS}
    turns = [by_area[area][turn] for turn in range(n) for area in AREAS if turn < len(by_area[area])]
    return turns[:n]


def of_area(top: Path, area: str) -> Iterator[Mutation]:
    """Yield all mutations of an area, in the order of files and places."""
    for pattern in AREAS[area]:
        for path in sorted(top.glob(pattern)):
            data = path.read_bytes()
            changes = in_rules(data.decode()) if path.suffix == ".dl" else in_python(data)
            for start, end, text in changes:
                line = data.count(b"\n", 0, start) + 1
                yield Mutation(area, path.relative_to(top).as_posix(), line, start, end, text)


def in_python(data: bytes) -> Iterator[tuple[int, int, str]]:
    lines = [0]
    for line in data.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def begin(node: ast.AST) -> int:
        return lines[node.lineno - 1] + node.col_offset

    def end(node: ast.AST) -> int:
        return lines[node.end_lineno - 1] + node.end_col_offset

    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Compare):
            yield from between(data, end(node.left), begin(node.comparators[0]), node.ops[0])
        elif isinstance(node, ast.BinOp):
            yield from between(data, end(node.left), begin(node.right), node.op)
        elif isinstance(node, ast.BoolOp):
            yield from between(data, end(node.values[0]), begin(node.values[1]), node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            word = re.compile(rb"not *").match(data, begin(node))  # What is negated may stand in parentheses.
            yield (*word.span(), "")
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield begin(node.test), end(node.test), f"(not ({data[begin(node.test) : end(node.test)].decode()}))"
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield begin(node), end(node), str(node.value + 1)


def between(data: bytes, start: int, end: int, op: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Yield the change of an operator that stands between two operands on one line."""
    old, new = OPERATORS.get(type(op), ("", ""))
    at = data.find(old.encode(), start, end)
    if old and at >= 0 and b"\n" not in data[start:end]:
        yield at, at + len(old), new


def in_rules(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield changes of rules: of lines with a body, outside of comments."""
    at = 0
    for line in text.splitlines(keepends=True):
        body = line.find(":-")
        if body >= 0 and not line.lstrip().startswith("//"):
            for pattern, replacement in RULE_CHANGES:
                for match in pattern.finditer(line, body):
                    start = len(text[: at + match.start()].encode())
                    yield start, start + len(match[0].encode()), replacement
        at += len(line)
