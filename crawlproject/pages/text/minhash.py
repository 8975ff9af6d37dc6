"""The sketch of a page's text: 128 numbers to compare two texts by, and digests of the whole text.

The method is one permutation hashing (Li, Owen and Zhang, NIPS 2012) with optimal densification (Shrivastava, ICML 2017) of
the set of shingles, ``SHINGLE`` consecutive terms (Broder, 1997).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.plain_hashes import BINS, NUMBER, Hashes, Minima, outside_links
from crawlproject.records import Page

try:
    from crawlproject.pages.text.text_hashes import minima_of, shingle_hashes, term_hashes, without_links
except Exception:  # not built, or in a zip file
    from crawlproject.pages.text.plain_hashes import minima_of, shingle_hashes, term_hashes, without_links

__all__ = ["Sketch", "minima_of", "same_names", "shingle_hashes", "similarity", "sketch", "sketch_names", "term_hashes"]

LEAST_PROSE = 50  # terms
SHORT = 80  # terms: in a shorter text the name of a month matters


@dataclass(frozen=True, slots=True)
class Sketch:
    """The data by which pages are compared.

    ``minima``: the last 16 bits of the least shingle hash in each bin, shape (128,). ``text``: digest of all terms in order.
    ``shingles``: number of distinct shingles of the text. ``terms``: number of terms of the whole page. ``folded``: hashes of
    all shingles, including repeated ones, with all numbers made equal, shape (n,). ``prose``: 64 minima of 8 bits of the
    shingles outside links, for a page that is mostly links and has at least ``LEAST_PROSE`` other terms.
    """

    minima: Minima
    text: int
    shingles: int
    terms: int
    folded: Hashes
    prose: bytes = b""


def sketch(page: Page, dates: Collection[int] = ()) -> Sketch:
    """Return the sketch of a page; of a long page, of its first ``MAX_BYTES``.

    ``dates`` are hashes of ``date_names``. On a page of fewer than ``SHORT`` terms these count as numbers in ``folded``.

    If at least half of the terms are outside links, the minima are taken of these terms alone: menus change, the article
    does not. Otherwise the page is about its links.
    """
    plain, folded = term_hashes(page.terms)
    text = int(xxh3_64_intdigest(plain.tobytes()))
    whole = plain
    plain, folded = without_links(page, plain, folded)
    if dates and len(folded) < SHORT:  # look-ups in a set: NumPy would take as long as all the rest
        folded = np.array([NUMBER if term in dates else term for term in folded.tolist()], dtype=np.uint64)
    minima, different = minima_of(shingle_hashes(plain))
    prose = _prose(page, whole) if page.links and len(plain) == len(whole) else b""
    return Sketch(minima, text, different, len(page.terms), shingle_hashes(folded), prose)


def _prose(page: Page, plain: Hashes) -> bytes:
    outside = outside_links(page)
    if outside is None or not LEAST_PROSE <= np.count_nonzero(outside) <= len(outside) / 2:
        return b""
    return _bytes_of(minima_of(shingle_hashes(plain[outside[: len(plain)]]))[0])


def similarity(one: Minima, other: Minima) -> float:
    """Estimate the Jaccard coefficient of two sets of shingles. Its standard error is at most 0.045, and 0.03 at 0.85."""
    return float(np.count_nonzero(one == other)) / BINS


def sketch_names(names: Collection[bytes]) -> bytes:
    """Return the sketch of distinct names: 64 minima of 8 bits; empty for no names."""
    if not names:
        return b""
    return _bytes_of(minima_of(np.fromiter(map(xxh3_64_intdigest, names), np.uint64, len(names)))[0])


def _bytes_of(minima: Minima) -> bytes:
    return minima[::2].astype(np.uint8).tobytes()


def same_names(one: bytes, other: bytes) -> float:
    """Return the estimated Jaccard coefficient of two sets of names: 1 if both are empty, 0 if one is."""
    if not one or not other:
        return float(one == other)
    return float(np.count_nonzero(np.frombuffer(one, np.uint8) == np.frombuffer(other, np.uint8))) / len(one)
