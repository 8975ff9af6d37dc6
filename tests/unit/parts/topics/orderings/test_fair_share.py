"""Fair shares: no topic starves, whatever the web offers to the other topics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.topics.orderings.fair_share import MOST_OWED, FairShare

weights = st.lists(st.floats(0.1, 10), min_size=2, max_size=6)
EVERY = 16  # fetches between two updates of the weights


def shared(given_weights: list[float], fairness: float = 0.5) -> FairShare:
    share = FairShare(fairness)
    for number, weight in enumerate(given_weights):
        share.join(f"t{number}", weight)
    return share


def crawl(share: FairShare, urls: np.ndarray, fetches: int) -> None:
    """Fetch the best of ``urls``, (topics, URLs), again and again: each stands for as many like it as are wanted."""
    for number in range(fetches):
        if number % EVERY == 0:
            values = share.values(urls)
        share.fetched(urls[:, int(values.argmax())])


@given(weights, st.integers(0, 2**32 - 1), st.floats(0.1, 0.9))
def test_no_topic_starves(given_weights: list[float], seed: int, fairness: float) -> None:
    """A topic gets at least its guaranteed share of fetches, up to the permitted debt, if the web has pages for it."""
    share = shared(given_weights, fairness)
    random = np.random.default_rng(seed)
    topics = len(given_weights)
    urls = random.random((topics, 20)) * random.random((topics, 1)) ** 4  # some topics have hardly anything
    urls[np.arange(topics), np.arange(topics)] += 0.02  # but one page each of which something is expected
    fetches = 1500
    crawl(share, urls, fetches)
    sure = fairness * fetches * np.array(given_weights) / sum(given_weights)
    assert (share.served >= sure - MOST_OWED).all()
    assert share.served.sum() == pytest.approx(fetches)


@given(weights, st.integers(0, 2**32 - 1))
def test_what_is_owed_is_bounded_and_weights_are_finite(given_weights: list[float], seed: int) -> None:
    share = shared(given_weights, 1.0)
    urls = np.random.default_rng(seed).random((len(given_weights), 5)) * np.eye(len(given_weights), 5)[:, ::-1]
    crawl(share, urls, 300)
    assert (share.owed >= 0).all() and (share.owed <= MOST_OWED).all()
    assert np.isfinite(share.weights).all() and share.weights.sum() == pytest.approx(len(given_weights))


def test_without_fairness_fetches_go_where_the_worth_is() -> None:
    share = shared([1.0, 1.0], fairness=0.0)
    crawl(share, np.array([[0.9, 0.0], [0.0, 0.5]]), 200)
    assert share.served[0] > 195
    assert share.weights.tolist() == [1.0, 1.0]


def test_with_full_fairness_fetches_are_shared_out_by_weight() -> None:
    share = shared([3.0, 1.0], fairness=1.0)
    crawl(share, np.array([[0.9, 0.0], [0.0, 0.1]]), 4000)
    assert share.served[0] / share.served[1] == pytest.approx(3.0, rel=0.1)


def test_a_page_for_two_topics_is_worth_more_than_one_for_either() -> None:
    share = shared([1.0, 1.0])
    both, one = share.values(np.array([[0.5, 0.8], [0.5, 0.0]]))
    assert both > one


def test_a_topic_alone_counts_as_if_there_were_no_shares() -> None:
    share = shared([7.0])
    values = np.array([[0.3, -0.1, 0.8]])
    assert share.values(values).tolist() == values[0].tolist()


def test_a_topic_that_has_enough_counts_for_nothing() -> None:
    share = shared([1.0, 1.0, 2.0])
    share.has_enough("t1")
    crawl(share, np.array([[0.5, 0.0, 0.0], [0.0, 0.9, 0.0], [0.0, 0.0, 0.5]]), 300)
    assert share.served[1] == 0
    assert share.weights[1] == 0


def test_when_all_have_enough_nothing_is_worth_anything() -> None:
    share = shared([1.0, 1.0])
    share.has_enough("t0")
    share.has_enough("t1")
    share.fetched(np.array([0.5, 0.5]))
    assert share.values(np.ones((2, 3))).tolist() == [0, 0, 0]


def test_topics_join_and_leave() -> None:
    share = shared([1.0, 1.0])
    crawl(share, np.array([[0.9, 0.0], [0.0, 0.5]]), 50)
    share.join("late", 2.0)
    assert share.owed[2] == 0 and share.served[2] == 0
    share.leave("t0")
    assert share.names == ["t1", "late"] and len(share.weights) == 2


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_a_weight_is_above_0(weight: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        FairShare().join("t", weight)


def test_a_name_joins_once() -> None:
    share = shared([1.0])
    with pytest.raises(ValueError, match="t0"):
        share.join("t0")
