"""Ridge regression with a prior, learned one example at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

FAR_BEHIND = 1.5  # most that a prediction of what lies behind a link counts for


class Ridge:
    """The weights ``w`` that minimise ``sum (y - w.x)^2 + strength * |w - prior|^2`` over the examples so far.

    Without examples ``w`` is the prior; ``strength`` is its weight in examples of unit size. Several outputs are learned
    independently, each from its own evidence: ``prior`` has shape (outputs, features).
    """

    def __init__(self, prior: Vector, strength: float) -> None:
        outputs, features = prior.shape
        self.weights = prior.copy()
        self._gram = np.tile(np.eye(features) * strength, (outputs, 1, 1))
        self._moments = prior * strength

    def learn(self, evidence: Vector, outcome: Vector) -> None:
        """Add an example: ``evidence`` of shape (outputs, features), ``outcome`` of shape (outputs,)."""
        self._gram += evidence[:, :, None] * evidence[:, None, :]
        self._moments += outcome[:, None] * evidence

    def solve(self) -> None:
        """Update ``weights``; costs one small linear system per output."""
        self.weights = np.asarray(np.linalg.solve(self._gram, self._moments[:, :, None])[:, :, 0], dtype=np.float64)


def behind_of(predicted: float | Vector) -> float | Vector:
    """What lies behind a link, as predicted: at least nothing; far above 1 it is a slip of the regression."""
    return np.minimum(np.maximum(predicted, 0.0), FAR_BEHIND)
