"""The hashes of a text and their minima in numpy; ``text_hashes.pyx`` computes the same in compiled code, term by term.

Everything is vectorised over the bytes of the text: the hash of a run of bytes is the difference of two prefix sums of a
polynomial, so there is no loop over terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from crawlproject.pages.text.terms import Terms
from crawlproject.records import Page

SHINGLE = 3  # terms, which are stems without stop words: five or six words of the text
BIN_BITS = 7
BINS = 1 << BIN_BITS
MAX_BYTES = 1 << 16  # of terms that are hashed, about 10,000 terms
BASE = 0x9E3779B97F4A7C15  # odd, so that its powers have inverses modulo 2^64
NUMBER = 0x2545F4914F6CDD1D  # stands for all numbers
FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64
)  # by place in a shingle
HASHED = np.dtype([("plain", np.uint64), ("folded", np.uint64), ("size", np.int64)])  # of a term

Hashes = npt.NDArray[np.uint64]
Minima = npt.NDArray[np.uint16]

_ATTEMPTS = 64
_NONE: Hashes = np.zeros(0, dtype=np.uint64)
_ZERO = np.zeros(1, dtype=np.int64)
_LOW = np.uint64(0xFFFF)
_EDGES = np.array([i << (64 - BIN_BITS) for i in range(BINS)] + [(1 << 64) - 1], dtype=np.uint64)


def _sources() -> npt.NDArray[np.uint8]:
    """Return a permutation of the bins for each attempt."""
    random = np.random.default_rng(2017)
    return np.array([random.permutation(BINS) for _ in range(_ATTEMPTS)], dtype=np.uint8)


SOURCES = _sources()


def term_hashes(terms: Sequence[str]) -> tuple[Hashes, Hashes]:
    """Return a hash of each term, and the same with one hash for all numbers. Only the first ``MAX_BYTES`` are hashed."""
    if isinstance(terms, Terms):
        found = terms.each(_hashes_of_each)
        if found["size"].sum() < MAX_BYTES:
            return found["plain"], found["folded"]
    if not terms:
        return _NONE, _NONE
    letters = np.frombuffer(_joined(terms) + b"\0", dtype=np.uint8)
    powers, inverses = _powers()
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum(letters * powers[: len(letters)], out=sums[1:])
    ends = np.flatnonzero(letters == 0)
    starts = np.concatenate((_ZERO, ends[:-1] + 1))
    hashes = (sums[ends] - sums[starts]) * inverses[starts]
    folded = hashes.copy()
    folded[letters[starts] - np.uint8(ord("0")) < 10] = NUMBER  # below "0" wraps around
    return hashes, folded


def shingle_hashes(terms: Hashes) -> Hashes:
    """Return the hashes of the shingles of a text, given the hashes of its terms; a shorter text is one shingle."""
    width = min(SHINGLE, len(terms))
    if not width:
        return _NONE
    count = len(terms) - width + 1
    hashes = terms[:count] * FACTORS[0]
    for place in range(1, width):
        hashes += terms[place : place + count] * FACTORS[place]
    return _mixed(hashes)


def minima_of(hashes: Hashes) -> tuple[Minima, int]:
    """Return the minima of hashes, all zero if there are none, and the number of distinct hashes."""
    if not len(hashes):
        return np.zeros(BINS, dtype=np.uint16), 0
    hashes = np.unique(hashes)
    places = np.searchsorted(hashes, _EDGES)
    found = hashes[np.minimum(places[:-1], len(hashes) - 1)]
    empty = places[:-1] == places[1:]
    values = (found & _LOW).astype(np.uint16)
    if empty.any():
        _densify(values, empty)
    return values, len(hashes)


def outside_links(page: Page) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the terms outside links; None for a page without links."""
    if not page.links:
        return None
    outside = np.ones(len(page.terms), dtype=np.bool_)
    for link in page.links:
        start, end = link.anchor_span
        outside[start:end] = False
    return outside


def without_links(page: Page, plain: Hashes, folded: Hashes) -> tuple[Hashes, Hashes]:
    """Return the hashes of the terms outside links if these are at least half of the terms, else the same arrays."""
    outside = outside_links(page)
    if outside is None or 2 * np.count_nonzero(outside) < len(outside):
        return plain, folded
    outside = outside[: len(plain)]
    return plain[outside], folded[outside]


def _densify(values: Minima, empty: npt.NDArray[np.bool_]) -> None:
    """Fill each empty bin from a filled one; sets that fill the same bins choose the same source."""
    filled = ~empty
    missing = np.flatnonzero(empty)
    for sources in SOURCES:
        source = sources[missing]
        hit = filled[source]
        values[missing[hit]] = values[source[hit]]
        missing = missing[~hit]
        if not len(missing):
            return
    values[missing] = values[np.flatnonzero(filled)[0]]


def _hashes_of_each(terms: Sequence[str]) -> npt.NDArray[np.void]:
    """Return for each term its ``term_hashes``, and its number of bytes including the separator behind it."""
    found = np.empty(len(terms), dtype=HASHED)
    for place, term in enumerate(terms):
        (plain,), (folded,) = term_hashes([term])
        found[place] = plain, folded, len(term.encode("utf-8", "replace")) + 1
    return found


def _joined(terms: Sequence[str]) -> bytes:
    buffer = "\0".join(terms).encode("utf-8", "replace")
    if len(buffer) > MAX_BYTES:
        buffer = buffer[: buffer.rfind(b"\0", 0, MAX_BYTES)]
    return buffer


def _mixed(hashes: Hashes) -> Hashes:
    """Mix the hashes so that every bit depends on every other (the finaliser of MurmurHash3)."""
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xFF51AFD7ED558CCD)
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xC4CEB9FE1A85EC53)
    hashes ^= hashes >> np.uint64(33)
    return hashes


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """Return the powers of the base, and of its inverse, modulo 2^64: a megabyte, computed at the first call."""
    return _powers_of(BASE), _powers_of(pow(BASE, -1, 1 << 64))


def _powers_of(base: int) -> Hashes:
    factors = np.full(MAX_BYTES + 1, base, dtype=np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)
