"""Configurations that must give the same relations, some with sizes so small that everything is divided."""

from dataclasses import replace
from typing import NamedTuple

import reference

import engine
from engine import tables
from engine.evaluation.coordination_policy import GLOBAL, CoordinationPolicy, Dws, Ssp
from engine.evaluation.execution import Options

TINY = Options(
    chunk_rows=5,
    buffer_rows=2,
    partition_rows=6,
    split_rows=6,
    delta_rows=1,
    max_bits=5,
    alone_rows=0,
    wave_tasks=3,
    large_rows=0,
    min_sampled=2,
)
EAGER = Options(large_clauses=1, aside_clauses=1, aside_facts=0)
FULL_QUEUES = replace(TINY, exchange_bits=3, queue_batches=1)


class Backend(NamedTuple):
    threads: int
    policy: CoordinationPolicy
    options: Options

    def evaluate(self, program, facts, **options):
        """Return the result of a program on relations of tuples."""
        return engine.evaluate(program, engine.facts(program, facts), **self._asdict(), **options)


ROUNDS = {
    "one thread": Backend(1, GLOBAL, Options()),
    "tiny": Backend(1, GLOBAL, TINY),
    "tiny, two threads": Backend(2, GLOBAL, TINY),
    "copies": Backend(2, GLOBAL, EAGER),
    "second thread": Backend(2, GLOBAL, replace(EAGER, most_copied_bytes=0)),
}
BACKENDS = {
    **ROUNDS,
    "ssp": Backend(3, Ssp(1), FULL_QUEUES),
    "dws": Backend(2, Dws(), FULL_QUEUES),
}


def with_options(**changed):
    """Return the backends with these options changed."""
    return {name: each._replace(options=replace(each.options, **changed)) for name, each in BACKENDS.items()}


def assert_as_the_oracle(program, facts, backends):
    """Evaluate a program on each backend: the relations must be the oracle's. Return these, and the results.

    Evaluated for some relations alone, on the last backend, it must have these.
    """
    expected = reference.evaluate(program, facts)
    asked = list(program.relations)[::2]
    found = tables.decode(program, [*backends.values()][-1].evaluate(program, facts, asked=asked), asked)
    assert all(are_equal(found[relation], expected[relation]) for relation in asked)
    results = []
    for name, backend in backends.items():
        result = backend.evaluate(program, facts)
        results.append(result)
        assert set(result.relations) == set(program.relations), "auxiliary relations are no result"
        found = tables.decode(program, result, program.relations)
        for relation in program.relations:
            assert are_equal(found[relation], expected[relation]), (name, relation)
            assert result.relation(relation).shape[1] == len(expected[relation]), "rows are distinct"
    return expected, results


def are_equal(rows, others):
    """Compare rows, and as text where a NaN is among them, which is equal to itself only as the same object."""
    return rows == others or sorted(map(repr, rows)) == sorted(map(repr, others))
