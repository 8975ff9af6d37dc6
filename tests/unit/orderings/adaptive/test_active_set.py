"""The choice of the waiting URLs above the floor."""

from __future__ import annotations

import math
from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.active_set import (
    DOUBLING,
    FEWEST,
    FEWEST_HOSTS,
    MOVED,
    MOVED_BELOW,
    ActiveSet,
    explored,
)
from crawlproject.orderings.adaptive.link_table import LinkTable

waiting = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.integers(0, 9)), max_size=30)


class Chosen:
    """An active set over a table of URLs ``(score, host)``, which it receives as the links of a page."""

    def __init__(self, urls: list[tuple[float, int]], size: int, explore: float) -> None:
        self.table = LinkTable()
        self.rows = np.array(self.table.add(list(map(str, range(len(urls)))), 0.0), dtype=np.int64)
        self.table.groups[self.rows, 0] = [host for _, host in urls]
        self.set = ActiveSet(self.table, size, explore)
        self.pages = 0
        self.set.admit(self.rows, np.array([score for score, _ in urls]))

    def observe(self) -> None:
        self.pages += 1
        self.set.observe()

    def choose(self, *scores: float) -> list[int]:
        """The rows whose new scores go to the frontier, after these scores (default: as before)."""
        values = np.array(scores) if scores else self.table.told[self.rows].copy()
        return np.flatnonzero(np.isin(self.rows, self.set.choose(self.rows, values))).tolist()

    def active(self) -> list[int]:
        return np.flatnonzero(self.table.told[self.rows] >= self.set.floor).tolist()


def chosen(urls: list[tuple[float, int]], size: int, explore: float) -> list[int]:
    made = Chosen(urls, size, explore)
    made.choose()
    return made.active()


def test_the_best_and_the_best_of_other_hosts_by_hand() -> None:
    urls = [(0.9, 1), (0.1, 2), (0.8, 1), (0.3, 2), (0.7, 1), (0.2, 3)]
    assert chosen(urls, 2, 0) == [0, 2]
    assert chosen(urls, 2, 0.25) == [0, 2, 3], "one stranger: a quarter of the four hosts that are reckoned with"
    assert chosen(urls, 2, 1) == [0, 2, 3, 5]
    assert chosen(urls, 6, 0) == [0, 1, 2, 3, 4, 5]


def test_what_others_have_raises_the_floor_and_is_explored_there_by_hand() -> None:
    made = Chosen([(0.9, 1), (0.8, 1), (0.3, 2), (0.25, 3), (0.2, 4)], 2, 0.5)
    hosts = np.array([-math.inf, 0.85, 0.4, -math.inf, -math.inf, 0.5])
    made.set.choose(made.rows, made.table.told[made.rows].copy(), np.array([0.85, 0.5]), hosts)
    assert made.set.floor == 0.85, "of 0.9, 0.85, 0.8 and 0.5"
    assert made.active() == [0], "two strangers of half of four hosts: the others have the better ones, 0.5 and 0.4"
    made.set.choose(made.rows, made.table.told[made.rows].copy(), np.array([0.85, 0.5]), hosts[:2])
    assert made.active() == [0, 2, 3], "host 1 has a URL above the floor, 2 and 3 are the next"


def test_no_size_and_fewer_urls_mean_no_floor() -> None:
    for size in (0, 2, 3):
        made = Chosen([(0.9, 1), (0.1, 2)], size, 1)
        made.choose()
        assert made.set.floor == -math.inf and made.active() == [0, 1]


def test_strangers_score_the_floor_and_only_changes_are_told() -> None:
    made = Chosen([(0.9, 1), (0.8, 1), (0.3, 2), (0.1, 2)], 2, 1)
    assert made.choose() == [2], (
        "the host's best rises to the floor; the others have the scores that the frontier knows"
    )
    assert made.set.floor == 0.8 == made.table.told[made.rows[2]]
    assert made.choose(0.9 + MOVED / 2, 0.8, 0.3, 0.1) == [], "too little of a change"
    assert made.choose(0.9, 0.8, 0.3, 0.1 + MOVED_BELOW / 2) == [], "below the floor more has to change"
    assert made.choose(0.9, 0.8, 0.3, 0.1 + 1.5 * MOVED_BELOW) == [3], (
        "by the clock, hosts below the floor are visited too"
    )
    assert made.choose(0.1, 0.8, 0.3, 0.7) == [0, 2, 3], "one leaves, another one of the same host comes"
    assert made.set.floor == 0.7 and made.active() == [1, 3]


def test_links_keep_the_higher_score_and_count_when_they_pass_the_floor() -> None:
    made = Chosen([(0.9, 1), (0.8, 1), (0.3, 1), (0.2, 1)], 2, 0)
    made.choose()
    made.set.admit(made.rows, np.array([0.5, 0.8, 0.85, 0.1]))
    assert made.table.told[made.rows].tolist() == [0.9, 0.8, 0.85, 0.2] and made.active() == [0, 1, 2]


def test_it_is_short_when_less_than_half_is_left() -> None:
    made = Chosen([(0.9 - number / 100, 1) for number in range(12)], 4, 0)
    made.choose()
    for number, short in enumerate([False, False, False, True]):
        assert made.set.is_short() is short, number
        made.set.removed(made.rows[number : number + 1])
        made.table.remove(made.rows[number : number + 1])


def test_without_a_floor_all_rows_are_active_and_it_is_not_short() -> None:
    made = Chosen([(0.5, 1)] * 3, 4, 0)
    assert not made.set.is_short(), "of three there are three"


def test_the_set_grows_from_few_to_its_size() -> None:
    made = Chosen([(number / 1000, 1) for number in range(200)], 64, 0)
    for pages, active in ((0, 8), (50, 11), (100, 16), (200, 32), (300, 64), (5_000, 64)):
        while made.pages < pages:
            made.observe()
        made.choose()
        assert len(made.active()) == active, f"after {pages} pages, from {FEWEST}, doubled in {DOUBLING}"


@given(waiting, st.integers(1, 12), st.floats(0, 3))
def test_explored_hosts_are_few_and_the_next_best(urls: list[tuple[float, int]], size: int, explore: float) -> None:
    scores, hosts = np.array([url[0] for url in urls]), np.array([url[1] for url in urls], dtype=np.int64)
    ranked = sorted(range(len(urls)), key=lambda number: -urls[number][0])
    floor = urls[ranked[size - 1]][0] if len(urls) >= size else -math.inf
    strangers = explored(scores, hosts, floor, explore).tolist()
    familiar = {host for score, host in urls if score >= floor}
    best = {host: max(score for score, other in urls if other == host) for _, host in urls if host not in familiar}
    assert len(strangers) == min(ceil(explore * max(len(familiar), FEWEST_HOSTS)), len(best))
    assert len({urls[number][1] for number in strangers} - familiar) == len(strangers), "one a host, none familiar"
    assert all(urls[number][0] == best[urls[number][1]] for number in strangers)
    left = [score for host, score in best.items() if host not in {urls[number][1] for number in strangers}]
    assert not strangers or max(left, default=-1.0) <= min(urls[number][0] for number in strangers)
