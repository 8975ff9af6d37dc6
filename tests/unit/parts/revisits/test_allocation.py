"""Allocation of a budget: the optimality conditions, and the numbers of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.parts.revisits.allocation import age_gain, age_interval, freshness_gain, freshness_interval, price_for

log_uniform = st.floats(-6, 6).map(math.exp)


def freshness(rate: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Time-averaged freshness at regular visits (Cho and Garcia-Molina 2003, section 4.1)."""
    x = rate / np.maximum(frequency, 1e-12)
    return -np.expm1(-x) / x


@given(st.floats(1e-9, 0.999999))
def test_the_interval_of_a_gain_has_that_gain(y: float) -> None:
    x = freshness_interval(np.array([y]))
    assert freshness_gain(x)[0] == pytest.approx(y, rel=1e-4)


@given(log_uniform)
def test_the_interval_of_a_gain_in_age_has_that_gain(y: float) -> None:
    x = age_interval(np.array([y]))
    assert age_gain(x)[0] == pytest.approx(y, rel=1e-4)


def test_a_page_that_is_not_worth_the_price_gets_no_visit() -> None:
    assert freshness_interval(np.array([1.0, 5.0])).tolist() == [math.inf, math.inf]


@given(st.lists(log_uniform, min_size=2, max_size=20), st.floats(0.2, 20))
@settings(max_examples=50)
def test_at_the_optimum_no_visit_is_worth_more_elsewhere(rates: list[float], visits: float) -> None:
    """Karush-Kuhn-Tucker: all visited pages have the same marginal gain, and no other page has a higher one.

    ``visits``: per change. A page on the verge of being given up is dropped when it is visited less than once in 36 changes,
    which is the limit of double precision.
    """
    rate = np.array(rates)
    budget = visits * float(rate.sum())
    intervals = lambda price: freshness_interval(price * rate) / rate  # noqa: E731
    price = price_for(budget, lambda price: float((1 / intervals(price)).sum()))
    frequency = 1 / intervals(price)
    on_the_verge = max(one * rates.count(one) for one in rates)  # equal pages are dropped together
    assert frequency.sum() == pytest.approx(budget, rel=2e-4, abs=on_the_verge / 36)
    step = np.where(frequency > 0, 1e-4 * frequency, 1e-4 * budget)
    ahead, behind = freshness(rate, frequency + step), freshness(rate, frequency - np.where(frequency > 0, step, 0))
    marginal = (ahead - behind) / np.where(frequency > 0, 2 * step, step)
    visited = frequency > 0
    assert marginal[visited] == pytest.approx(price, rel=0.01)
    assert (marginal[~visited] <= price * 1.01).all()


def test_the_five_pages_of_the_paper() -> None:
    """Cho and Garcia-Molina 2003, Table IV: rates of 1 to 5 a day, five visits a day in all."""
    rate = np.arange(1.0, 6.0)
    intervals = lambda price: freshness_interval(price * rate) / rate  # noqa: E731
    price = price_for(5.0, lambda price: float((1 / intervals(price)).sum()))
    frequency = 1 / intervals(price)
    assert frequency.round(2).tolist() == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.011)
    by_age = lambda price: age_interval(price * rate**2) / rate  # noqa: E731
    price = price_for(5.0, lambda price: float((1 / by_age(price)).sum()))
    assert (1 / by_age(price)).round(2).tolist() == pytest.approx([0.84, 0.97, 1.03, 1.07, 1.09], abs=0.011)


@given(st.lists(log_uniform, min_size=2, max_size=20), log_uniform)
@settings(max_examples=50)
def test_uniform_is_fresher_than_proportional(rates: list[float], budget: float) -> None:
    rate = np.array(rates)
    uniform = freshness(rate, np.full(len(rate), budget / len(rate)))
    proportional = freshness(rate, rate * budget / rate.sum())
    assert uniform.mean() >= proportional.mean() - 1e-9


def test_no_budget_has_no_price() -> None:
    assert price_for(0.0, lambda price: 1 / price) == math.inf


def test_a_budget_that_cannot_be_spent_gets_a_price_all_the_same() -> None:
    assert price_for(1.0, lambda price: 0.0) > 0


def test_nor_does_its_price_vanish_when_it_is_searched_for_again_and_again() -> None:
    price = 1.0
    for _ in range(10):
        price = price_for(100.0, lambda price: 2.0, price)
        assert 0 < price < 1e-50
    assert price_for(1.0, lambda price: 1 / price, 0.0) == pytest.approx(1.0, rel=1e-3)
