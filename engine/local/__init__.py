"""Evaluation on the threads of one machine.

`evaluate` (strata, in order) → `recursion` (partition-local, under barriers or by exchange) → `build` (a rule as
operators that drive kernels over chunks) → `storage`. `team` runs tasks on threads; kernels release the GIL.
"""
