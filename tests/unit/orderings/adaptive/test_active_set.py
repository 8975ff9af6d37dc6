"""Which waiting URLs deserve attention."""

from __future__ import annotations

from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.active_set import FEWEST_HOSTS, shortlist

waiting = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.integers(0, 9)), max_size=30)


def chosen(urls: list[tuple[float, int]], size: int, explore: float) -> list[int]:
    scores, hosts = np.array([url[0] for url in urls]), np.array([url[1] for url in urls], dtype=np.int64)
    return np.flatnonzero(shortlist(scores, hosts, size, explore)).tolist()


def test_the_best_and_the_best_of_other_hosts_by_hand() -> None:
    urls = [(0.9, 1), (0.1, 2), (0.8, 1), (0.3, 2), (0.7, 1), (0.2, 3)]
    assert chosen(urls, 2, 0) == [0, 2]
    assert chosen(urls, 2, 0.25) == [0, 2, 3], "one stranger: a quarter of the four hosts that are reckoned with"
    assert chosen(urls, 2, 1) == [0, 2, 3, 5]
    assert chosen(urls, 6, 0) == [0, 1, 2, 3, 4, 5]


def test_ties_go_to_the_first() -> None:
    assert chosen([(0.5, 1), (0.5, 1), (0.5, 2), (0.5, 2), (0.5, 3)], 1, 0.25) == [0, 2]


@given(waiting, st.integers(1, 12), st.floats(0, 3))
def test_holds_the_best_and_few_strangers(urls: list[tuple[float, int]], size: int, explore: float) -> None:
    found = chosen(urls, size, explore)
    ranked = sorted(range(len(urls)), key=lambda number: -urls[number][0])
    best, strangers = ranked[:size], [number for number in found if number not in ranked[:size]]
    assert set(best) <= set(found)
    familiar = {urls[number][1] for number in best}
    other_hosts = {urls[number][1] for number in ranked[size:]} - familiar
    allowed = ceil(explore * max(len(familiar), FEWEST_HOSTS))
    assert len(strangers) == min(allowed, len(other_hosts))
    assert len({urls[number][1] for number in strangers} - familiar) == len(strangers), "one a host, none familiar"
    for number in strangers:
        assert urls[number][0] == max(score for score, host in urls if host == urls[number][1])
