#!/usr/bin/env python3
"""Time updates beside evaluation from scratch, under each policy, and print the tables of the elastic paper.

    incremental.py [--workload NAME …] [--program FILE.dl --facts DIR] [--cspa DIR] [--scale S] [--runs N]
                   [--tables epochs,sizes,single,state] [--lazy]

Workloads are those of evaluation.py (by default csda, andersen and doop-like on a tenth of their facts, and CSPA where
--cspa names its directory), or a program with its facts: the paper's own are in frankmcsherry/dynamic-datalog.

epochs  13 epochs (Zhao et al., §5.2, Figure 6): all facts, then small, large, small, large updates, deletions and
        insertions in turn; seconds of each policy, and of evaluation from scratch (engine.evaluate) in every epoch
sizes   random sets of facts deleted, then inserted, five for each size (Figure 5): least, median, greatest
        seconds, and tuples changed and moved (of another iteration)
single  one fact deleted, then inserted, many times
state   memory of the kept state beside that of plain relations (Table 2), and time of bootstrap beside evaluation
"""

import argparse
import gc
import statistics
import time
from pathlib import Path

import numpy as np
from workloads import WORKLOADS, cspa

import engine
from engine.incremental.policy import POLICIES, Maintainer, UpdateOnly
from engine.incremental.view import View

SMALL, LARGE = 10, 0.1
"""Facts in a small update; the share of all facts in a large one."""
EPOCHS = ("small",) * 6 + ("large",) + ("small",) * 4 + ("large",)


def main():
    options = parse()
    for name, program, database in subjects(options):
        n = sum(columns.shape[1] for columns in database.relations.values())
        print(f"\n{name}: {len(program.clauses)} rules, {n:,} facts")
        for table in options.tables.split(","):
            TABLES[table](program, database, options)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", nargs="+", default=["csda", "andersen", "doop-like"])
    parser.add_argument("--program", type=Path)
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--cspa", type=Path)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int)
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
    workloads = [w for w in WORKLOADS if w.name in options.workload]
    for workload in (*workloads, *(cspa(options.cspa) if options.cspa else ())):
        scale = 1.0 if workload.name.startswith("cspa") else options.scale
        program = engine.compile([engine.Source(workload.program, workload.source())])
        yield workload.name, program, engine.Database(relations=dict(workload.facts(scale)))


def seconds(work):
    gc.collect()
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def maintainer(program, database, policy, options):
    shared = engine.Database(database.symbols, database.records)
    view = View(program, shared, threads=options.threads, exact=not options.lazy)
    made = Maintainer(view, policy)
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
    updates = epochs(database)
    evaluated(program, database, database.relations, options)
    first, _ = seconds(lambda: evaluated(program, database, database.relations, options))
    columns = {"from scratch": [first]}
    for _, _, _, relations in updates:
        columns["from scratch"].append(seconds(lambda r=relations: evaluated(program, database, r, options))[0])
    how = {}
    for name, policy in POLICIES.items():
        if name == "bootstrap":
            continue
        kept = maintainer(program, database, policy(), options)
        columns[name], how[name] = [kept.history.bootstrap_s], ["bootstrap"]
        for _, inserted, deleted, _ in updates:
            outcome = kept.apply(inserted, deleted)
            columns[name].append(outcome.elapsed_s)
            how[name].append(outcome.strategy)
        kept.view.close_team()
    print("epoch       " + "".join(f"{name:>16}" for name in columns))
    for at, kind in enumerate(("all", *EPOCHS)):
        cells = (
            f"{c[at]:.3f}{' B' if at and how.get(name, [''] * 13)[at] == 'bootstrap' else '  '}"
            for name, c in columns.items()
        )
        print(f"{at:>3} {kind:<8}" + "".join(f"{cell:>16}" for cell in cells))
    print("    total   " + "".join(f"{sum(c):>14.3f}  " for c in columns.values()) + "  (B: by bootstrap)")


def sizes_table(program, database, options):
    kept = maintainer(program, database, UpdateOnly(), options)
    facts = Facts(database, 2)
    n = sum(columns.shape[1] for columns in facts.held.values())
    bootstrap_s = kept.history.bootstrap_s
    print(f"bootstrap {bootstrap_s:.3f} s; update of     least    median  greatest s    changed      moved")
    for size in [size for size in (1, 10, 100, 1000, 10_000) if size <= n // 5]:
        drawn = [facts.draw(size) for _ in range(5)]
        for sign in ("deleted", "inserted"):
            taken, changed, moved = [], [], []
            for picked in drawn:
                rows = facts.rows(picked)
                outcome = kept.apply({}, rows) if sign == "deleted" else kept.apply(rows, {})
                if sign == "deleted":
                    kept.apply(rows, {})
                else:
                    kept.apply({}, rows)
                    outcome = kept.apply(rows, {})
                changes = outcome.changes.values()
                taken.append(outcome.elapsed_s)
                changed.append(sum(c.inserted.shape[1] + c.deleted.shape[1] for c in changes))
                moved.append(sum(c.moved for c in changes))
            print(
                f"{size:>14,} {sign:<9} {min(taken):>10.4f}{statistics.median(taken):>10.4f}{max(taken):>10.4f}  "
                f"{statistics.median(changed):>10,.0f} {statistics.median(moved):>10,.0f}"
            )
    kept.view.close_team()


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
    kept.view.close_team()


def state_table(program, database, options):
    ratios = []
    for _ in range(options.runs + 1):
        plain_s, result = seconds(lambda: evaluated(program, database, database.relations, options))
        stored = (result.relations.stored(name) for name in program.relations)
        plain_bytes = sum(relation.n_bytes for relation in stored)
        n_tuples = sum(result.relations.stored(name).n for name in program.relations)
        del result
        kept = maintainer(program, database, UpdateOnly(), options)
        ratios.append((kept.history.bootstrap_s / plain_s, kept.history.bootstrap_s, plain_s))
        state_bytes = sum(relation.n_bytes for relation in kept.view.tracked())
        kept.view.close_team()
        del kept
    ratio, bootstrap_s, plain_s = sorted(ratios[1:])[len(ratios[1:]) // 2]
    print(f"{n_tuples:,} tuples; evaluation {plain_s:.3f} s, bootstrap {bootstrap_s:.3f} s: {ratio:.2f} times")
    print(
        f"relations {plain_bytes / 1e6:.1f} MB, kept state {state_bytes / 1e6:.1f} MB: "
        f"{state_bytes / plain_bytes:.2f} times, {state_bytes / max(1, n_tuples):.0f} bytes a tuple"
    )


TABLES = {"epochs": epochs_table, "sizes": sizes_table, "single": single_table, "state": state_table}

if __name__ == "__main__":
    main()
