"""The group over sockets."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine import FactsError
from engine.cluster.tls import certificate
from engine.spark.socket_communicator import Credentials, SocketCommunicator


def meshes(size, work, access=None):
    """Run `work(mesh)` for each of so many members on threads; return the futures."""
    addresses, barrier, access = [None] * size, threading.Barrier(size), access or Credentials()

    def member(rank):
        def meet(address):
            addresses[rank] = address
            barrier.wait()
            return addresses

        mesh = SocketCommunicator(rank, size, "127.0.0.1", access, meet)
        try:
            return work(mesh)
        finally:
            mesh.close()

    pool = ThreadPoolExecutor(size)
    futures = [pool.submit(member, rank) for rank in range(size)]
    pool.shutdown()
    return futures


@pytest.mark.parametrize("pem", [b"", certificate()], ids=["plain", "encrypted"])
def test_parcels_arrive_in_the_order_of_members(pem):
    def work(mesh):
        first = mesh.exchange([f"{mesh.rank} to {other}" for other in range(mesh.size)])
        # More than any buffer of the system holds, in all directions at once.
        second = mesh.exchange([np.full(3_000_000, mesh.rank)] * mesh.size)
        return first, [part[0] for part in second]

    for rank, future in enumerate(meshes(4, work, Credentials(pem=pem))):
        assert future.result() == ([f"{other} to {rank}" for other in range(4)], [0, 1, 2, 3])


def test_a_failure_is_told_to_all():
    def work(mesh):
        if mesh.rank == 1:
            mesh.fail(FactsError("edge.facts", 0, "a number is no number"))
            return
        mesh.exchange([None] * mesh.size)

    futures = meshes(3, work)
    for rank in (0, 2):
        with pytest.raises(FactsError, match="edge.facts: a number is no number") as caught:
            futures[rank].result()
        assert caught.value.path == Path("edge.facts")


def test_a_member_that_is_gone_ends_the_others():
    def work(mesh):
        if mesh.rank:
            mesh.exchange([None] * mesh.size)

    for future in meshes(3, work)[1:]:
        with pytest.raises(ConnectionError, match="lost the connection to another member"):
            future.result()
