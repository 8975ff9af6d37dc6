"""Recognises pages that show only what their host has already shown: single posts of a thread, other orders of a list.

A page is compared by its lines, by runs of three terms, and by its links. Lines recognise a list in another order, whose runs
are new; runs recognise one post of a thread whose posts are no lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.minhash import shingle_hashes, term_hashes
from crawlproject.pages.text.plain_hashes import Hashes
from crawlproject.parts.verticals.series import follows
from crawlproject.records import SHOWN_BEFORE, Fetch, Page
from crawlproject.urls.hosts import host_of

FEW = 80  # characters of new lines: a headline, a date, how many replies
FEW_RUNS = 10  # new runs of terms, about as much
_MOST_LINES = 2_000  # of a page that are compared
_OFTEN = 8  # times after which something that was shown belongs to the frame of the pages
_MOST_OF = 0.6
_SEVERAL = 3  # pages that each have a share of a list in another order; a chapter of a book is on one page
_A_SHARE = 0.08
_PLACES = 1 << 21


class ShownContent:
    """An inspector: sets the sign ``SHOWN_BEFORE`` of pages with hardly anything new, and no new link.

    It is 1 if the page that links to it, or several pages, showed the same, or if it is a known URL with more parameters: then
    it is another view. It is 0.5 if some other page did: a book on one page and in chapters.
    The next page of a series is never another view.

    ``leads_on(source, target)`` says whether a new link may lead to new content, ``known`` whether a URL waits or was fetched.
    The record of what was seen is run-time state: 26 MB, in which newer pages overwrite those of about 5,000 pages before. The
    signs are in the history.
    """

    def __init__(self, leads_on: Callable[[str, str], bool], known: Callable[[str], bool]) -> None:
        self._leads_on = leads_on
        self._known = known
        self._seen = np.zeros(_PLACES, dtype=np.uint64)
        self._owner = np.zeros(_PLACES, dtype=np.uint32)  # the page that showed it first
        self._times = np.zeros(_PLACES, dtype=np.uint8)

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        host = xxh3_64_intdigest(host_of(page.url).encode())
        runs = shingle_hashes(term_hashes(page.terms)[0]) ^ np.uint64(host)
        lines = list(dict.fromkeys([line for text in page.text.split("\n", _MOST_LINES) if (line := text.strip())]))
        of_lines = _hashes(lines, host)
        lengths = np.array([len(line) for line in lines], dtype=np.float64)
        new = lengths[self._is_new(of_lines)].sum()
        new_runs = int(np.count_nonzero(self._is_new(runs)))
        targets = list(dict.fromkeys([link.url for link in page.links]))
        links = _hashes((*targets, page.url), host)
        new_links = [targets[place] for place in np.flatnonzero(self._is_new(links)[:-1])]
        few_lines = bool(lines) and new <= FEW and 2 * new <= lengths.sum()  # a rehearsal keeps terms only
        shown = few_lines or (len(runs) > 0 and new_runs <= FEW_RUNS and 2 * new_runs <= len(runs))
        if page.parent is not None and follows(page.parent, page.url):
            shown = False  # a gallery has a caption a page
        shown = shown and not any(self._leads_on(page.url, url) for url in new_links)
        evidence = (of_lines, lengths) if few_lines else (runs, np.ones(len(runs)))
        sign = (1.0 if self._is_view(page, *evidence) else 0.5) if shown else 0.0
        own = _page_number(page.url)
        for marks in (runs, of_lines, links):
            self._add(marks, own)
        return replace(page, signs={**page.signs, SHOWN_BEFORE: sign}) if sign else page

    def _is_new(self, marks: Hashes) -> npt.NDArray[np.bool_]:
        return self._seen[marks & np.uint64(_PLACES - 1)] != marks

    def _is_view(self, page: Page, marks: Hashes, weights: npt.NDArray[np.float64]) -> bool:
        """Whether a page shows what its parent or several pages show, or is a known URL with more parameters.

        Content of many pages does not count.
        """
        if page.parent is None:
            return False
        places = marks & np.uint64(_PLACES - 1)
        content = ~self._is_new(marks) & (self._times[places] < _OFTEN)
        if not content.any():
            return True
        owners, numbers = np.unique(self._owner[places[content]], return_inverse=True)
        shares = np.bincount(numbers, weights[content]) / weights[content].sum()
        if shares[owners == _page_number(page.parent)].sum() >= _MOST_OF:
            return True
        mixed = np.count_nonzero(shares >= _A_SHARE) >= _SEVERAL
        return bool(mixed) or any(map(self._known, _with_fewer_parameters(page.url)))

    def _add(self, marks: Hashes, page: int) -> None:
        places = marks & np.uint64(_PLACES - 1)
        new = self._seen[places] != marks
        self._owner[places[new]] = page
        self._times[places[new]] = 0
        self._seen[places] = marks
        self._times[places] = np.minimum(self._times[places], 254) + 1


def _with_fewer_parameters(url: str) -> Iterator[str]:
    """The URL without one of its parameters, and without all."""
    path, _, query = url.partition("?")
    pairs = query.split("&") if query else []
    for place in range(len(pairs) if len(pairs) > 1 else 0):
        yield f"{path}?{'&'.join(pairs[:place] + pairs[place + 1 :])}"
    if pairs:
        yield path


def _page_number(url: str) -> int:
    return xxh3_64_intdigest(url.encode()) & 0xFFFFFFFF


def _hashes(texts: Iterable[str], seed: int) -> Hashes:
    return np.array([xxh3_64_intdigest(text.encode("utf-8", "replace"), seed) for text in texts], dtype=np.uint64)
