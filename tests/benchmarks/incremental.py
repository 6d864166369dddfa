#!/usr/bin/env python3
"""Time updates beside evaluation from scratch, under each policy, and print the tables of the elastic paper.

    incremental.py [--workload NAME …] [--program FILE.dl --facts DIR] [--cspa DIR] [--crdt DIR] [--scale S] [--runs N]
                   [--tables state,single,sizes,epochs] [--threads N] [--cpu] [--lazy]

Workloads are those of evaluation.py on a tenth of their facts, cspa10k and cspa100k where --cspa names their directory,
and an edited text, crdt, where --crdt names the input of problems/crdt in frankmcsherry/dynamic-datalog (its first
inserts, see workloads.py); by default the last three and doop-like. Or a program with its facts.

epochs  13 epochs (Zhao et al., §5.2, Figure 6): all facts, then small, large, small, large updates, deletions and
        insertions in turn; seconds of each policy, and of evaluation from scratch (engine.evaluate) in every epoch.
        The policies go through the epochs side by side, so that what else the machine does meets all of them
sizes   random sets of facts deleted, then inserted, five for each size (Figure 5): least, median, greatest seconds,
        and tuples changed and moved (of another iteration), beside evaluation from scratch; then the memory of the kept
        state after each of these updates, and of plain relations after some (Table 2)
single  one fact deleted, then inserted, many times
state   memory of the kept state beside that of plain relations, and time of bootstrap beside evaluation

With --cpu seconds are CPU time, which other work on the machine changes little: for --threads 1. A race takes that of
both sides.
"""

import argparse
import gc
import statistics
import time
from pathlib import Path

import numpy as np
from workloads import WORKLOADS, crdt, cspa

import engine
from engine.incremental.maintained_program import MaintainedProgram
from engine.incremental.update_policy import POLICIES, Maintainer, UpdateOnly

SMALL, LARGE = 10, 0.1
"""Facts in a small update; the share of all facts in a large one."""
EPOCHS = ("small",) * 6 + ("large",) + ("small",) * 4 + ("large",)
RUN = ("bootstrap", "update", "elastic", "predicted", "raced")


