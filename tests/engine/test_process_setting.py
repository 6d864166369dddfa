"""Settings of the process hold as long as one of its threads needs them, and no longer."""

import gc
import os
import sys
from threading import Barrier, Event, Thread

import pytest

from engine.process_setting import collector_off, frames_at_least


@pytest.fixture
def in_thread():
    """Return what enters a setting in another thread, and returns what leaves it there."""
    left = []

    def entered(setting):
        inside, leave = Event(), Event()

        def hold():
            with setting:
                inside.set()
                leave.wait()

        thread = Thread(target=hold)
        thread.start()
        inside.wait()

        def end():
            leave.set()
            thread.join()

        left.append(end)
        return end

    yield entered
    for end in left:
        end()


def test_blocks_that_nest_and_overlap_are_one(in_thread):
    off, limit = collector_off(), sys.getrecursionlimit()
    deep = frames_at_least(limit + 500)
    with off, off, deep:
        end = in_thread(off), in_thread(deep)
        assert not gc.isenabled() and sys.getrecursionlimit() == limit + 500
    assert not gc.isenabled() and sys.getrecursionlimit() == limit + 500
    for each in end:
        each()
    assert gc.isenabled() and sys.getrecursionlimit() == limit


def test_what_was_set_before_stays(in_thread):
    limit = sys.getrecursionlimit()
    gc.disable()
    try:
        with collector_off(), frames_at_least(limit - 1):
            assert sys.getrecursionlimit() == limit
        assert not gc.isenabled() and sys.getrecursionlimit() == limit
    finally:
        gc.enable()


def test_an_error_leaves_the_block_too():
    with pytest.raises(ZeroDivisionError), collector_off():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_threads_that_come_and_go_leave_the_collector_on():
    """A thread that reads the setting before another puts it back, and sets it after, would leave it off."""
    off, together, before = collector_off(), Barrier(4), sys.getswitchinterval()

    def come_and_go():
        together.wait()
        for _ in range(5_000):
            with off:
                pass

    sys.setswitchinterval(1e-6)
    try:
        threads = [Thread(target=come_and_go) for _ in range(together.parties)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert gc.isenabled()


def test_a_copy_of_the_process_has_nothing_of_other_threads(in_thread):
    off = collector_off()
    in_thread(off)
    copy = os.fork()
    if not copy:
        with off:
            was_off = not gc.isenabled()
        os._exit(0 if was_off and gc.isenabled() else 1)
    assert os.waitpid(copy, 0)[1] == 0 and not gc.isenabled()
