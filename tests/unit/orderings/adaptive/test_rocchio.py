"""The vocabulary of the best pages."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

from crawlproject.orderings.adaptive.terms import PAGES, TERMS, RelevanceFeedback, TermStatistics


class Pages:
    """Feedback, its table, and the pages passed to both."""

    def __init__(self) -> None:
        self.table = TermStatistics()
        self.keywords = self.table.numbers(["reef"])
        self.feedback = RelevanceFeedback(self.table)

    def show(self, worth: float, **counts: int) -> None:
        self.feedback.observe(worth, *self.table.observe(self.table.numbers(Counter(counts).elements())))

    def weights(self, *terms: str) -> list[float]:
        return self.feedback.weights(self.keywords)[self.table.numbers(terms)].tolist()


def test_two_good_pages_and_a_bad_one_by_hand() -> None:
    pages = Pages()
    pages.show(1.0, reef=2, polyp=3)
    pages.show(0.5, polyp=1, diver=1)
    pages.show(0.0, steam=9)
    idf = {"polyp": log(1 + 4 / 3), "diver": log(1 + 4 / 2)}
    polyp = (1.0 * (1 + log(3)) / sqrt(3) + 0.5 / sqrt(3)) * idf["polyp"]
    diver = 0.5 / sqrt(3) * idf["diver"]
    assert pages.weights("polyp", "diver", "steam", "reef") == pytest.approx([1.0, diver / polyp, 0.0, 1.0])


def test_nothing_good_was_seen() -> None:
    pages = Pages()
    pages.show(0.0, steam=1)
    assert pages.weights("reef", "steam") == [1.0, 0.0]
    assert pages.feedback.weights(pages.keywords)[0] == 0, "no term says nothing"


def test_keywords_are_weighed_by_their_rarity() -> None:
    pages = Pages()
    pages.keywords = pages.table.numbers(["reef", "coral"])
    pages.show(0.0, reef=1)
    assert pages.weights("coral", "reef") == pytest.approx([1.0, log(1 + 2 / 2) / log(1 + 2 / 1)])


def test_better_pages_push_out_the_worst() -> None:
    pages = Pages()
    pages.show(0.1, worst=1)
    for number in range(PAGES):
        pages.show(0.5, **{f"term{number}": 1})
    pages.show(0.2, late=1)
    assert pages.weights("worst", "late", "term0") == pytest.approx([0.0, 0.0, 1.0])


def test_a_few_terms_are_enough() -> None:
    pages = Pages()
    pages.show(1.0, **{f"term{number}": 1 + number for number in range(3 * TERMS)})
    found = pages.feedback.weights(pages.keywords)
    assert np.count_nonzero(found) == TERMS + 1 and found.max() == 1 and found.min() == 0
    assert pages.weights(f"term{2 * TERMS - 1}", f"term{2 * TERMS}")[0] == 0 < pages.weights(f"term{2 * TERMS}")[0]
