"""Group means that are drawn towards a prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.adaptive.group_means import GroupMeans

unit = st.floats(0, 1)


def test_two_members_and_a_prior_of_strength_two() -> None:
    groups = GroupMeans(2, 2.0)
    reef, steam = groups.number("reef"), groups.number(("a.example", "body a"))
    assert groups.number("reef") == reef != steam
    groups.add(reef, np.array([1.0, 0.5]))
    groups.add(reef, np.array([0.6, 0.1]))
    means = groups.means(np.array([steam, reef]), np.array([0.2, 0.1]))
    assert means[0] == pytest.approx([0.2, 0.1]), "nothing is known but the prior"
    assert means[1] == pytest.approx([(1.6 + 2 * 0.2) / 4, (0.6 + 2 * 0.1) / 4])


@given(st.lists(unit, min_size=1, max_size=9), unit, st.floats(0.1, 9))
def test_a_shrunk_mean_lies_between_prior_and_mean(values: list[float], prior: float, strength: float) -> None:
    groups = GroupMeans(1, strength)
    number = groups.number("one")
    for value in values:
        groups.add(number, np.array([value]))
    shrunk = groups.means(np.array([number]), np.array([[prior]])).item()
    low, high = sorted((prior, sum(values) / len(values)))
    assert low - 1e-12 <= shrunk <= high + 1e-12


def test_many_groups_are_not_mixed_up() -> None:
    groups = GroupMeans(1, 1.0)
    numbers = np.array([groups.number(name) for name in range(3000)])
    for name, number in enumerate(numbers.tolist()):
        groups.add(number, np.array([float(name)]))
    assert groups.means(numbers, np.zeros((3000, 1)))[:, 0] == pytest.approx(np.arange(3000) / 2)
