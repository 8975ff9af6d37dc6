"""How often each keyword stands near a link, near meaning more (paper 000 section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np

from crawlproject.records import Span

REACH = 24  # terms on either side of a link that are looked at


def keyword_proximity(terms: Sequence[str], anchors: Sequence[Span], columns: Mapping[str, int]) -> np.ndarray:
    """Distance-weighted frequencies of keywords around links, one row a link and one column a keyword.

    An occurrence in the anchor counts 1. One outside counts ``1 / (1 + d)``, where ``d`` is its distance from the nearer
    end of the anchor: 1 for the neighbouring term, at most ``REACH``. ``columns`` maps each keyword to its column.

    All links are looked at together: the weights that fall on each position of the text are added up once.
    """
    found = np.fromiter(map(columns.get, terms, repeat(-1)), np.int64, len(terms))
    places = np.flatnonzero(found >= 0)
    inputs = np.zeros((len(anchors), len(columns)))
    if not len(places) or not len(anchors):
        return inputs
    rows = found[places]
    inside = np.zeros((len(columns), len(terms) + 1))
    inside[rows, places + 1] = 1.0
    inside = inside.cumsum(axis=1)  # occurrences before each position
    before = np.zeros((len(columns), len(terms) + REACH + 1))  # what stands before an anchor that starts at a position
    after = np.zeros((len(columns), len(terms) + REACH + 1))  # what stands after one that ends there, moved by REACH
    for distance in range(1, REACH + 1):
        before[rows, places + distance] += 1 / (1 + distance)
        after[rows, places + 1 - distance + REACH] += 1 / (1 + distance)
    spans = np.asarray(anchors, dtype=np.int64).clip(0, len(terms))
    starts, ends = spans[:, 0], spans[:, 1]
    inputs += (inside[:, ends] - inside[:, starts] + before[:, starts] + after[:, ends + REACH]).T
    return inputs
