"""Kernel of choice domains: which rows of a batch are let in."""

import numpy as np

from engine.kernels import kernel


@kernel
def admit(ids, taken, room, admitted):
    """Write to `admitted` the rows let in, at most `room`, and return how many; the first row is the first to choose.

    ids[k, i] is the number of row i's value of key k: a row is let in if no key of it is `taken`, and then takes them.
    """
    n, n_keys = 0, ids.shape[0]
    for i in range(ids.shape[1]):
        if n == room:
            break
        is_free = True
        for k in range(n_keys):
            is_free = is_free and not taken[k, ids[k, i]]
        if is_free:
            for k in range(n_keys):
                taken[k, ids[k, i]] = True
            admitted[n] = i
            n += 1
    return np.int64(n)
