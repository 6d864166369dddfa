"""Kernels of equivalence classes: union by size, with every element labelled by its class.

Elements are numbered. `label[e]` is the class of element e, one of its elements; the elements of class c stand in a
list from head[c] over `following` to tail[c]. When two classes are joined, the elements of the smaller are labelled
anew: O(n log n) steps for n elements in all, and reading a label takes one (Aho, Hopcroft and Ullman, 1974, §4.6).
Lists are joined end to end, so a class that was whole earlier still stands together.

`runs[c]` says where the values of class c stand in an arena, as in `kernels.csr_runs`; both its lengths are the size.
"""

import numpy as np

from engine.kernels import kernel
from engine.kernels.csr_runs import LENGTH, OLD, START


@kernel
def join_classes(left, right, label, following, head, tail, runs, joined):
    """Join the classes of left[i] and right[i]; write those that grew to `joined`, and return how many."""
    m = 0
    for i in range(len(left)):
        a, b = label[left[i]], label[right[i]]
        if a == b:
            continue
        if runs[a, LENGTH] < runs[b, LENGTH]:
            a, b = b, a
        e = head[b]
        while True:
            label[e] = a
            if e == tail[b]:
                break
            e = following[e]
        following[tail[a]] = head[b]
        tail[a] = tail[b]
        runs[a, LENGTH] += runs[b, LENGTH]
        joined[m] = a
        m += 1
    return m


@kernel
def write_runs(classes, following, head, values, arena, top, runs):
    """Write the values of the classes to the arena from `top` on; return the new top."""
    for c in classes:
        runs[c, START], runs[c, OLD] = top, runs[c, LENGTH]
        e = head[c]
        for _ in range(runs[c, LENGTH]):
            arena[0, top] = values[e]
            top += 1
            e = following[e]
    return top


@kernel
def keep_old(classes, following, head, label, runs, old_label, old_runs):
    """Make the labels and the runs of the classes the old ones."""
    for c in classes:
        for k in range(old_runs.shape[1]):
            old_runs[c, k] = runs[c, k]
        e = head[c]
        for _ in range(runs[c, LENGTH]):
            old_label[e] = label[e]
            e = following[e]


@kernel
def count_new_pairs(classes, following, head, runs, old_label, old_runs):
    """The number of pairs of elements that share one of the classes and shared no old one."""
    total = np.int64(0)
    for c in classes:
        total += np.int64(runs[c, LENGTH]) * runs[c, LENGTH]
        e, left = head[c], runs[c, LENGTH]
        while left:
            old = old_label[e]
            size = np.int64(old_runs[old, LENGTH]) if old >= 0 else np.int64(0)
            total -= size * size
            for _ in range(max(size, 1)):
                e = following[e]
            left -= max(size, 1)
    return total


@kernel
def write_new_pairs(classes, following, head, runs, arena, old_label, old_runs, out):
    """Write the pairs that `count_new_pairs` counts to `out`."""
    at = 0
    for c in classes:
        start, end = runs[c, START], runs[c, START] + runs[c, LENGTH]
        e, lo = head[c], start
        while lo < end:
            old = old_label[e]
            size = old_runs[old, LENGTH] if old >= 0 else 0
            hi = lo + max(size, 1)
            for x in range(lo, hi):
                for y in range(start, lo if size else hi):
                    out[0, at], out[1, at] = arena[0, x], arena[0, y]
                    at += 1
                for y in range(hi, end):
                    out[0, at], out[1, at] = arena[0, x], arena[0, y]
                    at += 1
            for _ in range(hi - lo):
                e = following[e]
            lo = hi
    return at


@kernel
def write_pairs(classes, runs, arena, out):
    """Write all pairs of elements that share one of the classes to `out`."""
    at = 0
    for c in classes:
        start, end = runs[c, START], runs[c, START] + runs[c, LENGTH]
        for x in range(start, end):
            for y in range(start, end):
                out[0, at], out[1, at] = arena[0, x], arena[0, y]
                at += 1
    return at


@kernel
def label_all(elements, label):
    """Replace each element by its class; -1 stays."""
    for i in range(len(elements)):
        if elements[i] >= 0:
            elements[i] = label[elements[i]]


@kernel
def label_pairs(elements, others, label):
    """Replace each element by its class if that is also the class of the other one, else by -1."""
    for i in range(len(elements)):
        a = label[elements[i]] if elements[i] >= 0 else -1
        b = label[others[i]] if others[i] >= 0 else -1
        elements[i] = a if a == b else -1
