"""Kernels of incremental update: the iterations of tuples before and after a batch of changes.

A tuple that is absent has the iteration ABSENT. `later` holds the iterations of tuples by id, and ~i for the i-th of
those that are moving, from `was[i]` before to `becomes[i]` after. Registers `before` and `after` of a chunk hold the
largest iteration of the atoms joined so far, in both states.
"""

import numpy as np

from engine.kernels import inlined, kernel

ABSENT = 2**31 - 1
FREE = -1


@inlined
def states(t, was, becomes, is_fixed):
    """The iterations before and after of a tuple whose entry is t; with `is_fixed` both are the one after."""
    if t >= 0:
        return t, t
    return (becomes[~t] if is_fixed else was[~t]), becomes[~t]


@inlined
def write(chunk, i, kept, before, after, b, a, untouched, first, live):
    """Move row i of a chunk to row `kept` with its two iterations raised to b and a; return the rows kept so far.

    A row goes if it holds in neither state or, with `untouched`, if b and a differ.
    """
    if untouched and a != b:
        return kept
    if not first:
        b, a = max(b, chunk[before, i]), max(a, chunk[after, i])
    if a == ABSENT and b == ABSENT:
        return kept
    if kept < i:
        for c in live:
            chunk[c, kept] = chunk[c, i]
    chunk[before, kept], chunk[after, kept] = b, a
    return kept + 1


@kernel
def stamp(chunk, n, tuples, before, after, later, was, becomes, is_fixed, own, untouched, first, live):
    """Take the iterations of an atom into account for the first n rows of a chunk, in place; return how many are kept.

    `tuples` is the register with the atom's tuple. Relations that are not `own` count as derived in iteration 0. A row
    goes if it holds in neither state or, with `untouched`, if its tuple differs between them. The `first` atom sets the
    registers; others raise them.
    """
    kept = 0
    for i in range(n):
        b, a = states(later[chunk[tuples, i]], was, becomes, is_fixed)
        if not own:
            b = b if b == ABSENT else 0
            a = a if a == ABSENT else 0
        kept = write(chunk, i, kept, before, after, b, a, untouched, first, live)
    return kept


@kernel
def stamp_absent(chunk, n, ids, before, after, later, was, becomes, is_fixed, untouched, first, live):
    """Do as `stamp` for a negated atom: ids[i] is the tuple that must not be there, or -1."""
    kept = 0
    for i in range(n):
        b = a = 0
        if ids[i] >= 0:
            b, a = states(later[ids[i]], was, becomes, is_fixed)
            b = 0 if b == ABSENT else ABSENT
            a = 0 if a == ABSENT else ABSENT
        kept = write(chunk, i, kept, before, after, b, a, untouched, first, live)
    return kept


@inlined
def find_sum(slots, ids, h):
    """The slot with the place of the tuple h among `ids`, or the free one where that belongs."""
    mask = len(slots) - 1
    slot = ((np.int64(h) * 0x9E3779B1) >> 15) & mask
    while slots[slot] != FREE and ids[slots[slot]] != h:
        slot = (slot + 1) & mask
    return slot


@inlined
def add_sum(slots, ids, sums, n, h, sign):
    """Add a sign to the sum of the tuple h; return how many tuples have one, of n before. There is room for it."""
    slot = find_sum(slots, ids, h)
    if slots[slot] != FREE:
        sums[slots[slot]] += sign
        return n
    slots[slot] = n
    ids[n], sums[n] = h, sign
    return n + 1


@kernel
def enter_sums(slots, ids, n):
    """Let empty slots find the first n ids."""
    for i in range(n):
        slots[find_sum(slots, ids, ids[i])] = i


@kernel
def account(
    heads,
    n,
    before,
    after,
    fresh,
    later,
    was,
    becomes,
    is_fixed,
    exact,
    coming,
    slots,
    ids,
    sums,
    n_sums,
    times,
    late,
    signs,
):
    """Account for what n rule instantiations change at their `heads`; return (number of sums, events written).

    before[i] and after[i] are the largest iterations of the bodies in the two states; an instantiation derives its head
    one iteration later. It is a support of its head from the iteration on that the head has in the state where that is
    least: later ones are not counted. `fresh` ones were none before. If not `exact`, all supports count that derive the
    head no later than it stands. A support gained (+1) or lost (-1) in the iteration `coming` is added to the head's
    sum; others become events (times, late, signs).
    """
    m = 0
    for i in range(n):
        h = heads[i]
        b = ABSENT if fresh or before[i] == ABSENT else before[i] + 1
        a = after[i] if after[i] == ABSENT else after[i] + 1
        limit = min(*states(later[h], was, becomes, is_fixed))
        if not exact and limit != ABSENT:
            b = limit if b <= limit else ABSENT
            a = limit if a <= limit else ABSENT
        if a == b:
            continue
        for sign in (-1, 1):
            time = a if sign == 1 else b
            if time == ABSENT or time > limit:
                continue
            if time == coming:
                n_sums = add_sum(slots, ids, sums, n_sums, h, sign)
            else:
                times[m], late[m], signs[m] = time, h, sign
                m += 1
    return n_sums, m


@kernel
def collect(heads, signs, slots, ids, sums, n):
    """Add signs to the sums of tuples; return how many tuples have one, of n before."""
    for i in range(len(heads)):
        n = add_sum(slots, ids, sums, n, heads[i], signs[i])
    return n


@kernel
def settle(iteration, ids, sums, n, count, later, left, arrived, arrived_from):
    """Decide in an iteration which of n tuples with sums leave it or arrive in it; return how many do either.

    A tuple derived in this iteration leaves when its last support goes. One that is derived later, or not at all,
    arrives when it has a support here. Supports in `count` are brought up to date; where tuples that arrive stood is
    written to `arrived_from`.
    """
    n_left = n_arrived = 0
    for i in range(n):
        h, change = ids[i], sums[i]
        if later[h] == iteration:
            count[h] += change
            if count[h] == 0:
                left[n_left] = h
                n_left += 1
        elif later[h] > iteration and change > 0:
            count[h] = change
            arrived[n_arrived], arrived_from[n_arrived] = h, later[h]
            n_arrived += 1
    return n_left, n_arrived


@kernel
def enter(ids, iteration, later, count, changed):
    """Let tuples be facts, of iteration 0, or (ABSENT) not be there; write those that were not to `changed`."""
    n = 0
    for i in range(len(ids)):
        h = ids[i]
        if h >= 0 and later[h] != iteration:
            later[h] = iteration
            count[h] = 0 if iteration == ABSENT else 1
            changed[n] = h
            n += 1
    return n
