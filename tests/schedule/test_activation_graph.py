"""The graph of strata: with further ones it is that of all of them."""

from hypothesis import given
from hypothesis import strategies as st

from engine.schedule.activation_graph import strata_of

STRATA = st.lists(st.lists(st.integers(0, 40), max_size=4), max_size=12)
"""What each stratum reads, as numbers of relations, modulo those that there are."""


@given(STRATA, st.integers(0, 12))
def test_a_graph_with_further_strata_is_that_of_all(reads, n_own):
    written = [[f"r{node}", f"s{node}"] if node % 3 else [f"r{node}"] for node in range(len(reads))]
    names = [name for own in written for name in own]
    read = []
    for node, numbers in enumerate(reads):
        known = [name for own in written[: node + 1] for name in own]
        read.append([known[number % len(known)] for number in numbers])
    whole = strata_of(written, read)
    made = strata_of(written[:n_own], read[:n_own]).extended(written[n_own:], read[n_own:])
    assert (made.writer, made.readers) == (whole.writer, whole.readers)
    for part in ("n", "children", "parents", "levels", "n_levels", "n_edges"):
        assert getattr(made.dag, part) == getattr(whole.dag, part)
    assert made.activated(names) == whole.activated(names)


@given(STRATA)
def test_a_graph_stays_as_it_is_when_it_is_extended(reads):
    written = [[f"r{node}"] for node in range(len(reads))]
    read = [[f"r{number % (node + 1)}" for number in numbers] for node, numbers in enumerate(reads)]
    base, twin = strata_of(written, read), strata_of(written, read)
    base.extended([["new"]], [[name for own in written for name in own]])
    assert (base.writer, base.readers, base.dag.children) == (twin.writer, twin.readers, twin.dag.children)
