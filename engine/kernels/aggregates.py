"""Kernels of aggregate relations: contributions improve the values of their groups.

Groups and contributors have dense numbers, given out in the order of first arrival (`hash_tables.intern_rows`): the
first number that is not `known` is new. Groups whose value changes are marked in `dirty` and listed once in `changed`.
"""

import numpy as np

from engine.kernels import inlined, kernel


@inlined
def mark(group, dirty, changed, m):
    """List a group as changed, if it is not; return the length of the list."""
    if not dirty[group]:
        dirty[group] = True
        changed[m] = group
        return m + 1
    return m


@kernel
def lower(values, best, groups, n, known, dirty, changed, m):
    """Let best[g] be the least of itself and values[i], for the group g of each row i < n; return the new m."""
    for i in range(n):
        g = groups[i]
        if g == known:
            known += 1
        elif not values[i] < best[g]:
            continue
        best[g] = values[i]
        m = mark(g, dirty, changed, m)
    return m


@kernel
def lift(values, best, groups, n, known, dirty, changed, m):
    """Let best[g] be the greatest of itself and values[i], for the group g of each row i < n; return the new m."""
    for i in range(n):
        g = groups[i]
        if g == known:
            known += 1
        elif not values[i] > best[g]:
            continue
        best[g] = values[i]
        m = mark(g, dirty, changed, m)
    return m


@kernel
def contribute(values, best, totals, contributors, groups, n, known, dirty, changed, m):
    """Lift best[c] to values[i] for the contributor c of each row i < n, and the total of its group by as much."""
    for i in range(n):
        c, g = contributors[i], groups[i]
        if c == known:
            known += 1
            totals[g] += values[i]
        elif values[i] > best[c]:
            totals[g] += values[i] - best[c]
        else:
            continue
        best[c] = values[i]
        m = mark(g, dirty, changed, m)
    return m


@kernel
def lift_contributors(values, best, contributors, groups, n, known, dirty, changed, m):
    """Lift best[c] to values[i] for the contributor c of each row i < n; list the groups whose total is to change."""
    last = -1
    for i in range(n):
        c = contributors[i]
        if c == known:
            known += 1
        elif not values[i] > best[c]:
            continue
        best[c] = values[i]
        if groups[i] != last:
            last = groups[i]
            m = mark(last, dirty, changed, m)
    return m


@kernel
def add_runs(best, members, starts, lengths, groups, totals):
    """Set totals[i] to the sum of best[c] over the contributors c of groups[i], in the order of its run.

    There is one NaN, and no negative zero.
    """
    for i in range(len(groups)):
        start, total = starts[groups[i]], 0.0
        for j in range(start, start + lengths[groups[i]]):
            total += best[members[j]]
        totals[i] = total + 0.0 if total == total else np.nan


@kernel
def distinct(ids, seen):
    """Return each of the ids once, in the order of first occurrence; seen[id] is false before and after."""
    found, n = np.empty(len(ids), np.int64), 0
    for i in range(len(ids)):
        if not seen[ids[i]]:
            seen[ids[i]] = True
            found[n] = ids[i]
            n += 1
    for i in range(n):
        seen[found[i]] = False
    return found[:n].copy()


@kernel
def show(values, shown, groups, differs):
    """Set shown[g] to values[i] for each of the groups g = groups[i]; set differs[i] where that is another value."""
    for i in range(len(groups)):
        g = groups[i]
        differs[i] |= shown[g] != values[i]
        shown[g] = values[i]


@kernel
def publish(shown, groups, numbers, present):
    """Set present[numbers[g]] to shown[g] for each of the groups g."""
    for g in groups:
        present[numbers[g]] = shown[g]


@kernel
def order_by(ids, n_ids):
    """Return the positions of ids, all below n_ids, in the order of ids and, of equal ones, of positions."""
    ends = np.zeros(n_ids + 1, np.int64)
    for i in range(len(ids)):
        ends[ids[i] + 1] += 1
    for k in range(n_ids):
        ends[k + 1] += ends[k]
    order = np.empty(len(ids), np.int32)
    for i in range(len(ids)):
        order[ends[ids[i]]] = i
        ends[ids[i]] += 1
    return order


@kernel
def intern_values(index, values, lo, hi, column, at, ids):
    """Write to ids[i - lo] the position of values[i] in `column`, where those it lacks are appended from `at` on.

    index[v] is the position of the value v, plus one, or zero. Returns the number of values in the column.
    """
    for i in range(lo, hi):
        position = index[values[i]]
        if position == 0:
            column[at] = values[i]
            at += 1
            index[values[i]] = position = at
        ids[i - lo] = position - 1
    return at


@kernel
def find_values(index, values, n, ids):
    """Write to ids[i] the position that `intern_values` gave values[i], or -1 if it gave none; i < n."""
    for i in range(n):
        value = values[i]
        ids[i] = index[value] - 1 if 0 <= value < len(index) else -1


@kernel
def bounds(values, lo, hi):
    """The least and the greatest of values[lo:hi]; 0 and -1 if there are none."""
    if lo == hi:
        return 0, -1
    least = greatest = values[lo]
    for i in range(lo, hi):
        least, greatest = min(least, values[i]), max(greatest, values[i])
    return least, greatest
