"""The improvement of the ranking of queries by a visit, worked out by hand.

V(r) = r^-1.5, so V(1) = 1, V(2) = 0.353553, V(3) = 0.19245.
"""

from __future__ import annotations

from collections import Counter

import pytest
from support.pages import ANALYZER

from crawlproject.parts.revisits.base import Outcome
from crawlproject.parts.revisits.query_ranking import QueryRanking
from crawlproject.parts.revisits.registry import make_policy

DAY = 86_400.0


def ranking(**shares: float) -> QueryRanking:
    """A ranking for one query, "fish": page 0 has the cosine 4/5, page 1 has 3/5."""
    made = QueryRanking(shares or {"fish": 1.0}, ANALYZER)
    assert made.show(0, text(4, 3)) == made.show(1, text(3, 4)) == 0.0, "new pages"
    return made


def text(fish: int, market: int) -> Counter[str]:
    return Counter({"fish": fish, "market": market})


def test_a_page_that_rises_takes_the_attention_of_those_below() -> None:
    """From rank 2 to 1, past 4/5: (1 - 0.8) (1 - 0.353553)."""
    assert ranking().show(1, text(5, 0)) == pytest.approx(0.2 * 0.646447, abs=1e-6)


def test_a_page_that_falls_gives_it_up() -> None:
    """From rank 1 to 2, past 3/5; its cosine is now 5/13: (0.6 - 0.384615) (1 - 0.353553)."""
    assert ranking().show(0, text(5, 12)) == pytest.approx(0.215385 * 0.646447, abs=1e-6)


def test_a_change_that_leaves_the_order_alone_has_no_impact() -> None:
    assert ranking().show(0, text(5, 0)) == 0.0
    assert ranking().show(1, text(5, 12)) == 0.0, "3/5 becomes 5/13, and is second all the same"


def test_a_page_that_was_not_found_before_is_looked_at_now() -> None:
    """Third page, from no result to rank 1 with 1: 0.2 x 0.646447 + 0.4 x (0.353553 - 0.19245) + 1 x 0.19245."""
    made = ranking()
    assert made.show(2, text(0, 7)) == 0.0
    assert made.show(2, text(1, 0)) == pytest.approx(0.129289 + 0.064441 + 0.19245, abs=1e-5)
    assert made.show(2, text(1, 0)) == 0.0, "as it was"


def test_a_page_that_is_gone_was_in_the_place_of_others() -> None:
    """The best: 0.6 x 0.646447. The other one moves up."""
    made = ranking()
    assert made.show(0, {}) == pytest.approx(0.6 * 0.646447, abs=1e-6)
    assert made.show(1, text(5, 0)) == 0.0, "it is alone, and first whatever it says"


def test_queries_count_as_often_as_they_are_asked() -> None:
    """The second query, "market", has the cosines 3/5 and 4/5: page 1 falls out of it, from rank 1: 0.6 x 0.646447."""
    made = ranking(fish=0.75, market=0.25)
    assert made.show(1, text(5, 0)) == pytest.approx(0.75 * 0.129289 + 0.25 * 0.6 * 0.646447, abs=1e-5)


def test_the_policy_goes_by_the_impact_where_it_is_known() -> None:
    """Both pages change at each visit and keep their weights; the changes of the second move the ranking."""
    policy = make_policy("impact")
    for visit in range(12):
        for row, impact in enumerate((0.0, 0.1)):
            policy.observe(
                Outcome(
                    row, visit * DAY, first=visit == 0, changed=visit > 0, host=row, impact=impact if visit else None
                )
            )
    policy.plan(11 * DAY, 1 / DAY)
    assert policy.next_visit(1) < policy.next_visit(0)
