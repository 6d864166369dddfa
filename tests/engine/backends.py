"""The ways of evaluating that the engine's tests compare: threads, a policy, and sizes so small that all is divided."""

from dataclasses import replace

from engine.local.execution import Options
from engine.local.policy import GLOBAL, Dws, Ssp

TINY = Options(
    chunk_rows=5,
    inbox_rows=2,
    partition_rows=6,
    split_rows=6,
    delta_rows=1,
    max_bits=5,
    alone_rows=0,
    wave_tasks=3,
    min_sampled=2,
)
FULL_QUEUES = replace(TINY, exchange_bits=3, queue_batches=1)
ROUNDS = {
    "one thread": (1, GLOBAL, Options()),
    "tiny": (1, GLOBAL, TINY),
    "tiny, two threads": (2, GLOBAL, TINY),
}
BACKENDS = {
    **ROUNDS,
    "ssp": (3, Ssp(1), FULL_QUEUES),
    "dws": (2, Dws(), FULL_QUEUES),
}
