"""What slows a crawl down beside politeness."""

from __future__ import annotations

import math

from crawlproject.core.brakes import Brakes


class Until:
    """Forbids all before a time, which each fetch puts off."""

    def __init__(self, time: float) -> None:
        self.time = time

    def next_time(self) -> float:
        return self.time

    def taken(self, now: float) -> None:
        self.time = now + 10


def test_every_brake_has_to_let_go():
    brakes = Brakes([Until(5.0), Until(7.0)])
    assert brakes.hold(6.0) and not brakes.hold(7.0)
    assert brakes.delayed(1.0) == 7.0 and brakes.delayed(9.0) == 9.0
    brakes.taken(8.0)
    assert brakes.delayed(9.0) == 18.0


def test_without_brakes_nothing_is_held_and_with_an_endless_one_nothing_is_due():
    assert not Brakes().hold(0.0) and Brakes().delayed(3.0) == 3.0
    assert Brakes([Until(math.inf)]).delayed(3.0) is None
