"""Keyword frequencies around links, weighted by distance (paper 000 section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np

from crawlproject.records import Span

REACH = 24  # terms considered on either side of a link


def keyword_proximity(terms: Sequence[str], anchors: Sequence[Span], columns: Mapping[str, int]) -> np.ndarray:
    """Distance-weighted frequencies of keywords around links, one row per link and one column per keyword.

    An occurrence in the anchor counts 1. One outside counts ``1 / (1 + d)``, where ``d`` is its distance from the nearer
    end of the anchor: 1 for the neighbouring term, at most ``REACH``. ``columns`` maps each keyword to its column.

    Only terms within reach of a link are read, so that the cost of long pages depends only on their links.
    """
    inputs = np.zeros((len(anchors), len(columns)))
    found = np.full(len(terms) + 2 * REACH, -1)  # the column of each term, with nothing on either side of the text
    found[REACH : REACH + len(terms)] = np.fromiter(map(columns.get, terms, repeat(-1)), np.int64, len(terms))
    if not len(anchors) or found.max(initial=-1) < 0:
        return inputs
    spans = np.asarray(anchors, dtype=np.int64).clip(0, len(terms)) + REACH
    starts, ends = spans.T
    distances = np.arange(1, REACH + 1)
    around = np.hstack([found[starts[:, None] - distances], found[ends[:, None] - 1 + distances]])
    rows, places = np.nonzero(around >= 0)
    weights = np.tile(1 / (1 + distances), 2)[places]
    lengths = np.maximum(ends - starts, 0)
    inside = np.arange(lengths.sum()) + np.repeat(starts - lengths.cumsum() + lengths, lengths)
    anchored = found[inside] >= 0
    rows = np.concatenate([rows, np.repeat(np.arange(len(spans)), lengths)[anchored]])
    cells = rows * len(columns) + np.concatenate([around[around >= 0], found[inside[anchored]]])
    weights = np.concatenate([weights, np.ones(anchored.sum())])
    return np.bincount(cells, weights, inputs.size).reshape(inputs.shape)
