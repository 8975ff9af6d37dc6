"""The sketch of a page's text: 128 numbers by which two texts are compared, and digests of the whole.

One permutation hashing (Li, Owen and Zhang, NIPS 2012) with optimal densification (Shrivastava, ICML 2017) of the set of
shingles, ``SHINGLE`` terms in a row (Broder, 1997). Everything is vectorised over the bytes of the text: the hash of a run of
bytes is the difference of two prefix sums of a polynomial, so that no term is looked at by itself. Where ``text_hashes`` was
compiled, it computes the same, term by term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.terms import Terms
from crawlproject.records import Page

try:
    from crawlproject.pages.text import text_hashes
except Exception:  # not built, or in a zip file
    text_hashes = None  # type: ignore[assignment]

SHINGLE = 3  # terms, which are stems without stop words: five or six words of the text
BINS = 128
MAX_BYTES = 1 << 16  # of terms that are looked at, about 10,000 terms

Hashes = npt.NDArray[np.uint64]
Minima = npt.NDArray[np.uint16]

_BASE = 0x9E3779B97F4A7C15  # odd, so that its powers have inverses modulo 2^64
_BIN_BITS = 7
_ATTEMPTS = 64


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is compared of a page.

    ``minima``: for each bin the last 16 bits of the least shingle hash, shape (128,). ``text``: digest of all terms in order.
    ``shingles``: how many different ones the text has. ``terms``: of the whole page. ``folded``: hashes of the
    shingles, repeated ones too, with every number made one, shape (n,).
    """

    minima: Minima
    text: int
    shingles: int
    terms: int
    folded: Hashes


def sketch(page: Page) -> Sketch:
    """The sketch of a page that was read; of a long one, of its first ``MAX_BYTES``.

    When at least half of the terms are outside links, the minima are of these terms alone: menus change, the article does
    not. Otherwise the links are what the page is about.
    """
    plain, folded = term_hashes(page.terms)
    text = int(xxh3_64_intdigest(plain.tobytes()))
    plain, folded = _without_links(page, plain, folded)
    minima, different = minima_of(shingle_hashes(plain))
    return Sketch(minima, text, different, len(page.terms), shingle_hashes(folded))


def similarity(one: Minima, other: Minima) -> float:
    """The estimated Jaccard coefficient of two sets of shingles; its standard error is at most 0.045, at 0.85 it is 0.03."""
    return float(np.count_nonzero(one == other)) / BINS


def term_hashes(terms: Sequence[str]) -> tuple[Hashes, Hashes]:
    """A hash of each term, and the same with one hash for all numbers."""
    if isinstance(terms, Terms):
        plain, folded, size = _hashes_of_numbered(terms)
        if size < MAX_BYTES:
            return plain, folded
    if text_hashes is not None:
        plain, folded = np.empty((2, len(terms)), dtype=np.uint64)
        count = text_hashes.hash_terms(terms, _BASE, _NUMBER, MAX_BYTES, plain, folded)
        return plain[:count], folded[:count]
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
    folded[letters[starts] - np.uint8(ord("0")) < 10] = _NUMBER  # below "0" wraps around
    return hashes, folded


def shingle_hashes(terms: Hashes) -> Hashes:
    """The hashes of the shingles of a text, given by the hashes of its terms; one for a text that is shorter."""
    width = min(SHINGLE, len(terms))
    if not width:
        return _NONE
    count = len(terms) - width + 1
    if text_hashes is not None:
        hashes = np.empty(count, dtype=np.uint64)
        text_hashes.hash_shingles(terms, _FACTORS, hashes)
        return hashes
    hashes = terms[:count] * _FACTORS[0]
    for place in range(1, width):
        hashes += terms[place : place + count] * _FACTORS[place]
    return _mixed(hashes)


def sketch_names(names: Sequence[str]) -> bytes:
    """The sketch of a set of names: 64 minima of 8 bits; empty for none."""
    if not names:
        return b""
    hashes = np.array([xxh3_64_intdigest(name.encode("utf-8", "replace")) for name in set(names)], dtype=np.uint64)
    minima, _ = minima_of(hashes)
    return minima[::2].astype(np.uint8).tobytes()


