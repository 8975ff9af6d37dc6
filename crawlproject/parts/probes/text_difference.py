"""Two copies of a page, fetched at two times or by two names: how much of the one is missing from the other?

A copy is known by two sketches: of the shingles of its text, every number made one, and of where its links lead, queries left
out. They travel with the probe through the frontier as numbers, so that no memory, page file or worker has to keep the copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.minhash import BINS, Minima, minima_of, shingle_hashes, similarity, term_hashes
from crawlproject.records import Page

LEAST_SHINGLES = 50  # of a text that can be judged
LEAST_LINKS = 10  # of a page that can be judged

_USUAL_ERROR = 0.03  # of what is missing from a set of about the same size
_PACKED = 3  # numbers of 16 bits in one that a float holds exactly
_LENGTH = -(-2 * BINS // _PACKED) + 2


@dataclass(frozen=True, slots=True)
class MinHashSet:
    """A set by its ``minima``, shape (128,), and its ``size``."""

    minima: Minima
    size: int

    def missing_from(self, other: MinHashSet) -> float:
        """Which share of this set is not in the ``other``, 0 to 1, estimated; 0 for none at all.

        With the Jaccard coefficient j of sets of m and n, they have j / (1 + j) * (m + n) in common. The standard error is at
        most 0.04 for sets of one size.
        """
        if not self.size:
            return 0.0
        if not other.size:
            return 1.0
        alike = similarity(self.minima, other.minima)
        common = alike / (1.0 + alike) * (self.size + other.size)
        return min(1.0, max(0.0, 1.0 - common / self.size))

    def surely_missing_from(self, other: MinHashSet) -> float:
        """``missing_from``, less where it is a poor estimate: of a small set in a large one, such as a page below a long banner.

        Three times as much is taken off as the standard error is above ``_USUAL_ERROR``.
        """
        if not self.size or not other.size:
            return self.missing_from(other)
        alike = similarity(self.minima, other.minima)
        error = sqrt(alike * (1.0 - alike) / BINS) * (self.size + other.size) / (1.0 + alike) ** 2 / self.size
        return max(0.0, self.missing_from(other) - 3.0 * max(0.0, error - _USUAL_ERROR))


@dataclass(frozen=True, slots=True)
class PageCopy:
    """One copy of a page."""

    text: MinHashSet
    links: MinHashSet

    def numbers(self) -> tuple[float, ...]:
        """The copy as 88 numbers, which ``copies_from`` reads."""
        minima = np.concatenate((self.text.minima, self.links.minima)).astype(np.int64)
        minima = np.concatenate((minima, np.zeros(-len(minima) % _PACKED, dtype=np.int64))).reshape(-1, _PACKED)
        packed = minima[:, 0] + (minima[:, 1] << 16) + (minima[:, 2] << 32)
        return float(self.text.size), float(self.links.size), *map(float, packed)


def copy_of(page: Page) -> PageCopy:
    """What a page that was read is compared by."""
    _, folded = term_hashes(page.terms)
    places = {link.url.partition("?")[0].partition("://")[2] for link in page.links}
    linked = np.array([xxh3_64_intdigest(place.encode("utf-8", "replace")) for place in places], dtype=np.uint64)
    return PageCopy(MinHashSet(*minima_of(shingle_hashes(folded))), MinHashSet(*minima_of(linked)))


NOTHING = copy_of(Page(""))


def copies_from(numbers: Sequence[float]) -> list[PageCopy]:
    """The copies whose ``numbers`` follow each other. Raises ``ValueError`` for other numbers."""
    if len(numbers) % _LENGTH:
        raise ValueError(f"expected {_LENGTH} numbers a copy, got {len(numbers)}")
    return [_copy(numbers[start : start + _LENGTH]) for start in range(0, len(numbers), _LENGTH)]


def _copy(numbers: Sequence[float]) -> PageCopy:
    packed = np.array(numbers[2:], dtype=np.int64)
    minima = np.stack([packed >> shift & 0xFFFF for shift in (0, 16, 32)], axis=1).reshape(-1).astype(np.uint16)
    text, links = minima[:BINS], minima[BINS : 2 * BINS]
    return PageCopy(MinHashSet(text, int(numbers[0])), MinHashSet(links, int(numbers[1])))
