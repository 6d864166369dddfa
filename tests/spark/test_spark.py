"""Programs on a cluster of two executors: the tuples of the local engine, also when processes are killed meanwhile."""

import os
import shutil
import signal
import subprocess
import sys
import threading

import pyarrow.parquet
import pytest
import reference

import engine
from engine import tables
from engine.io import lines
from engine.spark.barrier_task import Files
from engine.spark.datalog_context import DatalogContext
from engine.spark.driver import frames, write

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

N = 1500
CHAIN = """
.decl edge(x: number, y: number)
.input edge
.decl reached(x: number)
.output reached
.decl last(x: number, name: symbol)
.decl name(x: number, s: symbol)
.input name
.output last
reached(0).
reached(y) :- reached(x), edge(x, y).
last(x, s) :- reached(x), !edge(x, _), name(x, s).
"""


@pytest.fixture
def chain(tmp_path):
    """Facts of a chain, whose nodes are reached one after the other: a superstep for most."""
    facts = tmp_path / "facts"
    facts.mkdir()
    (facts / "edge.facts").write_text("".join(f"{x}\t{x + 1}\n" for x in range(N)))
    (facts / "name.facts").write_text("".join(f"{x}\tnode {x}\n" for x in range(N + 1)))
    return facts


def run(spark, text, facts, output, **options):
    program = engine.compile([text])
    read, sources = frames(program, spark, str(facts))
    names = tuple(directive.relation for directive in program.outputs)
    reports = write(program, spark, read, Files(names, str(output), "parquet"), sources=sources, **options)
    (output / reports[0].token).rename(output / "complete")
    return reports


def rows(output, name):
    folder = next(path for path in (output / "complete" / name, output / f"{name}.parquet") if path.exists())
    columns = pyarrow.parquet.read_table(folder).to_pydict()
    return sorted(zip(*columns.values(), strict=True))


def right(output):
    return rows(output, "reached") == [(x,) for x in range(N + 1)] and rows(output, "last") == [(N, f"node {N}")]


def test_both_executors_take_part(spark, chain, tmp_path):
    reports = run(spark, CHAIN, chain, tmp_path / "out")
    assert right(tmp_path / "out")
    derived = [report.n_derived for report in reports]
    assert len(derived) == 2 and min(derived) >= sum(derived) / 4
    assert reports[0].n_rows == {"edge": N, "name": N + 1, "reached": N + 1, "last": 1}


def kill_python_worker(cluster, directory):
    workers = cluster.python_workers(directory)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    return workers


def kill_executor(cluster, directory):
    """Kill an executor and remove all that it and its worker have on disk."""
    killed = cluster.executors(directory)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    for local in (directory / "local").glob("*"):
        shutil.rmtree(local)
    return killed


@pytest.mark.parametrize("kill", [kill_python_worker, kill_executor])
def test_what_is_killed_in_mid_superstep_changes_nothing(kill, spark, cluster, chain, tmp_path):
    checkpoints, killed, over = tmp_path / "state", [], threading.Event()

    def kill_when_it_has_begun():
        while not killed and not over.wait(0.01):
            if list(checkpoints.glob("*/*-superstep-*")):
                killed.extend(kill(cluster, cluster.directories[1]))

    failed = len(cluster.failed_tasks())
    killer = threading.Thread(target=kill_when_it_has_begun)
    killer.start()
    try:
        run(spark, CHAIN, chain, tmp_path / "out", checkpoints=str(checkpoints), interval_s=0.0)
    finally:
        over.set()
        killer.join()
    assert killed
    assert len(cluster.failed_tasks()) > failed
    assert right(tmp_path / "out")
    assert not list(checkpoints.iterdir())


EVERYTHING = """
.type Pair = [first: number, rest: Pair]
.decl edge(x: number, y: number)
.decl name(x: number, s: symbol)
.decl tc(x: number, y: number)
.decl sg(x: number, y: number)
.decl least(x: number, y: number, d: number)
.decl sum(x: number, f: float)
.decl list(p: Pair, n: number)
.decl made(s: symbol)
.decl named(s: symbol, n: unsigned)
.decl same(x: number, y: number) eqrel
.decl none(x: number)
.decl flag()
.output tc, sg, least, sum, list, made, named, same, none, flag
tc(x, y) :- edge(x, y).
tc(x, z) :- tc(x, y), tc(y, z).
sg(x, y) :- edge(p, x), edge(p, y), x != y.
sg(x, y) :- edge(a, x), sg(a, b), edge(b, y).
least(x, y, min<1>) :- edge(x, y).
least(x, z, min<d>) :- least(x, y, a), edge(y, z), d = a + 1.
sum(x, f) :- name(x, _), f = sum itof(y) / 2 : { tc(x, y) }.
list([x, nil], 1) :- edge(x, _).
list([x, p], n + 1) :- list(p, n), p = [y, _], edge(y, x), n < 3.
made(cat(s, "!")) :- name(_, s).
named(s, ftou(0.5 + itof(x))) :- name(x, s).
same(x, y) :- edge(x, y), x > 3.
none(x) :- edge(x, _), !tc(x, x).
flag() :- tc(1, 4).
"""
FACTS = {
    "edge": {(1, 2), (2, 3), (3, 1), (1, 4), (2, 5), (4, 6), (5, 7), (6, 7)},
    "name": {(1, "one"), (4, "four"), (7, "sieben ä𝄞")},
}


