"""What counted outcomes are worth: a lower bound on a share."""

from __future__ import annotations

from math import sqrt

_Z = 1.645  # one side, 95 %


def wilson_lower_bound(yes: float, no: float) -> float:
    """The share of ``yes`` that is surpassed with 95 % confidence: Wilson's score bound; 0 before the first outcome."""
    n = yes + no
    if n <= 0:
        return 0.0
    share, z2 = yes / n, _Z * _Z
    centre = share + z2 / (2 * n)
    return max(0.0, (centre - _Z * sqrt(share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n))
