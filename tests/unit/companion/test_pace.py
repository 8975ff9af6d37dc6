"""The number of fetches for a person."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from crawlproject.companion.look_ahead import AheadPace


def test_nothing_before_the_first_page_nor_beyond_its_budget_nor_while_it_is_paused():
    pace = AheadPace(2, 100)
    assert pace.next_time() == math.inf
    pace.begin()
    assert pace.next_time() == 0.0
    pace.paused = True
    assert pace.next_time() == math.inf
    pace.paused = False
    pace.taken(1.0)
    pace.taken(1.0)
    assert pace.next_time() == math.inf
    pace.begin()
    assert pace.next_time() == 0.0 and pace.total == 2
    pace.stop()
    assert pace.next_time() == math.inf


@given(st.integers(1, 5), st.lists(st.floats(0, 20), min_size=1, max_size=60))
def test_no_minute_has_more_than_the_rate(rate, gaps):
    pace, now, taken = AheadPace(1000, rate), 0.0, []
    pace.begin()
    for gap in gaps:
        now += gap
        if now >= pace.next_time():
            pace.taken(now)
            taken.append(now)
    assert taken
    assert all(sum(first <= other < first + 60 for other in taken) <= rate for first in taken)
