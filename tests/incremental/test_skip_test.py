"""Plans are made for tuples that may take part in a rule, and for these they are."""

import numpy as np

import engine
from engine.database import Database
from engine.incremental.iteration_stamps import Stamper
from engine.incremental.maintained_program import MaintainedProgram

PROGRAM = engine.compile(
    [
        """
        .decl a(x: number)
        .input a
        .decl b(x: number, y: number)
        .input b
        .decl hit(x: number, y: number)
        hit(x, y) :- a(x), b(x, y).
        .decl seven(y: number)
        seven(y) :- hit(7, y).
        """
    ]
)


def test_no_plan_is_made_where_another_atom_or_a_constant_rules_all_tuples_out(monkeypatch):
    view = MaintainedProgram(PROGRAM, Database(), threads=1)
    view.bootstrap({"a": np.array([[1]]), "b": np.array([[1, 7, 7, 8] * 20, range(80)])})
    planned = []
    plan = Stamper.plan
    monkeypatch.setattr(
        Stamper, "plan", lambda self, rule, *rest: planned.append(rule.relation) or plan(self, rule, *rest)
    )
    view.update({"a": np.array([[2, 3]])}, {})
    assert planned == []  # No b(2, _) and no b(3, _).
    view.update({"a": np.array([[8, 9]])}, {})
    assert planned == ["hit"]  # seven wants hit(7, _).
    view.update({"a": np.array([[7]])}, {})
    assert set(planned) == {"hit", "seven"}
    assert view.columns("seven").shape == (1, 40)
    view.update({}, {"a": np.array([[7]])})
    assert view.columns("seven").shape == (1, 0)
