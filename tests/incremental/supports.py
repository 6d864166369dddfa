"""The iterations and supports of tuples by brute force: every instantiation of every rule, one after the other."""

from collections import Counter

from engine.evaluation.execution import Options
from engine.incremental.maintained_stratum import MaintainedStratum
from engine.kernels.iterations import ABSENT
from engine.plan.rule import Absent, Compare, Match

TINY = Options(chunk_rows=5, buffer_rows=2, alone_rows=0, beside_rows=0, min_sampled=2)
COMPARE = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
}


def stored(relation):
    """The iteration and the count of each tuple of a relation that is there."""
    rows = relation.partitions[0].rows[: relation.width]
    return {
        tuple(rows[:, i].tolist()): (int(relation.later[i]), int(relation.count[i]))
        for i in range(relation.n_ids)
        if relation.later[i] != ABSENT
    }


def instantiations(body, tables, bindings):
    """Yield the bindings and the tuples of positive atoms of each way in which a body holds."""
    if not body:
        yield bindings, ()
        return
    literal, *rest = body

    def value(term):
        return term if isinstance(term, int) else bindings[term]

    if isinstance(literal, Match):
        for row in tables[literal.relation]:
            extended = dict(bindings)
            if all(
                t is None or (t if isinstance(t, int) else extended.setdefault(t, v)) == v
                for t, v in zip(literal.terms, row, strict=True)
            ):
                for found, used in instantiations(rest, tables, extended):
                    yield found, ((literal.relation, row), *used)
    elif isinstance(literal, Compare) and literal.op == "=" and literal.left not in bindings:
        yield from instantiations(rest, tables, {**bindings, literal.left: value(literal.right)})
    else:
        if isinstance(literal, Absent):
            holds = tuple(map(value, literal.terms)) not in tables[literal.relation]
        else:
            holds = COMPARE[literal.op](value(literal.left), value(literal.right))
        if holds:
            yield from instantiations(rest, tables, bindings)


def atoms_first(body):
    return sorted(body, key=lambda literal: (not isinstance(literal, Match), isinstance(literal, Absent)))


def check(view, exact):
    """Assert that what a view stores is a fixpoint, with the iterations and counts that it must have."""
    tables = {relation.name: stored(relation) for relation in view.tracked()}
    for stratum in view.strata:
        if not isinstance(stratum, MaintainedStratum):
            continue
        supports = {name: Counter() for name in stratum.names}
        for rule in stratum.rules:
            for bindings, used in instantiations(atoms_first(rule.body), tables, {}):
                head = tuple(t if isinstance(t, int) else bindings[t] for t in rule.head)
                iterations = [tables[name][row][0] if name in stratum.names else 0 for name, row in used]
                supports[rule.relation][head, 1 + max(iterations, default=0)] += 1
                assert head in tables[rule.relation], f"{rule.relation}{head} is derived, and not there"
        for name in stratum.names:
            for head, (iteration, count) in tables[name].items():
                found = {k: n for (row, k), n in supports[name].items() if row == head}
                if iteration == 0:
                    assert count == 1
                elif exact:
                    assert (iteration, count) == (min(found), found[min(found)]), (name, head, found)
                else:
                    assert count == sum(n for k, n in found.items() if k <= iteration) > 0, (name, head, found)
