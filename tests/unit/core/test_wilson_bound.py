"""The Wilson bound on a share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.core.stopping import wilson_lower_bound

COUNTS = st.integers(0, 1000)


@pytest.mark.parametrize(
    ("yes", "no", "bound"), [(0, 0, 0.0), (5, 0, 0.649), (4, 0, 0.596), (90, 10, 0.839), (0, 9, 0.0)]
)
def test_known_values_of_wilsons_bound(yes, no, bound):
    assert wilson_lower_bound(yes, no) == pytest.approx(bound, abs=0.001)


@given(COUNTS, COUNTS)
def test_it_stays_below_the_share_and_grows_with_evidence(yes, no):
    bound = wilson_lower_bound(yes, no)
    assert 0.0 <= bound <= (yes / (yes + no) if yes + no else 0.0) + 1e-12
    assert wilson_lower_bound(yes + 1, no) >= bound - 1e-12
    assert wilson_lower_bound(yes, no + 1) <= bound + 1e-12
