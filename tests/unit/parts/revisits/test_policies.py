"""The purpose of each policy, on collections with a known optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.parts.revisits.base import Outcome, RevisitPolicy
from crawlproject.parts.revisits.policies.buckets import shares_of_budget
from crawlproject.parts.revisits.policies.capture import capture_interval
from crawlproject.parts.revisits.registry import make_policy

DAY = 86_400.0
PERIODS = [0.02, 0.5, 3.0, 12.0, 60.0, 400.0]  # days between changes, a page each


def visited_daily(
    name: str, *, days: int = 60, weights: list[float] | None = None, **parameters: object
) -> RevisitPolicy:
    """A policy after daily visits to six pages, each on a separate host; page i changes every ``PERIODS[i]`` days."""
    policy = make_policy(name, parameters)
    for day in range(days):
        for row, period in enumerate(PERIODS):
            changed = day > 0 and int(day / period) > int((day - 1) / period)
            policy.observe(
                Outcome(
                    row,
                    day * DAY,
                    first=day == 0,
                    changed=changed,
                    novelty=0.2,
                    weight=weights[row] if weights else 1.0,
                    host=row,
                    template=row,
                )
            )
    return policy


def intervals(policy: RevisitPolicy, visits_a_day: float, now: float = 59.0) -> list[float]:
    policy.plan(now * DAY, visits_a_day / DAY)
    return [(policy.next_visit(row) - now * DAY) / DAY for row in range(len(PERIODS))]


def test_uniform_treats_all_pages_alike() -> None:
    assert intervals(visited_daily("uniform"), 2.0) == pytest.approx([3.0] * 6)


def test_proportional_visits_as_often_as_pages_change() -> None:
    found = intervals(visited_daily("proportional"), 2.0)
    assert found[1:] == sorted(found[1:])  # the first two changed at every visit: nothing tells them apart


def test_freshness_gives_up_the_fastest_and_visits_those_in_the_middle_most() -> None:
    found = intervals(visited_daily("freshness", estimator="bias_reduced"), 0.5)
    assert found[0] == math.inf
    assert min(found) == found[int(np.argmin(found))] < found[-1]
    assert np.argmin(found) not in (0, 5)


def test_age_gives_up_no_page_and_visits_the_faster_more() -> None:
    found = intervals(visited_daily("age"), 0.5)
    assert max(found) < math.inf
    assert found[1:] == sorted(found[1:])  # the first two changed at every visit: nothing tells them apart


def test_capture_gives_up_the_slowest() -> None:
    found = intervals(visited_daily("capture"), 0.5)
    assert found[5] == math.inf
    assert found[0] < found[3]


def test_capture_waits_for_what_appends_and_hurries_for_what_is_overwritten() -> None:
    """WIC's life cycles. Rate 1 a day, patience 30 days, a price of 0.5 of an update.

    Overwriting: κ = 31/30, (30/31) g(31 t / 30) = 0.5, g(x) = 0.51667 at x = 1.7321, so t = 1.676 days. Appending:
    30 g(t / 30) = 0.5, g(x) = 1/60 at x = 0.19471, so t = 5.841 days. Half of each lies in between, and fulfils the sum.
    """
    price, rates = np.full(3, 0.5), np.full(3, 1 / DAY)
    lost, mixed, kept = capture_interval(price, rates, np.array([0.0, 0.5, 1.0]), 30 * DAY) / DAY

    def g(x: float) -> float:
        return 1 - (1 + x) * math.exp(-x)

    assert (lost, kept) == (pytest.approx(1.676, abs=0.001), pytest.approx(5.841, abs=0.002))
    assert g(1.7321) == pytest.approx(0.51667, abs=2e-5) and g(0.19471) == pytest.approx(1 / 60, abs=1e-5)
    assert 15 / 31 * g(mixed * 31 / 30) + 15 * g(mixed / 30) == pytest.approx(0.5, rel=1e-3)
    # More than λ/κ = 0.97 no single update is worth; what appends is worth a visit in the end.
    assert list(np.isinf(capture_interval(2 * price, rates, np.array([0.0, 0.5, 1.0]), 30 * DAY))) == [
        True,
        False,
        False,
    ]


def test_capture_visits_sooner_the_less_patient_it_is() -> None:
    patient = intervals(visited_daily("capture", patience=1000.0), 3.0)
    hasty = intervals(visited_daily("capture", patience=1.0), 3.0)
    assert hasty[3] / hasty[0] != pytest.approx(patient[3] / patient[0], rel=0.01)


@pytest.mark.parametrize("name", ["freshness", "age", "content", "embarrassment", "capture", "opic", "adaptive"])
def test_what_is_worth_more_is_visited_no_less(name: str) -> None:
    policy = make_policy(name)
    for visit in range(6):
        for row in range(4):
            policy.observe(
                Outcome(
                    row,
                    visit * DAY,
                    first=visit == 0,
                    changed=visit % 3 == 2,
                    novelty=0.2,
                    weight=1.0 + row,
                    host=row,
                    template=row,
                )
            )
    policy.plan(5 * DAY, 1 / DAY)
    due = policy.next_visits()
    assert (np.diff(due) <= 1).all()
    assert due[3] < due[0]


def test_impact_visits_pages_whose_changes_move_their_weight() -> None:
    policy = make_policy("impact")
    for visit in range(12):
        for row in range(2):
            weight = 1.0 + (visit % 2 if row else 0)
            policy.observe(
                Outcome(row, visit * DAY, first=visit == 0, changed=visit > 0, novelty=0.2, weight=weight, host=row)
            )
    policy.plan(11 * DAY, 1 / DAY)
    assert policy.next_visit(1) < policy.next_visit(0)


def test_content_prefers_what_stays_to_what_is_overwritten() -> None:
    """Both pages change at every visit. The first churns, the second scrolls: what was missed is missed for longer."""
    policy = make_policy("content")
    now = 0.0
    for visit in range(20):
        gap = 1 + visit % 4
        now += gap * DAY
        for row, novelty in enumerate((0.3, 0.05 * gap)):
            policy.observe(
                Outcome(row, now, first=visit == 0, changed=visit > 0, novelty=novelty, host=row, template=row)
            )
    policy.plan(now, 0.4 / DAY)
    assert policy.next_visit(1) < policy.next_visit(0)


@pytest.mark.parametrize(("skew", "is_equal"), [(0.0, False), (1.0, True)])
def test_without_a_skew_embarrassment_takes_the_weight_for_the_probability(skew: float, is_equal: bool) -> None:
    """As if the first page had eight times the clicks of the others; ranks alone would have it twice as often."""

    def next_visits(weight: float) -> np.ndarray:
        policy = make_policy("embarrassment", {"skew": skew})
        for visit in range(5):
            for row in range(3):
                now = visit * DAY
                outcome = Outcome(row, now, first=visit == 0, changed=visit == 3, host=row, template=row)
                policy.observe(outcome._replace(weight=weight if row == 0 else 0.1))
        policy.plan(4 * DAY, 0.3 / DAY)
        return policy.next_visits()

    some, more = next_visits(0.11), next_visits(0.8)
    assert some[0] <= some[1] and more[0] < more[1]
    assert bool(more[0] == pytest.approx(some[0])) == is_equal


def test_nutch_stretches_by_a_seventh_tenth_and_shrinks_by_a_fifth() -> None:
    """Two pages: 30 × 1.4 days without a change, 30 × 0.8 with one, stretched alike."""
    policy = make_policy("nutch", {"sync": 0.0})
    for row in range(2):
        policy.observe(Outcome(row, 0.0, first=True))
        policy.observe(Outcome(row, DAY, changed=row == 1))
    policy.plan(DAY, 1 / DAY)
    due = policy.next_visits() - DAY
    assert due[0] / due[1] == pytest.approx(1.4 / 0.8, rel=1e-5)


def test_heritrix_waits_a_fixed_time() -> None:
    policy = make_policy("heritrix", {"delay": "7"})
    policy.observe(Outcome(0, 0.0, first=True))
    assert policy.next_visit(0) == 7 * DAY


@given(st.lists(st.tuples(st.integers(1, 10_000), st.floats(-6, 3)), min_size=2, max_size=24), st.floats(-3, 1))
@settings(max_examples=40)
def test_the_programme_over_buckets_is_near_the_lagrange_optimum(
    buckets: list[tuple[int, float]], log_budget: float
) -> None:
    from crawlproject.parts.revisits.allocation import freshness_interval, price_for

    sizes = np.array([size for size, _ in buckets], dtype=float)
    rates = np.exp(np.array([log_rate for _, log_rate in buckets]))
    budget = float(sizes.sum()) * math.exp(log_budget)
    found = shares_of_budget(sizes, rates, sizes, budget)
    assert (found >= 0).all()
    assert found @ sizes == pytest.approx(budget, rel=1e-6)

    def fresh(frequency: np.ndarray) -> float:
        x = rates / np.maximum(frequency, 1e-9)
        return float((sizes * -np.expm1(-x) / x).sum() / sizes.sum())

    def best(price: float) -> np.ndarray:
        return rates / freshness_interval(price * rates)

    price = price_for(budget, lambda price: float((best(price) * sizes).sum()))
    assert fresh(found) >= fresh(best(price) * min(1.0, budget / (best(price) @ sizes))) - 0.01


@pytest.mark.parametrize(("hours", "new"), [(0.1, 0.0), (0.7699, 0.625)])
def test_new_pages_have_freshness_0_in_the_programme(hours: float, new: float) -> None:
    """One page that changes once in 2 hours, a visit an hour. Another visit gains 2 hours × (1 - (1 + x) e^-x), x being the
    interval / 2 hours: 0.18 hours when it has all visits (x = 1/2), 0.7699 when it has 3/8 of them (x = 4/3)."""
    found = shares_of_budget(np.ones(1), np.array([1 / 7200]), np.ones(1), 1 / 3600, hours * 3600)
    assert found[0] * 3600 == pytest.approx(1 - new, abs=0.005)


class TestAdaptive:
    def collection(self, hosts: int = 4, pages: int = 20) -> tuple[RevisitPolicy, list[int]]:
        """Each host is rebuilt every 20 days, with all its pages at once; all pages are visited every five days."""
        policy = make_policy("adaptive")
        host_of = [row // pages for row in range(hosts * pages)]
        for visit in range(40):
            for row, host in enumerate(host_of):
                at = (5 * visit + row % pages / pages) * DAY
                changed = visit > 0 and visit % 4 == host % 4
                policy.observe(
                    Outcome(row, at, first=visit == 0, changed=changed, novelty=0.2, host=host, template=host)
                )
        policy.plan(199 * DAY, hosts * pages / (10 * DAY))
        return policy, host_of

    def test_a_changed_page_brings_its_site_forward_and_no_other(self) -> None:
        policy, host_of = self.collection()
        before = policy.next_visits().copy()
        sooner = policy.observe(Outcome(0, 204 * DAY, changed=True, novelty=0.2))
        assert len(set(sooner)) > 10
        assert {host_of[row] for row in sooner} == {0}
        after = policy.next_visits()
        rest = [row for row, host in enumerate(host_of) if host == 0 and row != 0]
        assert (after[rest] < before[rest]).all()
        others = [row for row, host in enumerate(host_of) if host > 0]
        np.testing.assert_allclose(after[others], before[others], atol=0.02 * 200 * DAY)

    def test_an_unchanged_page_holds_its_site_back(self) -> None:
        policy, host_of = self.collection()
        before = policy.next_visits().copy()
        assert not list(policy.observe(Outcome(0, 204 * DAY)))
        rest = [row for row, host in enumerate(host_of) if host == 0 and row != 0]
        assert (policy.next_visits()[rest] > before[rest]).all()

    def test_a_page_that_stood_still_in_every_rebuild_does_not_follow(self) -> None:
        policy = make_policy("adaptive")
        for visit in range(40):
            for row in range(20):
                changed = visit > 0 and visit % 4 == 0 and row < 10
                policy.observe(Outcome(row, (5 * visit + row / 20) * DAY, first=visit == 0, changed=changed))
        policy.plan(199 * DAY, 20 / (10 * DAY))
        sooner = set(policy.observe(Outcome(0, 204 * DAY, changed=True)))
        assert sooner
        assert sooner <= set(range(10))

    def test_follows_at_most_64_pages(self) -> None:
        policy, _ = self.collection(hosts=4, pages=200)
        sooner = list(policy.observe(Outcome(0, 204 * DAY, changed=True)))
        assert len(sooner) == 64

    def test_gives_up_a_page_that_always_changed(self) -> None:
        policy = make_policy("adaptive")
        for visit in range(200):
            for row in range(30):
                policy.observe(
                    Outcome(
                        row,
                        visit * DAY,
                        first=visit == 0,
                        changed=visit > 0 and (row == 0 or visit % 50 == 0),
                        host=row,
                    )
                )
        policy.plan(199 * DAY, 30 / (20 * DAY))
        due = policy.next_visits()
        assert due[0] > 199 * DAY + 365 * DAY
        assert due[1] < math.inf

    def test_new_pages_that_promise_much_get_most_of_the_budget_and_poor_ones_none(self) -> None:
        policy, _ = self.collection()
        rate = 80 / (10 * DAY)
        assert policy.plan(199 * DAY, rate, new_value=None) == rate
        assert policy.plan(199 * DAY, rate, new_value=1e-6) == rate
        some = policy.plan(199 * DAY, rate, new_value=0.3)
        much = policy.plan(199 * DAY, rate, new_value=1e6)
        assert rate * 0.09 < much <= some <= rate
        assert much == pytest.approx(rate * 0.1, rel=0.01)

    def test_explains_what_it_believes(self) -> None:
        policy, _ = self.collection()
        before = policy.explain(5)["stale_now"]
        policy.observe(Outcome(0, 204 * DAY, changed=True))
        assert policy.explain(5)["stale_now"] > before


def test_spawning_visits_the_pages_that_new_pages_are_found_on() -> None:
    """Two hubs with the same new links, the first of them visited first, and four pages without new links."""
    policy = make_policy("spawning")
    for day in range(100):
        for row in range(6):
            policy.observe(Outcome(row, day * DAY, first=day == 0, changed=row < 2, new_links=4 * (row == 0), host=row))
    found = intervals(policy, 1.0, now=99.0)
    assert found[0] < found[1] / 5
    assert found[1:] == pytest.approx([found[1]] * 5)  # what the second hub has is covered
    rates = [policy.explain(row)["new_links_a_day"] for row in (0, 1)]
    assert found[1] / found[0] == pytest.approx(math.sqrt(rates[0] / rates[1]), rel=1e-3)
    assert rates[0] == pytest.approx(4, rel=0.02)
