"""When nobody looked after the fetches in flight."""

from __future__ import annotations

import pytest

from crawlproject.core.heartbeat import PERIOD, Heartbeat


class Body:
    """A heartbeat, and the clocks that it goes by."""

    def __init__(self) -> None:
        self.now, self.worked = 100.0, 0.0
        self.heart = Heartbeat(lambda: self.now, lambda: self.worked)
        self.heart.start()

    def live(self, seconds: float, work: float = 0.0) -> None:
        """So many seconds pass until the next beat."""
        self.now += seconds
        self.worked += work
        self.heart.beat()


def test_beats_in_time_are_no_gap() -> None:
    body = Body()
    for _ in range(100):
        body.live(PERIOD + 0.4, work=0.4)
    assert body.heart.lost(0.0, body.now) == 0.0 and not body.heart.excuse(100.0, timed_out=True)


@pytest.mark.parametrize(("work", "reason"), [(0.0, "suspended"), (58.0, "busy")])
def test_a_suspension_and_a_busy_loop_are_told_apart(work: float, reason: str) -> None:
    body = Body()
    body.live(PERIOD)
    body.live(60.0, work)
    assert body.heart.lost(100.0, body.now) == pytest.approx(59.5)
    assert body.heart.excuse(100.0, timed_out=True) == reason
    assert body.heart.excuse(100.0, timed_out=False) == ("suspended" if not work else ""), "a loop resets no connection"
    assert body.heart.suspensions == (not work)


def test_the_end_of_one_crawl_leaves_the_beats_to_the_others() -> None:
    body = Body()
    body.heart.start()
    body.heart.stop()
    body.live(60.0)
    assert body.heart.excuse(100.0, timed_out=False) == "suspended"
    body.heart.stop()
    body.live(60.0)
    assert body.heart.suspensions == 1, "nobody waits for beats any more"


def test_only_what_was_in_flight_is_excused() -> None:
    body = Body()
    body.live(60.0)
    assert body.heart.excuse(body.now, timed_out=True) == ""
    assert body.heart.lost(body.now, body.now + 9) == 0.0


def test_a_page_that_took_three_seconds_excuses_no_time_out_of_thirty() -> None:
    body = Body()
    body.live(3.0, work=3.0)
    for _ in range(54):
        body.live(PERIOD)
    assert body.heart.lost(100.0, body.now) == pytest.approx(2.5)
    assert body.heart.excuse(100.0, timed_out=True) == ""


def test_a_failure_is_excused_before_the_next_beat() -> None:
    body = Body()
    body.now += 60.0
    assert body.heart.excuse(100.0, timed_out=False) == "suspended"


def test_without_beats_nothing_is_known() -> None:
    body = Body()
    body.heart.stop()
    body.now += 60.0
    assert body.heart.excuse(100.0, timed_out=True) == "" and body.heart.lost(100.0, body.now) == 0.0
