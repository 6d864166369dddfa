"""The workloads of the benchmark: which program, on which facts, against whom, and what is known of the answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import code_facts
import counts
import graphs
import java_facts
import numpy as np

PROGRAMS = Path(__file__).parent / "programs"
Facts = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Workload:
    """A program on generated facts.

    `facts` takes the scale: 1 is the size the name says, a tenth of it has about a tenth of the facts. `aim` is the
    ratio to be reached against `peers`: at least so many times as fast as Soufflé, at most so many times as slow as the
    program written by hand. `expected` maps relations to their number of rows, found by another algorithm. `published`
    are figures from the papers.
    """

    name: str
    program: str
    facts: Callable[[float], Facts]
    peers: tuple[str, ...] = ("souffle",)
    aim: float | None = None
    expected: Callable[[Facts], Mapping[str, int]] | None = None
    published: str = ""
    large: bool = False

    def source(self) -> str:
        return (PROGRAMS / f"{self.program}.dl").read_text()


def arcs(generate, *sizes, weighted=False, undirected=False):
    """Facts `arc` of a generator whose sizes grow with the scale."""

    def facts(scale):
        found = generate(*(max(2, round(size * scale)) for size in sizes))
        found = graphs.undirected(found) if undirected else found
        return {"arc": graphs.weighted(found) if weighted else found}

    return facts


def gnp(n):
    """Arcs with probability 0.001; a smaller graph keeps the degree of its nodes."""
    return lambda scale: {"arc": graphs.gnp(round(n * scale**0.5), 0.001 / scale**0.5)}


def grid(k):
    return lambda scale: {"arc": graphs.grid(max(3, round(k * scale**0.5)))}


def rmat(n, degree=10, **kind):
    return arcs(graphs.rmat, n, n * degree, **kind)


def ranks(n):
    return lambda scale: graphs.ranked(graphs.rmat(round(n * scale), round(10 * n * scale)))


def sized(generate, n):
    return lambda scale: generate(max(40, round(n * scale)))


SQL = ("souffle", "duckdb")
BY_HAND = ("by_hand", "duckdb")
WORKLOADS = (
    Workload("tc-g5k", "tc", gnp(5000), SQL, aim=20, expected=counts.closure),
    Workload("tc-g10k", "tc", gnp(10_000), SQL, aim=20, expected=counts.closure),
    Workload("tc-grid151", "tc", grid(151), SQL, aim=20, expected=counts.grid_closure),
    Workload("tc-tree1m", "tc", arcs(graphs.tree, 1_000_000), SQL, aim=20, expected=counts.tree_closure),
    Workload(
        "tc-grid250",
        "tc",
        grid(251),
        expected=counts.grid_closure,
        published="BigDatalog (2018), Table 6: 1,000,140,875 tuples; 2.2 times its own time for Grid150, 64 cores",
        large=True,
    ),
    Workload("sg-g2k", "sg", gnp(2000), SQL, aim=3, expected=counts.same_generation),
    Workload("sg-grid151", "sg", grid(151), SQL, aim=3, expected=counts.same_generation),
    Workload(
        "sg-rmat10k",
        "sg",
        rmat(10_000),
        aim=3,
        expected=counts.same_generation,
        published="DCDatalog (2022), Table 2, 32 cores: 12.02 s; Soufflé 143.46 s",
        large=True,
    ),
    Workload("triangles-200k", "triangles", rmat(4096, 48), SQL, 3, counts.triangles),
    Workload("4-cycles-100k", "four_cycles", rmat(4096, 24), SQL, 3, counts.four_cycles),
    Workload("csda", "csda", sized(code_facts.dataflow, 2_000_000), SQL, aim=3),
    Workload("andersen", "andersen", sized(code_facts.pointers, 1_000_000), SQL, aim=3),
    Workload("galen-like", "el", sized(code_facts.ontology, 4000), aim=3),
    Workload("doop-like", "java", sized(java_facts.program, 10_000), aim=3),
    Workload("cc-1m", "cc", rmat(100_000, undirected=True), BY_HAND, 3, counts.nodes),
    Workload("cc-10m", "cc", rmat(1_000_000, undirected=True), BY_HAND, 3, counts.nodes, large=True),
    Workload("sssp-1m", "sssp", rmat(100_000, weighted=True), BY_HAND, 3),
    Workload("sssp-10m", "sssp", rmat(1_000_000, weighted=True), BY_HAND, 3, large=True),
    Workload("pagerank-1m", "pagerank", ranks(100_000), BY_HAND, 3, counts.ranked_nodes),
    Workload("pagerank-10m", "pagerank", ranks(1_000_000), BY_HAND, 3, counts.ranked_nodes, large=True),
    Workload(
        "apsp-rmat256",
        "apsp",
        rmat(256, weighted=True),
        BY_HAND,
        published="DCDatalog (2022), Table 3, 32 cores: 0.47 s",
    ),
    Workload(
        "apsp-rmat512",
        "apsp",
        rmat(512, weighted=True),
        BY_HAND,
        published="DCDatalog (2022), Table 3, 32 cores: 1.35 s",
    ),
    Workload(
        "apsp-rmat1k",
        "apsp",
        rmat(1024, weighted=True),
        BY_HAND,
        3,
        published="DCDatalog (2022), Table 3, 32 cores: 5.99 s",
    ),
    Workload("delivery-n1m", "delivery", sized(graphs.bill_of_materials, 1_000_000), BY_HAND, 3, counts.parts),
    Workload(
        "delivery-n40m",
        "delivery",
        sized(graphs.bill_of_materials, 40_000_000),
        BY_HAND,
        None,
        counts.parts,
        "DCDatalog (2022), Table 2, 32 cores: 3.27 s; Soufflé 88.06 s",
        large=True,
    ),
)


def cspa(folder):
    """The workloads on Graspan's facts, where a directory holds them: cspa10k/Assign.facts and so on."""

    def facts(name, scale):
        return {relation: read(folder / name / f"{relation}.facts", scale) for relation in ("Assign", "Dereference")}

    return tuple(Workload(name, "cspa", partial(facts, name), aim=3) for name in ("cspa10k", "cspa100k"))


CRDT_INSERTS = 2000
"""The first inserts of an edited text that are taken: with all 182,315 of them `ahead` would have 151 M tuples."""


def crdt(folder):
    """The workload on an edited text, where a directory holds it: insert.txt and remove.txt of dynamic-datalog.

    An element is the counter and the node that inserted it, in that order: one number, as there are few nodes.
    """

    def facts(scale):
        inserts = np.loadtxt(folder / "insert.txt", dtype=np.int32, max_rows=round(CRDT_INSERTS * scale)).T
        removes = np.loadtxt(folder / "remove.txt", dtype=np.int32).T
        insert, remove = (16 * columns[::2] + columns[1::2] for columns in (inserts, removes))
        return {"insert": insert, "remove": np.ascontiguousarray(remove[:, np.isin(remove[0], insert[0])])}

    return Workload("crdt", "crdt", facts)


def read(path, scale):
    columns = np.loadtxt(path, dtype=np.int32).T
    return np.ascontiguousarray(columns[:, : round(columns.shape[1] * scale)])
