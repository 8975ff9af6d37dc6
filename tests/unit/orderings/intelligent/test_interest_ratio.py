"""Interest ratios on numbers worked out by hand (Aggarwal, Al-Garawi and Yu 2001)."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from crawlproject.orderings.intelligent import InterestRatios, log_interest


def table(significance: float) -> tuple[InterestRatios, np.ndarray]:
    """Ten pages, 4 of them relevant; all 4 among the 5 with the first word, 1 among the 5 with the second."""
    lifts = InterestRatios(significance)
    words = lifts.numbers(["coral", "garage"])
    for relevant, present in [(1, [0])] * 3 + [(1, [0, 1])] + [(0, [0])] + [(0, [1])] * 4 + [(0, [])]:
        lifts.count(words[present], bool(relevant))
    return lifts, words


def logarithms(significance: float) -> np.ndarray:
    lifts, words = table(significance)
    return lifts.logarithms(words)


def test_the_interest_ratio() -> None:
    """P(C) = 0.4. coral: P(C | E) = (4 + 0.4) / 6, so I = 11/6. garage: (1 + 0.4) / 6, I = 7/12."""
    lifts, words = table(significance=0.0)
    assert lifts.share == pytest.approx(0.4)
    assert lifts.logarithms(words) == pytest.approx(np.log([11 / 6, 7 / 12]))
    assert lifts.sums([words, words[:0], words[:1]]) == pytest.approx([log(77 / 72), 0, log(11 / 6)])


def test_a_ratio_is_used_when_it_is_significant() -> None:
    """Of 5 pages 2 would be relevant by chance, with a standard deviation of sqrt(5 * 0.4 * 0.6) = 1.095. coral has
    4, 1.83 deviations off; garage 1, 0.91 off.
    """
    assert logarithms(1.8) == pytest.approx([log(11 / 6), 0])
    assert logarithms(1.9) == pytest.approx([0, 0])


def test_where_all_or_no_pages_are_relevant_nothing_is_evidence() -> None:
    for share in (0.0, 1.0):
        assert log_interest(np.array([3.0]), np.array([3.0]), share, 0.0) == 0


def test_evidence_beyond_the_limit_is_ignored() -> None:
    lifts = InterestRatios(2.0, limit=2)
    assert lifts.numbers(["a", "b", "c", "a"]).tolist() == lifts.numbers(["a", "b", "a"]).tolist()
