"""Kernels of incremental update: the iterations of tuples before and after a batch of changes.

A tuple that is absent has the iteration ABSENT. Registers `before` and `after` of a chunk hold the largest iteration of
the atoms joined so far, in both states.
"""

from numba import njit

from engine.kernels import kernel

ABSENT = 2**31 - 1


@njit(inline="always")
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
def stamp(chunk, n, tuples, before, after, earlier, later, own, untouched, first, live):
    """Take the iterations of an atom into account for the first n rows of a chunk, in place; return how many are kept.

    `tuples` is the register with the atom's tuple, `earlier` and `later` its relation's iterations in the two states.
    Relations that are not `own` count as derived in iteration 0. A row goes if it holds in neither state or, with
    `untouched`, if its tuple differs between them. The `first` atom sets the registers; others raise them.
    """
    kept = 0
    for i in range(n):
        b, a = earlier[chunk[tuples, i]], later[chunk[tuples, i]]
        if not own:
            b = b if b == ABSENT else 0
            a = a if a == ABSENT else 0
        kept = write(chunk, i, kept, before, after, b, a, untouched, first, live)
    return kept


@kernel
def stamp_absent(chunk, n, ids, before, after, earlier, later, untouched, first, live):
    """Do as `stamp` for a negated atom: ids[i] is the tuple that must not be there, or -1."""
    kept = 0
    for i in range(n):
        b = a = 0
        if ids[i] >= 0:
            b = 0 if earlier[ids[i]] == ABSENT else ABSENT
            a = 0 if later[ids[i]] == ABSENT else ABSENT
        kept = write(chunk, i, kept, before, after, b, a, untouched, first, live)
    return kept


@kernel
def account(
    ids,
    n,
    before,
    after,
    fresh,
    earlier,
    later,
    exact,
    coming,
    pending,
    marked,
    touched,
    n_touched,
    times,
    heads,
    signs,
):
    """Account for what n rule instantiations change at their heads `ids`; return (n_touched, events written).

    before[i] and after[i] are the largest iterations of the bodies in the two states; an instantiation derives its head
    one iteration later. It is a support of its head from the iteration on that the head has in the state where that is
    least: later ones are not counted. `fresh` ones were none before. If not `exact`, all supports count that derive the
    head no later than it stands. A support gained (+1) or lost (-1) in the iteration `coming` is added to `pending`,
    the tuple to `touched`; others become events.
    """
    m = 0
    for i in range(n):
        h = ids[i]
        b = ABSENT if fresh or before[i] == ABSENT else before[i] + 1
        a = after[i] if after[i] == ABSENT else after[i] + 1
        limit = min(earlier[h], later[h])
        if not exact and limit != ABSENT:
            b = limit if b <= limit else ABSENT
            a = limit if a <= limit else ABSENT
        if a == b:
            continue
        for sign in (-1, 1):
            time = a if sign == 1 else b
            if time == ABSENT or time > limit:
                continue
            if time != coming:
                times[m], heads[m], signs[m] = time, h, sign
                m += 1
                continue
            pending[h] += sign
            if not marked[h]:
                marked[h] = True
                touched[n_touched] = h
                n_touched += 1
    return n_touched, m


@kernel
def collect(heads, signs, pending, marked, touched, n):
    """Add signs to the `pending` supports of tuples, and tuples met for the first time to touched[n:]; return n."""
    for i in range(len(heads)):
        h = heads[i]
        pending[h] += signs[i]
        if not marked[h]:
            marked[h] = True
            touched[n] = h
            n += 1
    return n


@kernel
def settle(iteration, touched, n, pending, marked, count, later, left, arrived):
    """Decide in an iteration which of the touched tuples leave it or arrive in it; return how many do either.

    A tuple derived in this iteration leaves when its last support goes. One that is derived later, or not at all,
    arrives when it has a support here. Iterations in `later` and supports in `count` are brought up to date.
    """
    n_left = n_arrived = 0
    for i in range(n):
        h = touched[i]
        change = pending[h]
        pending[h] = 0
        marked[h] = False
        if later[h] == iteration:
            count[h] += change
            if count[h] == 0:
                later[h] = ABSENT
                left[n_left] = h
                n_left += 1
        elif later[h] > iteration and change > 0:
            later[h], count[h] = iteration, change
            arrived[n_arrived] = h
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


@kernel
def differing(ids, earlier, later, marked, found):
    """Write each of the ids once whose iterations differ; return how many."""
    n = 0
    for i in range(len(ids)):
        h = ids[i]
        if earlier[h] != later[h] and not marked[h]:
            marked[h] = True
            found[n] = h
            n += 1
    for i in range(n):
        marked[found[i]] = False
    return n
