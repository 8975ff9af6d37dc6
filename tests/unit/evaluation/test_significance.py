"""Paired tests, checked against values worked out by hand and known tables."""

import math

import numpy as np
import pytest

from crawlproject.evaluation.significance import (
    PairedTest,
    bootstrap_interval,
    holm,
    paired_t_test,
    standard_error,
    wilcoxon_test,
)


def test_paired_t_test_worked_by_hand():
    # Differences 1, 2, 3: mean 2, sample deviation 1, t = 2 / (1 / sqrt 3) = 3.4641 with 2 degrees of freedom.
    # For 2 degrees P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)) = 0.5 - 3.4641 / (2 sqrt 14) = 0.03709.
    test = paired_t_test([2, 4, 6], [1, 2, 3])
    assert (test.topics, test.difference) == (3, 2)
    assert test.statistic == pytest.approx(2 * math.sqrt(3))
    assert test.p == pytest.approx(0.5 - 2 * math.sqrt(3) / (2 * math.sqrt(14)))


def test_the_test_is_one_tailed():
    up, down = paired_t_test([2, 4, 6], [1, 2, 3]), paired_t_test([1, 2, 3], [2, 4, 6])
    assert up.p + down.p == pytest.approx(1)


def test_one_topic_is_no_sample():
    assert paired_t_test([1.0], [0.0]) == PairedTest(1, 1.0, why="needs at least two topics")
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
    for test in (paired_t_test, wilcoxon_test, bootstrap_interval):
        with pytest.raises(ValueError, match="2 and 1"):
            test([1, 2], [1])


def test_wilcoxon_worked_by_hand():
    # Differences 3, -1, 2: ranks of their sizes 3, 1, 2, so W+ = 3 + 2 = 5. Of the 8 ways to put signs, W+ >= 5 has two
    # (+++ with 6, and +-+ with 5): p = 2/8.
    test = wilcoxon_test([3, 0, 2], [0, 1, 0])
    assert (test.topics, test.statistic, test.p) == (3, 5, pytest.approx(0.25))


def test_wilcoxon_leaves_out_topics_without_a_difference():
    with_ties, without = wilcoxon_test([3, 0, 2, 7, 7], [0, 1, 0, 7, 7]), wilcoxon_test([3, 0, 2], [0, 1, 0])
    assert (with_ties.statistic, with_ties.p) == (without.statistic, without.p)
    assert with_ties.difference == pytest.approx(4 / 5)


def test_wilcoxon_says_why_there_is_no_p_value():
    assert wilcoxon_test([1.0], [0.0]).why == "needs at least two topics"
    assert wilcoxon_test([0.1, 0.2], [0.1, 0.2]).why == "no difference on any topic"


def test_one_topic_of_many_cannot_sway_wilcoxon():
    """An outlier that inflates the variance hides a steady difference from the t-test, but not from the rank test."""
    better = [0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 9.0]
    worse = [0.1] * 8
    assert paired_t_test(better, worse).p > 0.05 > wilcoxon_test(better, worse).p


def test_bootstrap_interval_holds_the_mean_and_repeats_itself():
    better, worse = [0.5, 0.7, 0.6, 0.9, 0.4], [0.4, 0.4, 0.5, 0.6, 0.4]
    low, high = bootstrap_interval(better, worse)
    assert 0 <= low < 0.16 < high <= 0.3
    assert (low, high) == bootstrap_interval(better, worse)
    assert bootstrap_interval(worse, better) == pytest.approx((-high, -low))
    wide = bootstrap_interval(better, worse, level=0.99)
    assert wide[0] <= low and high <= wide[1]


def test_bootstrap_interval_of_two_topics_is_between_their_differences():
    # Drawn means are 0, 0.5 and 1 with odds 1/4, 1/2, 1/4: the outer 2.5% are 0 and 1.
    assert bootstrap_interval([1, 1], [1, 0]) == (0, 1)
    assert bootstrap_interval([1], [0]) is None


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


@pytest.mark.parametrize("size", [2, 3, 5, 13, 14, 50, 51, 200])
@pytest.mark.parametrize("digits", [1, 9])  # with ties, and without
@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.3, 3.0])
def test_the_same_as_scipy(size: int, digits: int, shift: float) -> None:
    pytest.importorskip("scipy", "1.15", reason="earlier ones approximate where there are ties")
    from scipy import stats  # takes a second, for which every process that collects tests would wait

    draw = np.random.default_rng(size)
    better, worse = (draw.normal(size=size) + shift).round(digits), draw.normal(size=size).round(digits)
    expected = stats.ttest_rel(better, worse, alternative="greater")
    found = paired_t_test(better.tolist(), worse.tolist())
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    differences = (better - worse).round(12)
    expected = stats.wilcoxon(differences[differences != 0], alternative="greater")
    found = wilcoxon_test(better.tolist(), worse.tolist())
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
