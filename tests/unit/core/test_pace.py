"""The share that revisits have of all fetches, while others wait as well."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import pytest

from crawlproject.parts.revisits.allocation import Slots


@pytest.mark.parametrize("waiting", [1, 3, 200, 5000])
def test_those_that_wait_go_at_the_rate(waiting: int) -> None:
    """As they did not: each look of one that waited put all off."""
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
