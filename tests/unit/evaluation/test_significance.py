"""Paired tests, checked against values worked out by hand and known tables."""

import math

import numpy as np
import pytest

from crawlproject.evaluation.significance import TTest, holm, paired_t_test, standard_error


def test_paired_t_test_worked_by_hand():
    # Differences 1, 2, 3: mean 2, sample deviation 1, t = 2 / (1 / sqrt 3) = 3.4641 with 2 degrees of freedom.
    # For 2 degrees P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)) = 0.5 - 3.4641 / (2 sqrt 14) = 0.03709.
    test = paired_t_test([2, 4, 6], [1, 2, 3])
    assert (test.topics, test.difference) == (3, 2)
    assert test.t == pytest.approx(2 * math.sqrt(3))
    assert test.p == pytest.approx(0.5 - 2 * math.sqrt(3) / (2 * math.sqrt(14)))


def test_the_test_is_one_tailed():
    up, down = paired_t_test([2, 4, 6], [1, 2, 3]), paired_t_test([1, 2, 3], [2, 4, 6])
    assert up.p + down.p == pytest.approx(1)


def test_one_topic_is_no_sample():
    assert paired_t_test([1.0], [0.0]) == TTest(1, 1.0, why="needs at least two topics")
    assert paired_t_test([], []).p is None


def test_equal_results_have_no_p_value():
    test = paired_t_test([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert test.p is None
    assert test.why == "no difference on any topic"


def test_a_constant_difference_has_no_variance_to_test_against():
    test = paired_t_test([0.2, 0.3, 0.4], [0.1, 0.2, 0.3])
    assert test.p is None
    assert test.why == "the same difference on every topic"


def test_samples_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="2 and 1"):
        paired_t_test([1, 2], [1])


def test_standard_error_worked_by_hand():
    # 1, 2, 3, 4: sample variance 5/3, over n = 4: 5/12.
    assert standard_error([1, 2, 3, 4]) == pytest.approx(math.sqrt(5 / 12))


def test_standard_error_along_an_axis():
    table = np.array([[1, 10], [3, 30]])
    assert standard_error(table, axis=0) == pytest.approx([1, 10])
    assert np.isnan(standard_error(table[:1], axis=0)).all()
    assert standard_error(np.zeros((3, 1, 4)), axis=1).shape == (3, 4)


def test_holm_worked_by_hand():
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.04; never falling: 0.04, 0.06, 0.06, 0.06.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


def test_holm_counts_tests_that_could_not_be_made():
    assert holm([0.01, None, 0.9]) == [pytest.approx(0.03), None, 1.0]
    assert holm([]) == []
