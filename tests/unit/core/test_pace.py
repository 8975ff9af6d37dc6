"""The share of revisits among all fetches while other URLs wait as well."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import pytest

from crawlproject.parts.revisits.allocation import Slots


@pytest.mark.parametrize("waiting", [1, 3, 200, 5000])
def test_those_that_wait_go_at_the_rate(waiting: int) -> None:
    """Before, each look at a waiting revisit postponed all of them."""
    slots, begun, looks = Slots(), list[float](), 0
    slots.rate = 0.1
    line = [(0.0, number) for number in range(waiting)]
    heapify(line)
    while line and line[0][0] < 6000.0:
        now, number = heappop(line)
        looks += 1
        again = slots.begin(now)
        if again <= now:
            begun.append(now)
            again = now + 1.0  # the page is due again
        heappush(line, (again, number))
    assert len(begun) == pytest.approx(600, abs=2)
    assert min(later - earlier for earlier, later in pairwise(begun)) >= 9.99
    assert looks < waiting + 1500, "each waits for its turn"


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_a_crawl_that_is_slower_than_its_rate_keeps_the_share(share: float) -> None:
    """Before, revisits that were always due left nothing for new pages."""
    slots, due, revisits = Slots(), [0.0] * 50, 0
    slots.rate, slots.share = 1000.0 * share, share
    for step in range(5000):
        now = step * 0.05  # twenty fetches a second; a new page is always ready
        for number, at in enumerate(due):
            if at <= now:
                due[number] = slots.begin(now)
                if due[number] <= now:
                    revisits += 1
                    due[number] = now + 0.1
                    break
        slots.any_taken()
    assert revisits / 5000 == pytest.approx(share, abs=0.01)


def test_revisits_wait_for_nobody_when_no_other_is_ready() -> None:
    slots, begun, again = Slots(), 0, 0.0
    slots.rate, slots.share = 700.0, 0.7
    for step in range(1000):
        now = step * 0.05
        if again <= now:
            again = slots.begin(now)
            if again <= now:
                begun += 1
                slots.any_taken()
    assert begun > 600
