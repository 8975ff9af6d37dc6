"""Keywords near links."""

from __future__ import annotations

import numpy as np
import pytest

from crawlproject.orderings.infospiders import REACH, keyword_proximity
from crawlproject.records import Span


def test_the_anchor_counts_one_and_distance_divides() -> None:
    """ "reef" is two terms before the anchor, and three after it: 1/3 + 1/4."""
    terms = ["reef", "a", "coral", "b", "c", "reef"]
    inputs = keyword_proximity(terms, [Span(2, 3)], {"coral": 0, "reef": 1})
    assert inputs == pytest.approx(np.array([[1, 7 / 12]]))


def test_what_is_out_of_reach_does_not_count() -> None:
    far = ["coral", *["x"] * REACH, "link"]
    assert keyword_proximity(far, [Span(REACH + 1, REACH + 2)], {"coral": 0}).sum() == 0
    assert keyword_proximity([*far[1:], "coral"], [Span(REACH, REACH + 1)], {"coral": 0}) == pytest.approx(1 / 2)
    near = far[:1] + far[2:]
    assert keyword_proximity(near, [Span(REACH, REACH + 1)], {"coral": 0}) == pytest.approx(1 / (REACH + 1))


def test_spans_beyond_the_page_see_nothing() -> None:
    assert keyword_proximity([], [Span(0, 0)], {"coral": 0}).sum() == 0
    assert keyword_proximity(["coral"], [], {"coral": 0}).shape == (0, 1)
