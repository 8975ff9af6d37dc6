"""Recognises pages that show nothing but what their host has shown: single posts of a thread, other orders of a list.

A page is compared by its lines, by runs of three terms, and by what it links to. Lines know a list in another order, whose runs
are new; runs know one post of a thread whose posts are no lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.inspection.duplicates.minhash import Hashes, shingle_hashes, term_hashes
from crawlproject.records import SHOWN_BEFORE, Fetch, Page
from crawlproject.urls.hosts import host_of

FEW = 80  # characters of new lines: a headline, a date
FEW_RUNS = 10  # new runs of terms, about as much
_MOST_LINES = 2_000  # of a page that are compared
_PLACES = 1 << 21
_DIGITS = re.compile(r"[0-9]+")


class ShownContent:
    """An inspector: sets the sign ``SHOWN_BEFORE`` of pages with hardly anything new, and no new link.

    ``leads_on(source, target)`` says whether a link that is new may lead to new content. What was seen is run-time state: 16 MB,
    in which the pages since overwrite those of about 5,000 pages before. The signs are in the history.
    """

    def __init__(self, leads_on: Callable[[str, str], bool]) -> None:
        self._leads_on = leads_on
        self._seen = np.zeros(_PLACES, dtype=np.uint64)

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        host = xxh3_64_intdigest(host_of(page.url).encode())
        runs = shingle_hashes(term_hashes(page.terms)[1])
        new_runs = len(self._new(runs ^ np.uint64(host)))
        lines = list(dict.fromkeys([line for text in page.text.split("\n", _MOST_LINES) if (line := text.strip())]))
        new = sum([len(lines[place]) for place in self._new(_hashes(map(_folded, lines), host))])
        targets = list(dict.fromkeys([link.url for link in page.links]))
        found = self._new(_hashes((*targets, page.url), host))
        shown = (new <= FEW and 2 * new <= sum(map(len, lines))) or (new_runs <= FEW_RUNS and 2 * new_runs <= len(runs))
        if not shown or any(self._leads_on(page.url, targets[place]) for place in found if place < len(targets)):
            return page
        return replace(page, signs={**page.signs, SHOWN_BEFORE: 1.0})

    def _new(self, marks: Hashes) -> Hashes:
        """The places of the marks that were not seen; they are from now on."""
        places = marks & np.uint64(_PLACES - 1)
        new = np.flatnonzero(self._seen[places] != marks)
        self._seen[places] = marks
        return new


def _hashes(texts: Iterable[str], seed: int) -> Hashes:
    return np.array([xxh3_64_intdigest(text.encode("utf-8", "replace"), seed) for text in texts], dtype=np.uint64)


def _folded(line: str) -> str:
    """A line without its numbers: they count replies, and days since."""
    return _DIGITS.sub("#", line)