@pytest.mark.parametrize("replicated_rows", [0, 1 << 22])
def test_the_whole_language_answers_as_the_oracle(replicated_rows, spark, tmp_path):
    program = engine.compile([EVERYTHING])
    read = {name: spark.createDataFrame(sorted(rows)) for name, rows in FACTS.items()}
    outputs = tuple(directive.relation for directive in program.outputs)
    write(program, spark, read, Files(outputs, str(tmp_path), "tsv"), replicated_rows=replicated_rows)
    expected = engine.evaluate(program, engine.facts(program, FACTS))
    assert tables.decode(program, expected, outputs) == {
        name: rows for name, rows in reference.evaluate(program, FACTS).items() if name in outputs
    }
    for name in outputs:
        parts = [file.read_text() for file in tmp_path.glob(f"*/{name}/*.tsv")]
        assert sorted("".join(parts).splitlines()) == sorted(lines(program, expected, name)), name


def test_a_query_is_a_data_frame(spark):
    rules = ".decl arc(x: number, y: number)\n.decl tc(x: number, y: number)\ntc(x, y) :- arc(x, y)."
    arcs = spark.createDataFrame([(2, 1), (3, 2), (1, 1)], ["y", "x"])
    context = DatalogContext(spark).datalog(rules).datalog("tc(x, z) :- tc(x, y), arc(y, z).").datasource("arc", arcs)
    found = context.query("tc(X, Y)")
    assert found.schema.simpleString() == "struct<x:int,y:int>"
    assert sorted(map(tuple, found.collect())) == [(1, 1), (1, 2), (1, 3), (2, 3)]
    assert sorted(map(tuple, context.query("tc(1, Y)").filter("y > 1").collect())) == [(1, 2), (1, 3)]
    assert sorted(map(tuple, context.query("tc(X, X)").collect())) == [(1, 1)]
    with pytest.raises(KeyError, match="declares no relation 'edge'"):
        context.datasource("edge", arcs).query("tc(X, Y)")
    with pytest.raises(engine.FactsError, match="arc has 2 columns"):
        context.datasource("arc", arcs.select("x")).query("tc(X, Y)")


def test_wrong_facts_are_told_in_one_line(spark, chain, tmp_path):
    with (chain / "edge.facts").open("a") as file:
        file.write("7\tseven\n")
    with pytest.raises(engine.FactsError, match="edge.facts: 'seven' is not a valid number"):
        run(spark, CHAIN, chain, tmp_path / "out")


def analyze(*arguments):
    return subprocess.Popen([sys.executable, "-c", "from cli import main; main()", *map(str, arguments)], text=True)


@pytest.fixture
def on_this_machine(chain, tmp_path):
    """The arguments of a run whose checkpoints are in the directory `state`."""
    (tmp_path / "chain.dl").write_text(CHAIN)
    return [
        *("run", tmp_path / "chain.dl", "-F", chain, "-D", tmp_path / "out"),
        *("--engine", "spark", "--master", "local[2]", "--checkpoint", tmp_path / "state"),
    ]


def test_a_worker_killed_on_one_machine_changes_nothing(on_this_machine, tmp_path, python_workers_below):
    running = analyze(*on_this_machine)
    while running.poll() is None and not list((tmp_path / "state").glob("*/*-stratum-0")):
        threading.Event().wait(0.01)
    killed = python_workers_below(running.pid)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert killed
    assert running.wait() == 0
    assert right(tmp_path / "out")


def test_a_killed_driver_goes_on_from_its_checkpoint(on_this_machine, tmp_path):
    checkpoints, command = tmp_path / "state", on_this_machine
    first = analyze(*command)
    while first.poll() is None and not list(checkpoints.glob("*/*-stratum-0")):
        threading.Event().wait(0.01)
    first.kill()
    assert first.wait() == -signal.SIGKILL
    (state,) = checkpoints.iterdir()
    assert not list((tmp_path / "out").glob("*.parquet"))
    second = analyze(*command)
    while second.poll() is None and not list(state.glob("*-stratum-2")):
        # Who reads facts anew writes another file.
        assert len(list(state.glob("facts.*.0"))) <= 1
        threading.Event().wait(0.01)
    assert second.wait() == 0
    assert right(tmp_path / "out")
    assert not list(checkpoints.iterdir())
