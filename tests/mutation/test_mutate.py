"""Mutations are changes of meaning that still can be read, the same for a seed."""

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mutate import AREAS, in_python, in_rules, sample  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
CODE = b"""\
def f(a, b):
    if not a and b < 3:
        return "\xc3\xa9", a + b
    return a is not None
"""


def test_mutations_of_python_change_operators_conditions_and_numbers():
    made = {CODE[start:end]: text for start, end, text in in_python(CODE)}
    assert made == {
        b"not a and b < 3": "(not (not a and b < 3))", b" and ": " or ", b"not ": "", b"<": "<=", b"3": "4", b"+": "-",
        b" is not ": " is ",
    }  # fmt: skip
    for start, end, text in in_python(CODE):
        changed = CODE[:start] + text.encode() + CODE[end:]
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(CODE))


def test_what_is_negated_in_parentheses_can_be_read_without_the_negation():
    code = b"x = not (a or b)\n"
    changed = {(code[:start] + text.encode() + code[end:]).decode() for start, end, text in in_python(code)}
    assert changed == {"x = (a or b)\n", "x = not (a and b)\n"}


def test_mutations_of_rules_change_literals():
    rule = "// a(x) :- !b(x), c(x).\na(x) :- b(x, y), !c(x), y != z, y < 3.\n"
    changed = {rule[:start] + text + rule[end:] for start, end, text in in_rules(rule)}
    bodies = {text.partition("\n")[2].partition(":- ")[2].strip() for text in changed}
    assert bodies == {
        "b(x, y), c(x), y != z, y < 3.", "b(x, y), y != z, y < 3.", "b(x, y), !c(x), y = z, y < 3.",
        "b(x, y), !c(x), y != z, y <= 3.",
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_a_seed_gives_the_same_mutations_of_every_area(seed):
    made = sample(TOP, seed, 60)
    assert made == sample(TOP, seed, 60)
    assert {area: sum(m.area == area for m in made) for area in AREAS} == dict.fromkeys(AREAS, 10)
    for mutation in made:
        data = (TOP / mutation.file).read_bytes()
        changed = data[: mutation.start] + mutation.text.encode() + data[mutation.end :]
        if mutation.file.endswith(".py"):
            ast.parse(changed)
