"""A pool of workers goes on after a task has failed."""

import threading

import pytest

from engine.evaluation.worker_pool import WorkerPool

PATIENCE_S = 20


class Failed(Exception):
    pass


def run(pool, tasks):
    """Run tasks on a thread that a deadlock of the pool does not keep this one from going on; return what it raises."""
    raised = []

    def work():
        try:
            pool.run(tasks)
        except Failed as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "the pool does not come to an end"
    return raised


@pytest.mark.parametrize("fails_first", [True, False])
def test_a_pool_runs_all_tasks_after_one_has_failed(fails_first):
    pool, together, failed = WorkerPool(2, 8, 8, lambda: None), threading.Barrier(2), threading.Event()
    done = []

    def failing(worker):
        together.wait(PATIENCE_S)
        if not fails_first:
            failed.wait(PATIENCE_S)
        raise Failed

    def splitting(worker):
        together.wait(PATIENCE_S)
        if fails_first:
            while not pool.stopped:
                failed.wait(0.001)
        failed.set()
        return [lambda worker: done.append("left over")]

    assert len(run(pool, [failing, splitting])) == 1
    done.clear()
    again = threading.Barrier(2)

    def waiting(worker):
        again.wait(PATIENCE_S)
        done.append("new")

    assert not run(pool, [waiting, waiting])
    assert done == ["new", "new"]
    pool.close()


def test_tasks_run_while_others_are_made():
    pool, ran = WorkerPool(2, 8, 8, lambda: None), threading.Event()
    done = []

    def tasks():
        yield lambda worker: ran.set()
        assert ran.wait(PATIENCE_S), "no task has begun while the next is made"
        yield lambda worker: done.append("last")

    assert not run(pool, tasks())
    assert done == ["last"]
    pool.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_task_that_cannot_be_made_ends_the_run(threads):
    pool, done = WorkerPool(threads, 8, 8, lambda: None), []

    def tasks():
        yield lambda worker: None
        raise Failed

    assert len(run(pool, tasks())) == 1
    assert not run(pool, [lambda worker: done.append("new")])
    assert done == ["new"]
    pool.close()
