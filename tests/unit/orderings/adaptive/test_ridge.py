"""Ridge regression towards a prior."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from crawlproject.orderings.adaptive.predictors import Ridge

unit = st.floats(0, 1)


def test_one_example_by_hand() -> None:
    """Minimise ``(1 - w)^2 + 3 (w - 0.2)^2``: w = (1 + 0.6) / 4."""
    ridge = Ridge(np.array([[0.2]]), 3.0)
    ridge.learn(np.array([[1.0]]), np.array([1.0]))
    assert ridge.weights.tolist() == [[0.2]], "not before it is solved"
    ridge.solve()
    assert ridge.weights[0] == pytest.approx([0.4])


def test_without_examples_it_is_the_prior() -> None:
    prior = np.array([[0.3, -0.1], [0.0, 2.0]])
    ridge = Ridge(prior, 60.0)
    ridge.solve()
    assert ridge.weights == pytest.approx(prior)


@given(
    arrays.arrays(float, (7, 2, 3), elements=unit),
    arrays.arrays(float, (7, 2), elements=unit),
    arrays.arrays(float, (2, 3), elements=unit),
    st.floats(0.1, 100),
)
def test_is_the_closed_form_for_each_output_alone(
    evidence: np.ndarray, outcomes: np.ndarray, prior: np.ndarray, strength: float
) -> None:
    ridge = Ridge(prior, strength)
    for one, outcome in zip(evidence, outcomes, strict=True):
        ridge.learn(one, outcome)
    ridge.solve()
    for output in range(2):
        # As least squares: the prior is worth one more example a feature, each sqrt(strength) heavy.
        x = np.vstack([evidence[:, output], np.eye(3) * strength**0.5])
        y = np.concatenate([outcomes[:, output], prior[output] * strength**0.5])
        assert ridge.weights[output] == pytest.approx(np.linalg.lstsq(x, y)[0], abs=1e-6)
