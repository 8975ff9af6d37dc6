"""The text of a link: its anchor, the text of its aggregation node, and the words around the anchor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crawlproject.orderings.learning.term_ids import Numbers
from crawlproject.orderings.reinforcement.value_classifier import ValueClassifier, Values
from crawlproject.records import Link

Pieces = tuple[int, int, int, int, int, int]  # start and end of the anchor, the context and the words around


def pieces_of(link: Link, terms: int, window: int) -> Pieces:
    """The three pieces of a page of ``terms`` terms; with ``window`` terms on each side of the anchor.

    They overlap: a word of the anchor counts three times, and the nearer a word is the more it counts.
    """
    start, end = link.anchor_span
    return (start, end, *link.context_span, max(0, start - window), min(terms, end + window))


def text_of(page: Numbers, pieces: Pieces) -> Numbers:
    """The words of a link as one text; ``page`` are the terms of its page."""
    return np.concatenate([page[pieces[0] : pieces[1]], page[pieces[2] : pieces[3]], page[pieces[4] : pieces[5]]])


def expected_values(model: ValueClassifier, page: Numbers, pieces: Sequence[Pieces]) -> Values:
    """The values that ``model`` expects of the links of one page, in time linear in terms plus links."""
    sums = model.running_sums(page)
    places: npt.NDArray[np.int64] = np.array(pieces, np.int64).reshape(-1, 6)
    at = sums[places]  # shape (links, 6, bins)
    return model.expected((at[:, 1::2] - at[:, 0::2]).sum(axis=1))
