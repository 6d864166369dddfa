"""Schedulers: which of the strata that an update has activated may run, and in which order.

What flows in: a graph of nodes (`dag.py`; that of a program's strata is made by `activation_graph.py`), the nodes
activated at first, and with each completion those that the changed output activates. What flows out: nodes that a
worker may run. `scheduler.py` is the protocol, and the module to open first; `executor.py` drives it with threads.
After Singh et al., "A Scheduling Approach to Incremental Maintenance of Datalog Programs" (2020).
"""
