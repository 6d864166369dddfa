"""Evaluation by a group of processes that share no memory, each with a part of the data.

What flows in: to each member, the same program and its part of the facts. What flows out: its part of every relation.
Members advance in supersteps: each runs the local engine until it is quiet, then all exchange what they have derived
for one another. A `communicator.Communicator` carries the messages; `engine.spark` has one for Spark's tasks.
"""
