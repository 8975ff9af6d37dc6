"""The sketch of a page's text: 128 numbers by which two texts are compared, and digests of the whole.

One permutation hashing (Li, Owen and Zhang, NIPS 2012) with optimal densification (Shrivastava, ICML 2017) of the set of
shingles, ``SHINGLE`` terms in a row (Broder, 1997). The hash of a term is remembered, since pages of a crawl share most of their
words; all the rest is vectorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from crawlproject.records import Page

SHINGLE = 3  # terms, which are stems without stop words: five or six words of the text
BINS = 128
MAX_TERMS = 10_000  # that are looked at

Hashes = npt.NDArray[np.uint64]
Minima = npt.NDArray[np.uint16]

_REMEMBERED = 100_000  # terms, 150 bytes each
_BIN_BITS = 7
_ATTEMPTS = 64


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is compared of a page.

    ``minima``: for each bin the last 16 bits of the least shingle hash, shape (128,). ``text``: digest of all terms in order.
    ``shingles``: how many different ones the minima stand for. ``terms``: of the whole page. ``folded``: hashes of the
    shingles, repeated ones too, with every number made one, shape (n,).
    """

    minima: Minima
    text: int
    shingles: int
    terms: int
    folded: Hashes


def sketch(page: Page) -> Sketch:
    """The sketch of a page that was read; of a long one, of its first ``MAX_TERMS`` terms.

    When at least half of the terms stand outside links, the minima are of these terms alone: menus change, the article does
    not. Otherwise the links are what the page is about.
    """
    plain, folded = term_hashes(page.terms)
    text = int(xxh3_64_intdigest(plain.tobytes()))
    outside = _outside_links(page)
    if outside is not None:
        outside = outside[: len(plain)]
        plain, folded = plain[outside], folded[outside]
    hashes = shingle_hashes(plain)
    hashes.sort()
    different = 1 + int(np.count_nonzero(hashes[1:] != hashes[:-1])) if len(hashes) else 0
    return Sketch(minima_of(hashes), text, different, len(page.terms), shingle_hashes(folded))


def similarity(one: Minima, other: Minima) -> float:
    """The estimated Jaccard coefficient of two sets of shingles; its standard error is at most 0.045, at 0.85 it is 0.03."""
    return float(np.count_nonzero(one == other)) / BINS


def term_hashes(terms: Sequence[str]) -> tuple[Hashes, Hashes]:
    """A hash of each term, and the same with one hash for all numbers."""
    looked_at = terms[:MAX_TERMS]
    hashes = np.fromiter(map(_hash_of.__getitem__, looked_at), np.uint64, len(looked_at))
    return hashes, np.where(hashes & _ODD, _NUMBER, hashes)


class _TermHashes(dict[str, int]):
    """Term -> its hash, odd for one that begins with a digit and even for others. Forgets everything when it is full."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        value = xxh3_64_intdigest(term.encode("utf-8", "replace")) & ~1 | ("0" <= term < ":")
        self[term] = value
        return value


def shingle_hashes(terms: Hashes) -> Hashes:
    """The hashes of the shingles of a text, given by the hashes of its terms; one for a text that is shorter."""
    width = min(SHINGLE, len(terms))
    if not width:
        return _NONE
    count = len(terms) - width + 1
    hashes = terms[:count] * _FACTORS[0]
    for place in range(1, width):
        hashes += terms[place : place + count] * _FACTORS[place]
    return _mixed(hashes)


def sketch_names(names: Sequence[str]) -> bytes:
    """The sketch of a set of names: 64 minima of 8 bits; empty for none."""
    if not names:
        return b""
    hashes = np.array([xxh3_64_intdigest(name.encode("utf-8", "replace")) for name in set(names)], dtype=np.uint64)
    hashes.sort()
    return minima_of(hashes)[::2].astype(np.uint8).tobytes()


def same_names(one: bytes, other: bytes) -> float:
    """The estimated Jaccard coefficient of two sets of names; 1 for two that are empty, 0 for one that is."""
    if not one or not other:
        return float(one == other)
    return float(np.count_nonzero(np.frombuffer(one, np.uint8) == np.frombuffer(other, np.uint8))) / len(one)


def minima_of(hashes: Hashes) -> Minima:
    """The minima of sorted hashes; all zero for none."""
    if not len(hashes):
        return np.zeros(BINS, dtype=np.uint16)
    places = np.searchsorted(hashes, _EDGES)
    found = hashes[np.minimum(places[:-1], len(hashes) - 1)]
    empty = places[:-1] == places[1:]
    values = (found & _LOW).astype(np.uint16)
    if empty.any():
        _densify(values, empty)
    return values


def _densify(values: Minima, empty: npt.NDArray[np.bool_]) -> None:
    """Give each empty bin the number of a bin that is not, the same one for any two sets that agree on them."""
    filled = ~empty
    missing = np.flatnonzero(empty)
    for sources in _SOURCES:
        source = sources[missing]
        hit = filled[source]
        values[missing[hit]] = values[source[hit]]
        missing = missing[~hit]
        if not len(missing):
            return
    values[missing] = values[np.flatnonzero(filled)[0]]


def _outside_links(page: Page) -> npt.NDArray[np.bool_] | None:
    """Which terms stand outside links, when these are at least half of all."""
    total = len(page.terms)
    if not page.links:
        return None
    edges = np.fromiter(chain.from_iterable([link.anchor_span for link in page.links]), np.int64, 2 * len(page.links))
    opened, closed = (np.bincount(edges[side::2], minlength=total + 1) for side in (0, 1))
    outside: npt.NDArray[np.bool_] = np.cumsum(opened - closed)[:total] <= 0
    return outside if 2 * np.count_nonzero(outside) >= total else None


def _mixed(hashes: Hashes) -> Hashes:
    """Every bit depends on every other (the finaliser of MurmurHash3)."""
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xFF51AFD7ED558CCD)
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xC4CEB9FE1A85EC53)
    hashes ^= hashes >> np.uint64(33)
    return hashes


def _sources() -> npt.NDArray[Any]:
    """For each attempt a permutation of the bins."""
    random = np.random.default_rng(2017)
    return np.array([random.permutation(BINS) for _ in range(_ATTEMPTS)])


_NONE: Hashes = np.zeros(0, dtype=np.uint64)
_ODD = np.uint64(1)
_NUMBER = np.uint64(0x2545F4914F6CDD1D)
_hash_of = _TermHashes()
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_LOW = np.uint64(0xFFFF)
_EDGES = np.array([i << (64 - _BIN_BITS) for i in range(BINS)] + [(1 << 64) - 1], dtype=np.uint64)
_SOURCES = _sources()
