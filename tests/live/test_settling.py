"""A live process gives back memory: relations that were replaced, and rows of tuples that have gone."""

import gc
from weakref import ref

import numpy as np
import pytest

from analyzer.live.live_repository import LiveRepository
from analyzer.live.server import GROWTH_BYTES, Server
from engine.incremental import maintained_program
from engine.incremental.update_policy import BootstrapOnly
from tests.live.edits import Edits


@pytest.fixture
def server(tmp_path, run_time):
    Edits(tmp_path, 0).begin()
    before = gc.get_threshold()
    live = LiveRepository(tmp_path, {}, max_state_bytes=1 << 30)
    yield Server(live, tmp_path, 60.0, None, lambda text: None, {})
    live.close()
    gc.unfreeze()
    gc.set_threshold(*before)


def test_relations_that_were_replaced_are_given_back(server, tmp_path):
    """They are cycles of objects, which the garbage collector spares as long as they are the live ones."""
    server.refresh()
    for number in range(2):
        before = ref(server.live.view)
        server.live.follower.maintainer.policy = BootstrapOnly()
        (tmp_path / "app/tools.py").write_text("import os\nos.system(input())\n" + "# more\n" * number)
        server.refresh()
        assert server.live.view is not before() and before() is None


def test_relations_are_compacted_unless_somebody_asks_for_something(server, monkeypatch):
    server.refresh()
    before, report = server.live.view, server.live.report(server.live.frozen()).report
    monkeypatch.setattr(maintained_program, "FEW_ROWS", -(1 << 40))
    server.jobs.put(None)
    server.compact()
    assert server.live.view is before
    server.jobs.get()
    server.compact()
    assert server.live.view is not before
    assert server.live.report(server.live.frozen()).report == report


def test_what_updates_leave_behind_is_collected(server):
    """Commands, of which a live process is one, set a threshold that they do not reach."""
    gc.set_threshold(5_000_000)
    server.refresh()
    server.refresh()

    class Cycle:
        pass

    made = Cycle()
    made.itself, gone = made, ref(made)
    del made
    for _ in range(100):  # More objects than a full collection waits for, from what lives after settling.
        if gone() is None:
            break
        held = [[] for _ in range(10_000)]
    assert gone() is None and held


def test_large_arrays_that_answers_leave_behind_are_collected(server):
    """They may hang on cycles of few objects, fewer than the collector waits for."""
    server.refresh()
    gc.set_threshold(5_000_000)

    class Cycle:
        pass

    made = Cycle()
    made.itself, made.array = made, np.ones(2 * GROWTH_BYTES, np.uint8)
    gone = ref(made)
    del made
    assert gone() is not None
    server.clear_away()
    assert gone() is None
