"""Rules of a scanned repository that never end, or take all there is: they cost themselves, and the scan says so."""

import re
from pathlib import Path

import pytest

from analyzer.evaluation.scan_limits import Limits
from analyzer.scan import ScanRequest, scan_tree
from analyzer.sources.trees import MemoryTree

CHECK = "sql-injection"
VULNERABLE = """\
import sqlite3
from flask import request

def user():
    sqlite3.connect("users.db").execute("SELECT '" + request.args["name"] + "'")
"""
LIMITS = Limits(rule_rows=50_000, rule_s=2.0)
NEVER = {
    "a counter": ".decl n(x: number) n(0). n(x + 1) :- n(x).",
    "rules that feed each other": ".decl m(x: number) .decl n(x: number) m(0). m(x + 1) :- n(x). n(x + 1) :- m(x).",
    "a product of all places": ".decl m(p: Entity, q: Entity, x: number) "
    "m(p, q, x) :- location(p, _, _, _, _, _), location(q, _, _, _, _, _), x = range(0, 1000). "
    ".decl n(x: number) n(x) :- m(_, _, x).",
    "texts that double": '.decl s(t: symbol, x: number) s("ab", 0). s(cat(t, t), x + 1) :- s(t, x). '
    ".decl n(x: number) n(x) :- s(_, x).",
    "records that grow": ".type L = [head: number, tail: L] .decl l(x: L) l(nil). l(y) :- l(x), y = [1, x]. "
    ".decl n(x: number) n(1) :- l(_).",
    "work that derives nothing": ".decl a(x: number) a(x) :- x = range(0, 20000). "
    ".decl n(x: number) n(x) :- a(x), a(y), a(z), x * y - z = -7.",
    "a pattern that backtracks": '.decl n(x: number) n(1) :- match("(?=.)(a|aa)+b", "' + 60 * "a" + '").',
    "rows for the library": ".decl n(x: number) n(x) :- x = range(0, 60000). "
    "call_edge(f, f) :- n(x), f = to_string(x).",
}
"""Rules that take more than their budget, some of them all there is; `n` says that they have begun."""

QUICK = ("rules that feed each other", "rows for the library")


def nested(depth):
    text = "(x = 1 ; x = 2)"
    for _ in range(depth):
        text = f"({text} ; x = 3), (x = 4 ; x = 5)"
    return text


TOO_MUCH_TO_READ = {
    "alternatives in alternatives": f".decl q(x: number) q(x) :- {nested(24)}.",
    "brackets in brackets": f".decl b(x: number) b(x) :- x = {'(' * 5000}1{')' * 5000}.",
    "inlined rules that double": ".decl i0(x: number) inline i0(x) :- x = 1. "
    + " ".join(
        f".decl i{n}(x: number) inline i{n}(x) :- i{n - 1}(x), i{n - 1}(x). i{n}(x) :- i{n - 1}(x), x = {n}."
        for n in range(1, 30)
    )
    + " .decl r(x: number) r(x) :- i29(x).",
    "components that hold themselves": ".comp C { .init a = C .init b = C } .init c = C",
}


READ_ALL_THE_SAME = {"brackets in brackets", "inlined rules that double"}


def scan(rules, limits=LIMITS, **more):
    """Return the report on the vulnerable file, and for each file of rules why it is left out."""
    files = {"app.py": VULNERABLE, **more}
    files |= {f".analyze/models/{number}.dl": text for number, text in enumerate(rules)}
    tree = MemoryTree({path: text.encode() for path, text in files.items()}, "memory")
    report = scan_tree(tree, ScanRequest(Path("."), None, {"rules": (CHECK,)}, limits=limits)).report
    reasons = {int(Path(problem.file).stem): problem.message for problem in report.problems}

    return report, [reasons.get(number, "kept") for number in range(len(rules))]


def used(number, text):
    """Rules are evaluated if a check may need them: here a source does. Each file has names of its own."""
    text = re.sub(r"\b([nmlsaL])\b(?=[(, )\]])", rf"\g<1>{number}", text)
    return f'{text} source_call("http", "never.called") :- n{number}(-1).'


@pytest.mark.parametrize("names", [QUICK, pytest.param(tuple(NEVER), marks=pytest.mark.slow)], ids=("two", "all"))
def test_rules_without_end_are_left_out_whole_and_all_else_is_found(attack, names):
    honest = 'source_call("http", "shop.basket").'
    more = VULNERABLE.replace("from flask import request", "import shop")
    more = more.replace('request.args["name"]', "shop.basket()")
    rules = [used(number, NEVER[name]) for number, name in enumerate(names)]
    report, reasons = scan([*rules, honest], **{"more.py": more})
    for name, reason in zip(names, reasons, strict=False):
        attack(f"rules: {name}", expected="left out: its rules", got=reason[:19])
    attack("rules: honest ones beside these", expected="kept", got=reasons[-1])
    found = [finding.place.file for finding in report.findings]
    got = f"exit {report.exit_code()}, {', '.join(found)}"
    attack("rules: findings beside these", expected="exit 3, app.py, more.py", got=got)


@pytest.mark.slow
def test_rules_that_take_too_long_to_read_are_left_out(attack):
    report, reasons = scan(TOO_MUCH_TO_READ.values())
    for name, reason in zip(TOO_MUCH_TO_READ, reasons, strict=True):
        expected = "kept" if name in READ_ALL_THE_SAME else "left out"
        attack(f"rules: {name}", expected=expected, got=reason.partition(":")[0])
    got = f"exit {report.exit_code()}, {len(report.findings)} finding"
    attack("rules: findings beside these, too", expected="exit 3, 1 finding", got=got)


@pytest.mark.slow
def test_what_honest_rules_derive_is_within_the_defaults():
    """Pairs of places that are near each other."""
    rules = "call_edge(f, g) :- location(_, f, x, _, _, _), location(_, g, y, _, _, _), x = y + 1."
    report, reasons = scan([rules], Limits())
    assert report.exit_code() == 1 and reasons == ["kept"]
