"""The contract of every revisit policy, whatever it computes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlproject.errors import BadSetting
from crawlproject.parts.revisits.base import Outcome, RevisitPolicy
from crawlproject.parts.revisits.registry import POLICIES, make_policy, parameters_of

DAY = 86_400.0
BUDGETED = [name for name in POLICIES if name != "heritrix"]  # whose delay is fixed, whatever the budget

steps = st.lists(
    st.tuples(
        st.integers(0, 30),  # row: the next new row if above all known rows
        st.floats(0.01, 40),  # days since the previous step
        st.booleans(),  # changed
        st.floats(0, 1),  # novelty
        st.sampled_from([0.0, 0.3, 5.0]),  # days since the last change, as the server states it; 0: not stated
        st.sampled_from([False, False, False, True]),  # gone
        st.floats(0, 5),  # weight
        st.integers(0, 2),  # host
    ),
    min_size=1,
    max_size=60,
)


def play(policy: RevisitPolicy, history: list[tuple], plan_every: int = 5) -> tuple[float, list[set[int]]]:
    """Feed these steps to a policy; return the time of the last step and the results of all ``observe`` calls."""
    now, rows, sooner = 1.7e9, 0, []
    hosts: list[int] = []
    for index, (row, days, changed, novelty, quiet, gone, weight, host) in enumerate(history):
        now += days * DAY
        first = row >= rows
        row = min(row, rows)
        if first:
            rows += 1
            hosts.append(host)
        modified = now - quiet * DAY if quiet and not gone else 0.0
        outcome = Outcome(
            row, now, first=first, changed=changed and not first and not gone, novelty=novelty, modified=modified,
            gone=gone, weight=weight, host=hosts[row], template=hosts[row],
        )  # fmt: skip
        sooner.append(set(policy.observe(outcome)))
        if index % plan_every == 0:
            policy.plan(now, rows / (30 * DAY))
    policy.plan(now, rows / (30 * DAY))
    return now, sooner


@pytest.mark.parametrize("name", POLICIES)
class TestEveryPolicy:
    @given(steps)
    @settings(max_examples=30)
    def test_next_visits_are_times_after_the_last_visit(self, name: str, history: list[tuple]) -> None:
        policy = make_policy(name)
        play(policy, history)
        due = policy.next_visits()
        assert not np.isnan(due).any()
        last = {}
        now, rows = 1.7e9, 0
        for row, days, *_ in history:
            now += days * DAY
            last[min(row, rows)] = now
            rows = max(rows, min(row, rows) + 1)
        assert len(due) == rows
        assert all(due[row] >= at for row, at in last.items())

    @given(steps)
    @settings(max_examples=30)
    def test_one_row_or_all_rows_are_due_at_the_same_time(self, name: str, history: list[tuple]) -> None:
        policy = make_policy(name)
        play(policy, history)
        due = policy.next_visits()
        each = [policy.next_visit(row) for row in range(len(due))]
        np.testing.assert_allclose(each, due, rtol=1e-9, atol=1.0)

    @given(steps)
    @settings(max_examples=30)
    def test_the_same_visits_lead_to_the_same_plan(self, name: str, history: list[tuple]) -> None:
        one, other = make_policy(name), make_policy(name)
        assert play(one, history) == play(other, history)
        np.testing.assert_array_equal(one.next_visits(), other.next_visits())

    @given(steps)
    @settings(max_examples=30)
    def test_rows_that_are_due_earlier_are_known_rows_and_few(self, name: str, history: list[tuple]) -> None:
        policy = make_policy(name)
        _, sooner = play(policy, history)
        rows = len(policy.next_visits())
        assert all(len(some) <= 64 and all(0 <= row < rows for row in some) for some in sooner)

    @given(steps)
    @settings(max_examples=30)
    def test_explains_in_finite_numbers(self, name: str, history: list[tuple]) -> None:
        policy = make_policy(name)
        play(policy, history)
        for row in range(len(policy.next_visits())):
            found = policy.explain(row)
            assert found["changes_a_day"] > 0
            assert all(not math.isnan(value) for value in found.values())

    def test_a_page_that_is_gone_is_looked_for_once_more(self, name: str) -> None:
        policy = make_policy(name)
        for row in range(3):
            policy.observe(Outcome(row, 0.0, first=True))
        policy.plan(0.0, 3 / (30 * DAY))
        policy.observe(Outcome(0, 9 * DAY, gone=True))
        assert policy.next_visit(0) == 10 * DAY
        policy.observe(Outcome(0, 10 * DAY, gone=True))
        assert policy.next_visit(0) == math.inf
        policy.plan(11 * DAY, 3 / (30 * DAY))
        assert policy.next_visit(0) == math.inf

    def test_a_page_that_came_back_is_visited_again(self, name: str) -> None:
        policy = make_policy(name)
        for row in range(3):
            policy.observe(Outcome(row, 0.0, first=True))
        policy.plan(0.0, 3 / (30 * DAY))
        policy.observe(Outcome(0, 9 * DAY, gone=True))
        policy.observe(Outcome(0, 10 * DAY))
        policy.plan(10 * DAY, 3 / (30 * DAY))
        assert policy.next_visit(0) < math.inf

    def test_a_row_that_was_never_visited_is_never_due(self, name: str) -> None:
        policy = make_policy(name)
        policy.observe(Outcome(3, 1e9, first=True))
        policy.plan(1e9, 1 / DAY)
        policy.observe(Outcome(3, 1e9 + DAY, changed=True))
        assert [policy.next_visit(row) for row in (1, 2, 99)] == [math.inf] * 3
        assert np.isinf(policy.next_visits()[:3]).all()
        assert policy.next_visit(3) < math.inf

    def test_plans_without_pages_and_without_budget(self, name: str) -> None:
        policy = make_policy(name)
        assert policy.plan(0.0, 1.0) == 1.0
        policy.observe(Outcome(0, 0.0, first=True))
        assert policy.plan(1.0, 0.0) == 0.0

    def test_its_memory_is_bounded(self, name: str) -> None:
        """The aim is 64 bytes per page, plus the memory for hosts."""
        policy = make_policy(name)
        assert policy.bytes_per_page <= 64

    def test_has_the_name_it_is_made_by(self, name: str) -> None:
        assert make_policy(name).name == name

    def test_takes_its_parameters_as_strings(self, name: str) -> None:
        given = {key: str(value) for key, value in parameters_of(POLICIES[name]).items()}
        assert make_policy(name, given).name == name


@pytest.mark.parametrize("name", BUDGETED)
@given(
    visits=st.lists(st.tuples(st.floats(1, 50), st.booleans(), st.floats(0.5, 2)), min_size=3, max_size=30),
    days=st.floats(2, 200),
)
@settings(max_examples=30)
def test_a_plan_spends_the_budget(name: str, visits: list[tuple[float, bool, float]], days: float) -> None:
    """The mean of visits per second over the coming intervals equals the budget, except for pages about to be given up."""
    policy = make_policy(name)
    for row, (_, _, weight) in enumerate(visits):
        policy.observe(Outcome(row, 0.0, first=True, weight=weight, host=row % 3, template=row % 3))
    for row, (at, changed, weight) in enumerate(visits):
        policy.observe(
            Outcome(row, at * DAY, changed=changed, novelty=0.3, weight=weight, host=row % 3, template=row % 3)
        )
    budget = len(visits) / (days * DAY)
    assert policy.plan(60 * DAY, budget) == budget
    assert policy.planned_rate() == pytest.approx(budget, rel=0.01 + 0.5 / len(visits))


def test_a_policy_that_nobody_has() -> None:
    with pytest.raises(BadSetting, match="uniform"):
        make_policy("sometimes")


def test_a_parameter_that_no_policy_has() -> None:
    with pytest.raises(BadSetting, match="did you mean patience"):
        make_policy("capture", {"patiense": 3})


def test_a_parameter_of_another_policy_is_left_alone() -> None:
    assert make_policy("uniform", {"patience": 3}).name == "uniform"


def test_a_value_of_the_wrong_type() -> None:
    with pytest.raises(BadSetting, match="expected a float"):
        make_policy("capture", {"patience": "long"})