def same_names(one: bytes, other: bytes) -> float:
    """The estimated Jaccard coefficient of two sets of names; 1 for two that are empty, 0 for one that is."""
    if not one or not other:
        return float(one == other)
    return float(np.count_nonzero(np.frombuffer(one, np.uint8) == np.frombuffer(other, np.uint8))) / len(one)


def minima_of(hashes: Hashes) -> tuple[Minima, int]:
    """The minima of hashes, all zero for none, and how many different ones there are."""
    if not len(hashes):
        return np.zeros(BINS, dtype=np.uint16), 0
    if text_hashes is not None:
        minima, seen = np.empty(BINS, dtype=np.uint16), np.zeros(2 << len(hashes).bit_length(), dtype=np.uint64)
        return minima, text_hashes.find_minima(hashes, _BIN_BITS, _SOURCES, seen, minima)
    hashes = np.unique(hashes)
    places = np.searchsorted(hashes, _EDGES)
    found = hashes[np.minimum(places[:-1], len(hashes) - 1)]
    empty = places[:-1] == places[1:]
    values = (found & _LOW).astype(np.uint16)
    if empty.any():
        _densify(values, empty)
    return values, len(hashes)


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


def outside_links(page: Page) -> npt.NDArray[np.bool_] | None:
    """Which terms are outside links; None for a page without any."""
    if not page.links:
        return None
    outside = np.ones(len(page.terms), dtype=np.bool_)
    for link in page.links:
        start, end = link.anchor_span
        outside[start:end] = False
    return outside


def _without_links(page: Page, plain: Hashes, folded: Hashes) -> tuple[Hashes, Hashes]:
    """The hashes of the terms outside links, if these are at least half of the terms, else all. They may be the same arrays."""
    if text_hashes is not None:
        spans = [link.anchor_span for link in page.links]
        kept = text_hashes.leave_out(spans, np.ones(len(page.terms), np.uint8), plain, folded)
        return plain[:kept], folded[:kept]
    outside = outside_links(page)
    if outside is None or 2 * np.count_nonzero(outside) < len(outside):
        return plain, folded
    outside = outside[: len(plain)]
    return plain[outside], folded[outside]


def _hashes_of_numbered(terms: Terms) -> tuple[Hashes, Hashes, int]:
    """The hashes of each term, and the bytes of all of them."""
    if text_hashes is None:
        found = terms.each(_hashes_of_each)
        return found["plain"], found["folded"], int(found["size"].sum())
    plain, folded = np.empty((2, len(terms)), dtype=np.uint64)
    size = text_hashes.look_up(terms.numbers, terms.vocabulary.column(_hashes_of_each), plain, folded)
    return plain, folded, size


def _hashes_of_each(terms: Sequence[str]) -> npt.NDArray[np.void]:
    """For each term its ``term_hashes``, and the bytes of it and of what divides it from the next."""
    found = np.empty(len(terms), dtype=_HASHED)
    if text_hashes is not None:
        text_hashes.hash_each(terms, _BASE, _NUMBER, found)
        return found
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
    """Every bit depends on every other (the finaliser of MurmurHash3)."""
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xFF51AFD7ED558CCD)
    hashes ^= hashes >> np.uint64(33)
    hashes *= np.uint64(0xC4CEB9FE1A85EC53)
    hashes ^= hashes >> np.uint64(33)
    return hashes


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """Powers of the base, and of its inverse, modulo 2^64: a megabyte, made when first asked for."""
    return _powers_of(_BASE), _powers_of(pow(_BASE, -1, 1 << 64))


def _powers_of(base: int) -> Hashes:
    factors = np.full(MAX_BYTES + 1, base, dtype=np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


def _sources() -> npt.NDArray[np.uint8]:
    """For each attempt a permutation of the bins."""
    random = np.random.default_rng(2017)
    return np.array([random.permutation(BINS) for _ in range(_ATTEMPTS)], dtype=np.uint8)


_HASHED = np.dtype([("plain", np.uint64), ("folded", np.uint64), ("size", np.int64)])  # of a term
_NONE: Hashes = np.zeros(0, dtype=np.uint64)
_ZERO = np.zeros(1, dtype=np.int64)
_NUMBER = np.uint64(0x2545F4914F6CDD1D)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_LOW = np.uint64(0xFFFF)
_EDGES = np.array([i << (64 - _BIN_BITS) for i in range(BINS)] + [(1 << 64) - 1], dtype=np.uint64)
_SOURCES = _sources()
