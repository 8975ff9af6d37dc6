"""Estimators of change rates: worked examples, and simulated pages of known rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.estimators import expected_bias_reduced, expected_naive, judge
from crawlproject.errors import BadSetting
from crawlproject.parts.revisits.estimators.base import Evidence
from crawlproject.parts.revisits.estimators.change_rates import (
    KnownTimes,
    MaximumLikelihood,
    bias_reduced,
    known_times,
    maximum_likelihood,
)
from crawlproject.parts.revisits.estimators.group_prior import GroupPrior
from crawlproject.parts.revisits.estimators.longevity import Longevity
from crawlproject.parts.revisits.estimators.quasi_deterministic import QuasiDeterministic
from crawlproject.parts.revisits.estimators.registry import ESTIMATORS, make_estimator

DAY = 86_400.0
HOUR = 3600.0


def test_bias_reduced_of_the_paper() -> None:
    """Ten visits, six with a change (Cho and Garcia-Molina, TOIT 2003, example in section 4.2): 0.85 instead of the naive 0.6."""
    assert bias_reduced(10, 6) == pytest.approx(-math.log(4.5 / 10.5))
    assert bias_reduced(10, 10) == pytest.approx(-math.log(0.5 / 10.5))
    assert bias_reduced(10, 0) == 0


def test_maximum_likelihood_of_regular_intervals_has_a_closed_form() -> None:
    """With one interval I it is -log(1 - X / n) / I."""
    found = maximum_likelihood([2.0], [[6]], [4 * 2.0])
    assert found[0] == pytest.approx(-math.log(0.4) / 2)


@given(st.lists(st.floats(0.1, 20), min_size=1, max_size=8), st.lists(st.floats(0.1, 20), min_size=1, max_size=8))
def test_maximum_likelihood_is_a_maximum(changed: list[float], unchanged: list[float]) -> None:
    def log_likelihood(rate: float) -> float:
        return sum(math.log(-math.expm1(-rate * t)) for t in changed) - rate * sum(unchanged)

    rate = float(maximum_likelihood(changed, [[1] * len(changed)], [sum(unchanged)])[0])
    assert log_likelihood(rate) >= max(log_likelihood(rate * 0.99), log_likelihood(rate * 1.01))


def test_maximum_likelihood_halves_its_evidence_rather_than_overflow() -> None:
    estimator = MaximumLikelihood()
    estimator.meet(0, 0, 0)
    for visit in range(2000):
        estimator.add(Evidence(0, DAY, visit % 2 == 0))
    assert estimator.rates()[0] * DAY == pytest.approx(math.log(2), rel=0.02)


def test_known_times_watches_only_the_time_since_the_last_change() -> None:
    """Three visits: quiet, changed 2 hours ago, changed 4 hours ago; X = 2, N = 3."""
    assert known_times(3, 2, 30.0) == pytest.approx((1 - 2 / (3 * math.log(1 / 3))) / 30, rel=1e-9)
    estimator = KnownTimes()
    estimator.meet(0, 0, 0)
    for interval, changed, quiet in ((24.0, False, 99.0), (24.0, True, 2.0), (24.0, True, 4.0)):
        estimator.add(Evidence(0, interval * HOUR, changed, quiet * HOUR))
    assert estimator.rates()[0] * HOUR == pytest.approx(float(known_times(3, 2, 30.0)))


def test_a_page_seen_once_is_expected_to_change_like_its_site() -> None:
    estimator = GroupPrior()
    for row in range(41):
        estimator.meet(row, row // 20, row // 20)
    estimator.meet(40, 0, 0)
    for row in range(40):
        for _ in range(5):
            estimator.add(Evidence(row, DAY, changed=row < 20, host=row // 20, template=row // 20))
    rates = estimator.rates() * DAY
    assert rates[40] > 1
    assert rates[39] < 0.05
    assert estimator.rates(slice(40, 41))[0] * DAY == pytest.approx(rates[40])


@pytest.mark.parametrize("visits", [3, 10, 50])
def test_estimates_are_as_biased_as_published(visits: int) -> None:
    for name, published in (("naive", expected_naive(1.0)), ("bias_reduced", expected_bias_reduced(1.0, visits))):
        generator = np.random.default_rng(visits)
        (found,) = judge(make_estimator(name), generator, pages=2000, visits=[visits], rate=1.0, regular=True)
        assert 1 + found.bias == pytest.approx(published, abs=4 * 0.9 / math.sqrt(visits * 2000))


def test_related_pages_and_stated_times_help() -> None:
    found = {
        (name, stated): judge(make_estimator(name), np.random.default_rng(2), pages=1000, visits=[20], stated=stated)[0]
        for name in ("bias_reduced", "known_times", "group_prior")
        for stated in (False, True)
    }
    assert found["group_prior", False].error < found["bias_reduced", False].error
    assert found["known_times", True].error < found["known_times", False].error
    assert abs(found["group_prior", True].bias) < 0.1


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rates_are_positive_or_unknown(name: str) -> None:
    estimator = make_estimator(name)
    for row in range(3):
        estimator.meet(row, 0, 0)
    estimator.add(Evidence(0, DAY, True))
    estimator.add(Evidence(1, DAY, False))
    rates = estimator.rates()
    assert rates[0] > 0 or name == "known_times"  # whose bias reduction takes the only change away
    assert rates[1] >= 0
    assert name == "group_prior" or np.isnan(rates[2])


def test_an_estimator_that_nobody_has() -> None:
    with pytest.raises(BadSetting, match="bias_reduced"):
        make_estimator("guess")


class TestLongevity:
    def test_churn_is_new_once_however_long_the_interval(self) -> None:
        longevity = Longevity()
        longevity.meet(0)
        for days in range(1, 21):
            longevity.add(0, days * DAY, 0.3)
        churn, scroll = longevity.profile()
        assert churn[0] == pytest.approx(0.3, abs=0.03)
        assert scroll[0] * DAY < 0.002

    def test_what_scrolls_grows_with_the_interval(self) -> None:
        longevity = Longevity()
        longevity.meet(0)
        for days in range(1, 21):
            longevity.add(0, days * DAY, 0.02 * days)
        churn, scroll = longevity.profile()
        assert scroll[0] * DAY == pytest.approx(0.018, abs=0.003)
        assert churn[0] < 0.05

    def test_a_page_without_changes_is_like_the_others(self) -> None:
        longevity = Longevity()
        for row in range(2):
            longevity.meet(row)
        for _ in range(50):
            longevity.add(0, DAY, 0.5)
        assert longevity.profile()[0][1] == pytest.approx(0.5, abs=0.02)


class TestQuasiDeterministic:
    MONDAY = 4 * DAY  # 5 January 1970

    def mornings(self) -> QuasiDeterministic:
        times = QuasiDeterministic()
        for day in range(100):
            times.add(0, self.MONDAY + day * DAY + 6 * HOUR, self.MONDAY + day * DAY + 7 * HOUR)
        return times

    def test_learns_the_hour(self) -> None:
        week = self.mornings().week(0)
        assert week.sum() == pytest.approx(1)
        assert set(np.flatnonzero(week > 3 / 168) % 24) == {6}

    def test_a_visit_waits_for_the_end_of_that_hour(self) -> None:
        times = self.mornings()
        assert times.best_time(0, self.MONDAY + 2 * HOUR, DAY) == self.MONDAY + 7 * HOUR
        assert times.best_time(0, self.MONDAY + 2 * HOUR, 2 * HOUR) == self.MONDAY + 2 * HOUR

    def test_working_days(self) -> None:
        times = QuasiDeterministic()
        for day in range(70):
            if day % 7 < 5:
                times.add(0, self.MONDAY + day * DAY + 6 * HOUR, self.MONDAY + day * DAY + 6 * HOUR)
        week = times.week(0).reshape(7, 24)
        assert week[0, 6] > 3 * week[5, 6]

    def test_a_long_interval_tells_no_hour(self) -> None:
        times = QuasiDeterministic()
        times.add(0, 0.0, 20 * HOUR)
        assert times.week(0).max() == pytest.approx(1 / 168)

    def test_a_host_without_changes_waits_for_nothing(self) -> None:
        assert QuasiDeterministic().best_time(7, 5.0, DAY) == 5.0
