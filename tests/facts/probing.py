"""What facts say that calls of `probe(place, value)` may see, and runs of programs to hold against it.

`rows` are those of `facts.render_facts`; `run(program, decide)` returns what the probes saw, `decide(n)` one of n
decisions.
"""

import random
from collections import defaultdict


def random_runs(run, program, count, limit):
    """Run a program with random decisions; after `limit` of them always the first, so that loops end."""
    for seed in range(count):
        script, left = random.Random(seed), iter(range(limit))
        yield run(program, lambda n, script=script, left=left: 0 if next(left, None) is None else script.randrange(n))


def all_runs(run, program, limit):
    """Run a program with every sequence of up to `limit` decisions."""
    script = []
    while True:
        taken = []

        def decide(n, script=script, taken=taken):
            choice = script[len(taken)] if len(taken) < len(script) else 0
            taken.append((choice, n))
            return choice

        yield run(program, decide)
        taken = taken[:limit]
        while taken and taken[-1][0] == taken[-1][1] - 1:
            taken.pop()
        if not taken:
            return
        script = [choice for choice, _ in taken[:-1]] + [taken[-1][0] + 1]


def sources_of(rows, *copies):
    """Return what each value and cell may be made of; `copies` are relations of targets and sources."""
    sources = defaultdict(set)
    for relation in ("assign", "merge", "load_cell", *copies):
        for target, source, *_ in rows.get(relation, ()):
            sources[target].add(source)
    for _, cell, source in rows.get("store_cell", ()):
        sources[cell].add(source)
    arguments = arguments_of(rows)
    for value, iterable in rows.get("iterate", ()):
        sources[value].add(arguments[iterable, "0"])
    return sources


def through_pointers(rows, sources):
    """Let every pointer be the address of any cell that has one."""
    cells = [cell for _, cell in rows.get("address", ())]
    for value, _ in rows.get("load_pointer", ()):
        sources[value].update(cells)
    for _, _, source in rows.get("store_pointer", ()):
        for cell in cells:
            sources[cell].add(source)
    return sources


def predicted(rows, sources):
    """Return for every probe the numbers that its value may be, by the facts."""
    constants = {value: int(text) for value, kind, text in rows["constant"] if kind == "integer"}
    arguments = arguments_of(rows)

    def numbers(start):
        work, done = [start], {start}
        while work:
            new = sources[work.pop()] - done
            done |= new
            work += new
        return {constants[value] for value in done if value in constants}

    return {constants[arguments[call, "0"]]: numbers(arguments[call, "1"]) for call in probes(rows)}


def arguments_of(rows):
    return {(call, position): value for call, position, value in rows["argument"]}


def probes(rows):
    return {call for call, _, callee in rows["call"] if callee.rpartition("/")[2].partition("#")[0] == "probe"}


def reachable(rows, *edges):
    """Return, by probe, the probes that control may reach next or later in the same body, and that body."""
    targets = defaultdict(set)
    for relation in edges:
        for source, target in rows.get(relation, ()):
            targets[source].add(target)
    block = dict(rows["in_block"])
    order = {entity: int(index) for entity, index in rows["order_in_block"]}
    numbers, arguments = {value: text for value, _, text in rows["constant"]}, arguments_of(rows)
    place = {call: int(numbers[arguments[call, "0"]]) for call in probes(rows)}
    result = defaultdict(set)
    for call in place:
        found, work = set(), list(targets[block[call]])
        while work:
            here = work.pop()
            if here not in found:
                found.add(here)
                work += targets[here]
        for other in place:
            if block[other] in found or (block[other] == block[call] and order[other] > order[call]):
                result[place[call]].add(place[other])
    return result, {place[call]: call.rpartition("/")[0] for call in place}
