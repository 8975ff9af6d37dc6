"""Group means that are shrunk towards a prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.predictors import GroupMeans

unit = st.floats(0, 1)


def test_two_members_and_a_prior_of_strength_two() -> None:
    groups = GroupMeans(2, 2.0)
    reef, steam = groups.join("reef"), groups.join(("a.example", "body a"))
    assert groups.join("reef") == reef != steam
    groups.add(reef, np.array([1.0, 0.5]))
    groups.add(reef, np.array([0.6, 0.1]))
    means = groups.means(np.array([steam, reef]), np.array([0.2, 0.1]))
    assert means[0] == pytest.approx([0.2, 0.1]), "nothing is known but the prior"
    assert means[1] == pytest.approx([(1.6 + 2 * 0.2) / 4, (0.6 + 2 * 0.1) / 4])


@given(st.lists(unit, min_size=1, max_size=9), unit, st.floats(0.1, 9))
def test_a_shrunk_mean_lies_between_prior_and_mean(values: list[float], prior: float, strength: float) -> None:
    groups = GroupMeans(1, strength)
    number = groups.join("one")
    for value in values:
        groups.add(number, np.array([value]))
    shrunk = groups.means(np.array([number]), np.array([[prior]])).item()
    low, high = sorted((prior, sum(values) / len(values)))
    assert low - 1e-12 <= shrunk <= high + 1e-12


def test_many_groups_are_not_mixed_up() -> None:
    groups = GroupMeans(1, 1.0)
    numbers = np.array([groups.join(name) for name in range(3000)])
    for name, number in enumerate(numbers.tolist()):
        groups.add(number, np.array([float(name)]))
    assert groups.means(numbers, np.zeros((3000, 1)))[:, 0] == pytest.approx(np.arange(3000) / 2)


def test_a_group_without_members_is_forgotten_when_nobody_uses_it() -> None:
    groups = GroupMeans(1, 1.0)
    first, again = groups.join("reef"), groups.join("reef")
    groups.leave(first)
    assert len(groups) == 1
    groups.leave(again)
    assert len(groups) == 0 and groups.join("steam") == first, "its number is used again"


def test_the_latest_groups_with_members_are_remembered() -> None:
    groups = GroupMeans(1, 1.0, remembered=2)
    for name in "abc":
        number = groups.join(name)
        groups.add(number, np.array([1.0]))
        groups.leave(number)
    assert len(groups) == 2
    known, forgotten = groups.join("b"), groups.join("a")
    assert groups.means(np.array([known, forgotten]), np.zeros((2, 1)))[:, 0].tolist() == [0.5, 0.0]


steps = st.lists(st.tuples(st.sampled_from(["join", "leave", "add"]), st.integers(0, 7)), max_size=80)


@given(steps, st.integers(0, 3))
def test_groups_in_use_are_never_lost_and_the_others_are_bounded(moves: list[tuple[str, int]], remembered: int) -> None:
    groups, users, numbers, sums = GroupMeans(1, 1.0, remembered), [0] * 8, dict[int, int](), dict[int, list[float]]()
    for move, name in moves:
        if move == "join":
            number = groups.join(name)
            assert not users[name] or number == numbers[name]
            numbers[name] = number
            users[name] += 1
            known = groups.means(np.array([number]), np.zeros((1, 1))).item() > 0
            if not known:
                assert users[name] > 1 or sums.get(name, []) == [] or len(groups) >= remembered, "forgotten too soon"
                sums[name] = []
        elif users[name] and move == "leave":
            groups.leave(numbers[name])
            users[name] -= 1
        elif users[name]:
            groups.add(numbers[name], np.array([1.0]))
            sums[name].append(1.0)
        for used in (one for one in range(8) if users[one]):
            members = len(sums[used])
            assert groups.means(np.array([numbers[used]]), np.zeros((1, 1))).item() == members / (members + 1)
        assert len({numbers[one] for one in range(8) if users[one]}) == sum(map(bool, users)), "no number twice"
        assert len(groups) <= sum(map(bool, users)) + remembered
