"""Evaluation on the threads of one machine.

`evaluator` (strata, in order, some in a copy of the process) → `stratum_evaluation` (one of them) → `semi_naive` (the
loop of a recursion: partition-local, under barriers or by exchange) → `compile_plan` (a rule as operators that drive
kernels over chunks) → `storage`. `worker_pool` runs tasks on threads; kernels release the GIL. `cardinality` and
`join_sampling` estimate sizes for join orders (`engine.plan.join_order`).
"""
