"""The active set: which of the waiting URLs are worth a fetch now."""

from __future__ import annotations

from math import ceil

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FEWEST_HOSTS = 4  # least number of hosts assumed for exploration, if the best URLs are on fewer


def shortlist(scores: Vector, hosts: Rows, size: int, explore: float) -> Mask:
    """True for the ``size`` best scores, and for the best of every one of the next best hosts.

    There are at most ``explore`` times as many of these hosts as the best URLs have, which bounds the cost of exploration:
    when hosts take turns, a share ``explore / (1 + explore)`` of the fetches. Ties go to the first.
    """
    if len(scores) <= size:
        return np.ones(len(scores), dtype=bool)
    chosen = np.zeros(len(scores), dtype=bool)
    order = np.argsort(-scores, kind="stable")
    chosen[order[:size]] = True
    familiar = np.unique(hosts[chosen])
    _, first = np.unique(hosts[order], return_index=True)
    best_of_host = order[np.sort(first)]
    strangers = best_of_host[~np.isin(hosts[best_of_host], familiar)]
    chosen[strangers[: ceil(explore * max(len(familiar), FEWEST_HOSTS))]] = True
    return chosen
