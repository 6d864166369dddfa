"""The group over sockets."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import numpy as np
import pytest

from engine import FactsError
from engine.spark.mesh import Mesh

pytestmark = pytest.mark.slow


def meshes(size, work, keys=None):
    """Run `work(mesh)` for each of so many members on threads; return the futures."""
    addresses, barrier = [None] * size, threading.Barrier(size)

    def member(rank):
        def meet(address):
            addresses[rank] = address
            barrier.wait()
            return addresses

        mesh = Mesh(rank, size, "127.0.0.1", (keys or [b"key"] * size)[rank], meet)
        try:
            return work(mesh)
        finally:
            mesh.close()

    pool = ThreadPoolExecutor(size)
    futures = [pool.submit(member, rank) for rank in range(size)]
    pool.shutdown()
    return futures


def test_parcels_arrive_in_the_order_of_members():
    def work(mesh):
        first = mesh.exchange([f"{mesh.rank} to {other}" for other in range(mesh.size)])
        # More than any buffer of the system holds, in all directions at once.
        second = mesh.exchange([np.full(3_000_000, mesh.rank)] * mesh.size)
        return first, [part[0] for part in second]

    for rank, future in enumerate(meshes(4, work)):
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
        with pytest.raises(ConnectionError, match="has lost another one"):
            future.result()


def test_strangers_are_not_let_in():
    addresses, barrier = [None] * 2, threading.Barrier(3)

    def member(rank):
        def meet(address):
            addresses[rank] = address
            barrier.wait()
            barrier.wait()
            return addresses

        mesh = Mesh(rank, 2, "127.0.0.1", b"key", meet)
        return mesh.exchange([rank] * 2)

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(member, rank) for rank in range(2)]
        barrier.wait()
        host, _, port = addresses[0].rpartition(":")
        # The stranger stands in line first; it is answered when the member begins to accept.
        stranger = pool.submit(Client, (host, int(port)), authkey=b"guess")
        hung_up = socket.create_connection((host, int(port)))
        hung_up.close()
        barrier.wait()
        with pytest.raises(AuthenticationError):
            stranger.result()
        assert [future.result() for future in futures] == [[0, 1], [0, 1]]
