"""A live process gives back memory: relations that were replaced, and rows of tuples that have gone."""

import gc
from weakref import ref

import numpy as np
import pytest

from analyzer.history import commit_update
from analyzer.history.snapshot import Looked
from analyzer.live.live_repository import THRESHOLDS, LiveRepository
from analyzer.live.server import GROWTH_BYTES, Server
from engine.incremental import maintained_program
from engine.incremental.update_policy import BootstrapOnly
from tests.live.edits import Edits


@pytest.fixture
def server(tmp_path, run_time):
    Edits(tmp_path, 0).begin()
    before = gc.get_threshold()
    live = LiveRepository(tmp_path, {}, max_state_bytes=1 << 30)
    said = []
    yield Server(live, tmp_path, 60.0, None, said.append, {})
    live.close()
    gc.unfreeze()
    gc.set_threshold(*before)
    assert not [text for text in said if "not evaluated" in text]


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
    server.compact()
    assert server.live.view is before
    monkeypatch.setattr(maintained_program, "FEW_ROWS", -(1 << 40))
    server.jobs.put(None)
    server.compact()
    assert server.live.view is before
    assert server.live.report(server.live.frozen()).report == report
    server.jobs.get()
    server.compact()
    assert server.live.view is not before
    assert server.live.report(server.live.frozen()).report == report


def test_symbols_and_entities_that_nothing_names_any_more_are_given_back(server, tmp_path, monkeypatch):
    monkeypatch.setattr(commit_update, "FEW_NAMES", 0)
    monkeypatch.setattr(maintained_program, "FEW_ROWS", 1 << 40)
    server.refresh()
    n_before = server.live.follower.n_named
    for number in range(6):
        lines = [f"name_{number}_{i} = {i}\n" for i in range(n_before // 4)]
        (tmp_path / "app/many.py").write_text("".join(lines))
        server.refresh()
    (tmp_path / "app/many.py").write_text("name_last = 1\n")
    server.refresh()
    report = server.live.report(server.live.frozen()).report
    assert server.live.follower.n_named > 2 * n_before
    server.compact()
    texts = server.live.view.symbols.texts(range(len(server.live.view.symbols)))
    assert "name_last" in texts and not any(text.startswith("name_5_") for text in texts)
    assert server.live.follower.n_named < 1.1 * n_before
    assert server.live.report(server.live.frozen()).report == report
    after = server.live.view
    server.compact()
    assert server.live.view is after


def test_a_compaction_whose_files_are_not_those_held_is_dropped(server, monkeypatch):
    """As when the extraction of one takes too long this time."""
    monkeypatch.setattr(maintained_program, "FEW_ROWS", -(1 << 40))
    server.refresh()
    before = server.live.view
    server.live.follower.snapshot.looked["app/more.py"] = Looked("0" * 40)
    server.compact()
    assert server.live.view is before


def test_what_updates_leave_behind_is_collected(server):
    """Commands, of which a live process is one, set a threshold that they do not reach."""
    gc.set_threshold(5_000_000)
    server.refresh()
    server.refresh()
    assert gc.get_threshold() == THRESHOLDS

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