def main():
    options = parse()
    for name, program, database in subjects(options):
        n = sum(columns.shape[1] for columns in database.relations.values())
        print(f"\n{name}: {len(program.clauses)} rules, {n:,} facts")
        for table in options.tables.split(","):
            TABLES[table](program, database, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", nargs="+", default=["doop-like", "cspa10k", "cspa100k", "crdt"])
    parser.add_argument("--program", type=Path)
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--cspa", type=Path)
    parser.add_argument("--crdt", type=Path)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--cpu", dest="clock", action="store_const", const=time.process_time, default=time.perf_counter)
    parser.add_argument("--tables", default="state,single,sizes,epochs")
    parser.add_argument("--lazy", action="store_true", help="keep any well-founded iteration, not the first")
    return parser.parse_args()


def subjects(options):
    """Yield the name, the program and the facts of each workload."""
    if options.program:
        text = options.program.read_text()
        program = engine.compile([engine.Source(str(options.program), text)])
        yield options.program.stem, program, engine.load(program, options.facts)
        return
    read = (*(cspa(options.cspa) if options.cspa else ()), *([crdt(options.crdt)] if options.crdt else ()))
    for workload in [workload for workload in (*WORKLOADS, *read) if workload.name in options.workload]:
        scale = 1.0 if workload in read else options.scale
        program = engine.compile([engine.Source(workload.program, workload.source())])
        yield workload.name, program, engine.Database(relations=dict(workload.facts(scale)))


def seconds(work, options):
    gc.collect()
    begin = options.clock()
    result = work()
    return options.clock() - begin, result


def maintainer(program, database, policy, options):
    shared = engine.Database(database.symbols, database.records)
    view = MaintainedProgram(program, shared, threads=options.threads, exact=not options.lazy)
    made = Maintainer(view, policy, clock=options.clock)
    made.bootstrap(database.relations)
    return made


def evaluated(program, database, relations, options):
    return engine.evaluate(
        program, engine.Database(database.symbols, database.records, relations), threads=options.threads
    )


class Facts:
    """The facts as they are now, each relation as an array and what of it is there."""

    def __init__(self, database, seed):
        self.held = {name: np.unique(columns, axis=1) for name, columns in database.relations.items() if columns.size}
        self.there = {name: np.ones(columns.shape[1], np.bool_) for name, columns in self.held.items()}
        self.random = np.random.default_rng(seed)

    def draw(self, n):
        """Choose n facts that are there, of all relations alike."""
        names = list(self.held)
        sizes = np.array([np.count_nonzero(self.there[name]) for name in names])
        chosen = self.random.multivariate_hypergeometric(sizes, min(n, int(sizes.sum())))
        picked = {}
        for name, m in zip(names, chosen.tolist(), strict=True):
            if m:
                picked[name] = self.random.choice(np.flatnonzero(self.there[name]), m, replace=False)
        return picked

    def rows(self, picked):
        return {name: np.ascontiguousarray(self.held[name][:, at]) for name, at in picked.items()}

    def set(self, picked, there):
        for name, at in picked.items():
            self.there[name][at] = there

    def relations(self):
        return {name: np.ascontiguousarray(self.held[name][:, there]) for name, there in self.there.items()}


def epochs(database):
    """The updates of the 13 epochs behind the first: facts inserted, facts deleted, and all facts after it."""
    facts, out = Facts(database, 1), []
    n = sum(columns.shape[1] for columns in facts.held.values())
    removed = None
    for kind in EPOCHS:
        if removed is None:
            removed = facts.draw(SMALL if kind == "small" else int(LARGE * n))
            facts.set(removed, False)
            inserted, deleted = {}, facts.rows(removed)
            removed = removed if kind == "small" else None
        else:
            facts.set(removed, True)
            inserted, deleted, removed = facts.rows(removed), {}, None
        out.append((kind, inserted, deleted, facts.relations()))
    return out


def epochs_table(program, database, options):
    planned = epochs(database)
    first = maintainer(program, database, UpdateOnly(), options)  # It loads the kernels.
    for _, inserted, deleted, _ in planned[:2]:
        first.apply(inserted, deleted)
    first.view.close()
    kept = {name: maintainer(program, database, POLICIES[name](), options) for name in RUN}
    evaluated(program, database, database.relations, options)
    table = {
        "from scratch": [(seconds(lambda: evaluated(program, database, database.relations, options), options)[0], "")]
    }
    table |= {name: [(held.durations.bootstrap_s, "")] for name, held in kept.items()}
    for _, inserted, deleted, relations in planned:
        elapsed_s, _ = seconds(lambda r=relations: evaluated(program, database, r, options), options)
        table["from scratch"].append((elapsed_s, ""))
        for name, held in kept.items():
            _, outcome = seconds(lambda h=held, i=inserted, d=deleted: h.apply(i, d), options)
            table[name].append((outcome.elapsed_s, "B" if outcome.strategy == "bootstrap" else ""))
    for held in kept.values():
        held.view.close()
    print("epoch       " + "".join(f"{name:>15}" for name in table))
    for at, kind in enumerate(("all", *EPOCHS)):
        cells = (f"{column[at][0]:.3f} {column[at][1]:1}" for column in table.values())
        print(f"{at:>3} {kind:<8}" + "".join(f"{cell:>15}" for cell in cells))
    totals = {name: sum(elapsed_s for elapsed_s, _ in column) for name, column in table.items()}
    print("    total   " + "".join(f"{total:>13.3f}  " for total in totals.values()) + "  (B: by bootstrap)")
    better_s = min(totals["update"], totals["bootstrap"])
    print("    times the better of update and bootstrap: " + ratios(totals, better_s))
    print("    times from scratch: " + ratios(totals, totals["from scratch"]))


def ratios(totals, unit_s):
    return ", ".join(f"{name} {totals[name] / unit_s:.2f}" for name in ("elastic", "predicted", "raced"))


def sizes_table(program, database, options):
    kept = maintainer(program, database, UpdateOnly(), options)
    facts = Facts(database, 2)
    n = sum(columns.shape[1] for columns in facts.held.values())
    plain, states = [], []
    print(f"{'update of':>20}     least    median  greatest s    changed      moved   from scratch s")
    for size in [size for size in (1, 10, 100, 1000, 10_000) if size <= LARGE * n]:
        outcomes = {"deleted": [], "inserted": []}
        for _ in range(5):
            picked = facts.draw(size)
            rows = facts.rows(picked)
            for sign, change in (("deleted", ({}, rows)), ("inserted", (rows, {}))):
                outcomes[sign].append(kept.apply(*change))
                states.append(state_bytes(kept.view))
        facts.set(picked, False)
        taken = {"deleted": facts.relations(), "inserted": database.relations}
        facts.set(picked, True)
        for sign, found in outcomes.items():
            scratch_s, result = seconds(lambda r=taken[sign]: evaluated(program, database, r, options), options)
            plain.append(plain_bytes(program, result))
            del result
            elapsed = [outcome.elapsed_s for outcome in found]
            changes = [outcome.changes.values() for outcome in found]
            changed = statistics.median(sum(c.inserted.shape[1] + c.deleted.shape[1] for c in each) for each in changes)
            moved = statistics.median(sum(c.moved for c in each) for each in changes)
            print(
                f"{size:>11,} {sign:<9}{min(elapsed):>9.4f} {statistics.median(elapsed):>9.4f} {max(elapsed):>9.4f}  "
                f"{changed:>10,.0f} {moved:>10,.0f} {scratch_s:>12.3f}"
            )
    kept.view.close()
    print("memory, MB             least   average  greatest")
    for name, found in (("plain relations", plain), ("kept state", states)):
        cells = (min(found), statistics.mean(found), max(found))
        print(f"{name:<18}" + "".join(f"{cell / 1e6:>10.1f}" for cell in cells))


def plain_bytes(program, result):
    return sum(result.relations.stored(name).n_bytes for name in program.relations)


def state_bytes(view):
    return sum(relation.n_bytes for relation in view.tracked())


def single_table(program, database, options):
    kept = maintainer(program, database, UpdateOnly(), options)
    facts = Facts(database, 3)
    taken = {"deleted": [], "inserted": []}
    for number in range(210):
        picked = facts.draw(1)
        rows = facts.rows(picked)
        for sign, change in (("deleted", ({}, rows)), ("inserted", (rows, {}))):
            outcome = kept.apply(*change)
            if number >= 10:  # The first ones plan, and load kernels.
                taken[sign].append(1000 * outcome.elapsed_s)
    for sign, found in taken.items():
        print(f"one fact {sign}: median {statistics.median(found):.2f} ms, worst {max(found):.1f} ms of {len(found)}")
    kept.view.close()


def state_table(program, database, options):
    ratios = []
    for _ in range(options.runs + 1):
        plain_s, result = seconds(lambda: evaluated(program, database, database.relations, options), options)
        plain = plain_bytes(program, result)
        n_tuples = sum(result.relations.stored(name).n for name in program.relations)
        del result
        kept = maintainer(program, database, UpdateOnly(), options)
        ratios.append((kept.durations.bootstrap_s / plain_s, kept.durations.bootstrap_s, plain_s))
        state = state_bytes(kept.view)
        kept.view.close()
        del kept
    ratio, bootstrap_s, plain_s = sorted(ratios[1:])[len(ratios[1:]) // 2]
    print(f"{n_tuples:,} tuples; evaluation {plain_s:.3f} s, bootstrap {bootstrap_s:.3f} s: {ratio:.2f} times")
    print(
        f"relations {plain / 1e6:.1f} MB, kept state {state / 1e6:.1f} MB: "
        f"{state / plain:.2f} times, {state / max(1, n_tuples):.0f} bytes a tuple"
    )


TABLES = {"epochs": epochs_table, "sizes": sizes_table, "single": single_table, "state": state_table}

if __name__ == "__main__":
    main()
