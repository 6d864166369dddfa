"""The coordination policies against the paper's formulas by hand, and the queues between workers."""

from dataclasses import replace
from math import inf
from threading import Thread
from time import sleep

import pytest

from engine.evaluation.coordination_policy import (
    Arrivals,
    Dws,
    Global,
    Moments,
    Situation,
    Spacing,
    Ssp,
    Wait,
    mixture,
    thresholds,
)
from engine.evaluation.queues import Queue, Queues

ARRIVALS = [Arrivals(30, Spacing(2.0, 1.0)), Arrivals(10, Spacing(6.0, 3.0))]


def situation(**changes):
    basic = Situation(
        worker=0, iterations=[4, 4], active=[True, True], n_tuples=1, waited_s=0.0, arrivals=(), service=None
    )
    return replace(basic, **changes)


def test_equation_1_mixes_the_producers_by_what_they_have_sent():
    # 1/λ = (30·2 + 10·6)/40 = 3 and σ²a = (30·(1 + 4) + 10·(3 + 36))/40 − 9 = 4.5
    assert mixture(ARRIVALS) == Spacing(3.0, 4.5)


def test_equation_2_gives_the_queue_and_the_wait():
    # ρ = 1.5/3, C²a = 4.5/9, C²s = 0.5/2.25: L = 1/4 · (1/2 + 2/9) / (2 · 1/2) = 13/72 and τ = 3 L
    assert thresholds(ARRIVALS, Spacing(1.5, 0.5)) == pytest.approx((13 / 72, 13 / 24))


@pytest.mark.parametrize("rho, length", [(0.5, 0.5), (0.9, 8.1), (0.99, 98.01)])
def test_kingmans_formula_is_exact_for_exponential_times(rho, length):
    """M/M/1: the variance is the square of the mean, and the queue is ρ²/(1 − ρ) long."""
    found = thresholds([Arrivals(1, Spacing(1.0, 1.0))], Spacing(rho, rho**2))
    assert found == pytest.approx((length, length))


def test_a_worker_that_cannot_keep_up_proceeds_at_once():
    assert thresholds(ARRIVALS, Spacing(3.0, 100.0)) == (0.0, 0.0)
    assert Dws().decide(situation(arrivals=ARRIVALS, service=Spacing(3.0, 100.0))) is None


BUSY = [Arrivals(2, Spacing(1.0, 1.0))]
SERVICE = Spacing(0.9, 0.81)


def test_dws_waits_for_omega_tuples_but_no_longer_than_tau():
    wait = Dws().decide(situation(n_tuples=2, waited_s=3.1, arrivals=BUSY, service=SERVICE))
    assert (wait.tuples, wait.seconds) == pytest.approx((8.1, 5.0))
    assert Dws().decide(situation(n_tuples=9, arrivals=BUSY, service=SERVICE)) is None
    assert Dws().decide(situation(n_tuples=2, waited_s=8.2, arrivals=BUSY, service=SERVICE)) is None


def test_dws_waits_for_nobody_when_all_others_are_idle():
    assert Dws().decide(situation(active=[True, False], arrivals=BUSY, service=SERVICE)) is None


def test_dws_proceeds_while_nothing_is_known():
    assert Dws().decide(situation()) is None
    assert Dws().decide(situation(arrivals=BUSY)) is None


def test_a_worker_may_be_ahead_by_the_slack():
    ahead = situation(iterations=[6, 4, 5], active=[True] * 3)
    assert Global().decide(ahead) == Ssp(0).decide(ahead) == Ssp(1).decide(ahead) == Wait(inf, inf)
    assert Ssp(2).decide(ahead) is None
    assert Global().decide(situation(iterations=[4, 4, 5], active=[True] * 3)) is None


def test_nobody_waits_for_a_worker_with_nothing_to_do():
    assert Global().decide(situation(iterations=[6, 4], active=[True, False])) is None


def test_moments_are_those_of_the_tuples():
    moments = Moments()
    assert moments.spacing is None
    moments.add(4, 8.0)
    assert moments.spacing == Spacing(2.0, 0.0)
    # Three quarters of the first four count beside two tuples of 5 s each: (3·2 + 2·5)/5 and (3·4 + 2·25)/5 − 3.2².
    moments.add(2, 10.0)
    assert (moments.spacing.mean_s, moments.spacing.variance) == pytest.approx((3.2, 12.4 - 3.2**2))


def test_a_queue_is_first_in_first_out_and_bounded():
    queue = Queue(2)
    assert queue.put("a") and queue.put("b") and not queue.put("c")
    assert queue.take() == ["a", "b"] and queue.take() == []
    assert queue.put("c") and queue.put("d") and queue.is_full
    assert queue.take() == ["c", "d"] and len(queue) == 0


@pytest.mark.parametrize("capacity", [1, 3, 64])
def test_a_queue_loses_nothing_between_two_threads(capacity):
    queue, n = Queue(capacity), 5_000

    def produce():
        for item in range(n):
            while not queue.put(item):
                sleep(0)

    producer = Thread(target=produce)
    producer.start()
    taken = []
    while len(taken) < n:
        taken += queue.take()
        sleep(0)
    producer.join()
    assert taken == list(range(n))


def test_queues_keep_pairs_apart():
    queues = Queues(3, capacity=1)
    assert queues.send(0, 2, "a") and queues.send(1, 2, "b") and queues.send(2, 0, "c")
    assert not queues.send(0, 2, "d") and not queues.has_room(0, 2) and queues.has_room(0, 1)
    assert queues.has_items(2) and not queues.has_items(1)
    assert queues.receive(2) == [(0, "a"), (1, "b")] and queues.receive(2) == []
    assert queues.receive(0) == [(2, "c")]
