"""Hubs and authorities (J. Kleinberg: Authoritative Sources in a Hyperlinked Environment. Journal of the ACM 46(5), 1999)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]


def hits(
    links: Any, backward: Any | None = None, *, tolerance: float = 1e-8, max_iterations: int = 100
) -> tuple[Scores, Scores]:
    """Hub and authority score of each node, both vectors of length ``n`` that sum to 1 (all 0 without links).

    ``links`` is a sparse matrix of shape (n, n), such as ``adjacency`` makes: entry (i, j) is the weight of the link from
    i to j, 1 in Kleinberg's original. Authorities are ``a = links^T h``, hubs are ``h = links a``, again and again until
    no score moves by more than ``tolerance``, or ``max_iterations`` times. With ``backward``, hubs are ``h = backward a``:
    a distiller weighs a link forward by its target's relevance and backward by its source's (S. Chakrabarti, M. van den
    Berg, B. Dom: Focused Crawling. WWW8, 1999, section 2.2.2).
    """
    nodes = links.shape[0]
    forward = links.T.tocsr()
    upward = (links if backward is None else backward).tocsr()
    hubs = np.full(nodes, 1 / nodes) if nodes else np.zeros(0)
    authorities = np.zeros(nodes)
    for _ in range(max_iterations):
        authorities = _shares(forward @ hubs)
        before, hubs = hubs, _shares(upward @ authorities)
        if np.abs(hubs - before).max(initial=0.0) <= tolerance:
            break
    return hubs, authorities


def _shares(scores: Scores) -> Scores:
    """``scores`` scaled so that they sum to 1."""
    total = scores.sum()
    return scores / total if total > 0 else np.zeros_like(scores)
