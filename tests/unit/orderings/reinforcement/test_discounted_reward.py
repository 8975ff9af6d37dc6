"""Discounted reward, and the classifier that predicts it from words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pages import ANALYZER

from crawlproject.orderings.learning import TermIds
from crawlproject.orderings.reinforcement import (
    DiscountedRewards,
    ValueClassifier,
    expected_values,
    graph_values,
    pieces_of,
    text_of,
)
from crawlproject.records import Link, Span


def test_reward_is_handed_back_along_the_path() -> None:
    returns = DiscountedRewards(0.5, 10)
    returns.add("a", None, 0.0)
    returns.add("b", "a", 0.0)
    returns.add("c", "b", 1.0)
    assert dict(returns.items()) == {"a": 0.25, "b": 0.5, "c": 1.0}
    returns.add("d", "c", 1.0)
    assert dict(returns.items()) == {"a": 0.375, "b": 0.75, "c": 1.5, "d": 1.0}
    returns.add("e", "a", 0.0)  # a worse way changes nothing
    assert dict(returns.items())["a"] == 0.375


def test_old_steps_are_forgotten() -> None:
    returns = DiscountedRewards(0.5, 2)
    assert [returns.add(url, parent, 1.0) for url, parent in [("a", None), ("b", "a"), ("c", "a"), ("c", "a")]] == [
        None, None, "a", None,
    ]  # fmt: skip
    assert [url for url, _ in returns.items()] == ["b", "c"]


def test_values_on_a_graph_are_those_of_the_best_path() -> None:
    """0 -> 1 -> 2 with a reward at 2, and 0 -> 3 with none."""
    rewards, sources, targets = np.array([0.0, 0, 1, 0]), np.array([0, 1, 0]), np.array([1, 2, 3])
    assert graph_values(rewards, sources, targets, 0.5, 6).tolist() == [0.25, 0.5, 1.0, 0.0]
    assert graph_values(rewards, sources, targets, 0.5, 1).tolist() == [0.0, 0.5, 1.0, 0.0]


def test_the_expected_value_worked_out_by_hand() -> None:
    """Bins: value 0 (twice the word 1) and value 1 (once the word 2); one count is added to each of the terms 0, 1, 2.

    ``P(1|low) = 3/5``, ``P(2|low) = 1/5``, ``P(1|high) = 1/4``, ``P(2|high) = 2/4``, priors 1/2.
    """
    model = ValueClassifier([np.array([1, 1]), np.array([2])], [0.0, 1.0], bins=2, terms=3)
    sums = model.running_sums(np.array([2, 1, 7]))
    found = model.expected(np.array([sums[1], sums[2] - sums[1], sums[3] - sums[2]]))
    assert found == pytest.approx([(2 / 4) / (2 / 4 + 1 / 5), (1 / 4) / (1 / 4 + 3 / 5), 0.5])


@given(st.lists(st.floats(0, 2), min_size=2, max_size=30), st.integers(2, 6))
def test_expected_values_stay_between_the_known_ones(values: list[float], bins: int) -> None:
    texts = [np.array([number % 5], np.int32) for number in range(len(values))]
    model = ValueClassifier(texts, values, bins=bins, terms=6)
    found = model.expected(model.running_sums(np.arange(5))[1:])
    assert len(model.means) <= bins
    assert min(values) - 1e-9 <= found.min() and found.max() <= max(values) + 1e-9


def test_words_of_a_link() -> None:
    terms = ANALYZER.terms("kelp forest coral reef fish lagoon atoll")
    link = Link("http://a.example/", "coral reef", Span(2, 4), Span(2, 5))
    numbers = TermIds().of(terms)
    assert numbers.tolist() == [1, 2, 3, 4, 5, 6, 7]
    pieces = pieces_of(link, len(terms), window=1)
    assert text_of(numbers, pieces).tolist() == [3, 4, 3, 4, 5, 2, 3, 4, 5]
    assert pieces_of(link, len(terms), window=9)[4:] == (0, 7)


def test_links_scored_together_have_the_scores_of_their_texts() -> None:
    page = np.array([1, 2, 3, 1, 2, 9], np.int32)
    model = ValueClassifier([np.array([1, 1]), np.array([2, 3])], [0.0, 1.0], bins=2, terms=4)
    links = [Link("", "", Span(start, start + 2), Span(0, 6)) for start in range(5)]
    pieces = [pieces_of(link, len(page), 1) for link in links]
    together = expected_values(model, page, pieces)
    apart = [model.expected(model.running_sums(text_of(page, each))[-1:])[0] for each in pieces]
    assert together == pytest.approx(apart)


def test_terms_beyond_the_limit_are_one() -> None:
    numbers = TermIds(limit=2)
    assert numbers.of(["a", "b", "c", "a", "d"]).tolist() == [1, 2, 0, 1, 0]
    assert len(numbers.numbers) == 3
