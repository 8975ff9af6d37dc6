"""Tree-Frontier on numbers worked out by hand."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.tres.tree_frontier import LEAST, Rows, TreeFrontier, best_split


class Link:
    def __init__(self, *features: float) -> None:
        self.features: Rows = np.array(features, np.float32)


def split(features: list[tuple[float, ...]], rewards: list[float]) -> tuple[int, float] | None:
    return best_split(np.array(features, np.float32), np.array(rewards, np.float64))


class TestBestSplit:
    def test_the_variance_falls_most_between_the_third_and_the_fourth_row(self) -> None:
        """0.24 in all. The first feature at 0.3 leaves none; the second 2/5 of 0.25 and 3/5 of 2/9, so it takes 0.0067."""
        rows = [(0.1, 1), (0.2, 0), (0.3, 1), (0.4, 0), (0.5, 1)]
        assert split(rows, [0, 0, 0, 1, 1]) == (0, pytest.approx(0.3))

    def test_the_first_of_equals_is_taken(self) -> None:
        """Both features leave 3/5 of 2/9: at 0.3 the sides are 0, 1, 0 and 1, 1; at 0 they are 1, 1 and 0, 0, 1."""
        rows = [(0.1, 1), (0.2, 0), (0.3, 1), (0.4, 0), (0.5, 1)]
        assert split(rows, [0, 1, 0, 1, 1]) == (0, pytest.approx(0.3))
        swapped = [(b, a) for a, b in rows]
        assert split(swapped, [0, 1, 0, 1, 1]) == (0, 0.0)

    def test_rewards_that_do_not_differ_and_rows_that_do_not_are_not_split(self) -> None:
        assert split([(0.1,), (0.2,), (0.3,)], [1, 1, 1]) is None
        assert split([(0.5,), (0.5,), (0.5,)], [1, 0, 1]) is None
        assert split([(0.0,), (0.0,), (1.0,), (1.0,)], [0, 1, 0, 1]) is None

    @given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 3, st.sampled_from([0.0, 1.0])), min_size=2))
    def test_no_other_split_takes_more_variance(self, table: list[tuple[float, ...]]) -> None:
        rows, rewards = np.array(table)[:, :3], np.array(table)[:, 3]

        def fall(feature: int, threshold: float) -> float:
            below = rows[:, feature] <= threshold
            sides = [rewards[below], rewards[~below]]
            return float(rewards.var() - sum(side.var() * len(side) for side in sides if len(side)) / len(rewards))

        most = max(fall(feature, value) for feature in range(3) for value in rows[:, feature])
        found = split([tuple(row) for row in rows], rewards.tolist())
        assert (fall(*found) if found else 0.0) == pytest.approx(most, abs=1e-9)


class TestTree:
    def test_links_that_wait_move_to_the_side_of_their_features_and_new_ones_go_there(self) -> None:
        tree: TreeFrontier[Link] = TreeFrontier()
        low, high, later = Link(0.2), Link(0.8), Link(0.3)
        for link in (low, high):
            tree.add(link, link.features.tolist())
        for value, reward in ((0.1, 0.0), (0.3, 0.0), (0.7, 1.0), (0.9, 1.0)):
            tree.learn(np.array([value], np.float32), reward)
        assert len(tree.leaves) == 1 and LEAST == 5
        tree.learn(np.array([0.8], np.float32), 1.0)
        assert [leaf.waiting for leaf in tree.leaves] == [[low], [high]]
        tree.add(later, later.features.tolist())
        assert [leaf.waiting for leaf in tree.leaves] == [[low, later], [high]]
        for value in (0.95, 0.96):  # the upper leaf gets three more
            tree.learn(np.array([value], np.float32), 0.0)
        assert [leaf.waiting for leaf in tree.leaves] == [[low, later], [high], []]

    def test_a_representative_is_drawn_from_each_leaf_among_those_that_wait(self) -> None:
        tree: TreeFrontier[Link] = TreeFrontier()
        for value, reward in ((0.1, 0.0), (0.3, 0.0), (0.7, 1.0), (0.9, 1.0), (0.8, 1.0)):
            tree.learn(np.array([value], np.float32), reward)
        links = [Link(0.2), Link(0.25), Link(0.8)]
        for link in links:
            tree.add(link, link.features.tolist())
        random = Random(1)
        drawn = [tree.representatives(random, lambda link: True) for _ in range(40)]
        assert {pair[0] for pair in drawn} == set(links[:2]) and {pair[1] for pair in drawn} == {links[2]}
        assert tree.representatives(random, lambda link: link is links[1]) == [links[1]]
        assert tree.representatives(random, lambda link: True) == [links[1]], "who does not wait was dropped"
