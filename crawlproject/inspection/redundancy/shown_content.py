"""Recognises pages that show nothing but what their host has shown: single posts of a thread, other orders of a list.

A page is compared by its lines and by what it links to. So a list in another order is known, which it is not by its shingles, and
one post of a known thread, which is too small a part of it for a duplicate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.records import SHOWN_BEFORE, Fetch, Page
from crawlproject.urls.hosts import host_of

FEW = 80  # characters of new lines: a headline, a date
_MOST_LINES = 2_000  # of a page that are compared
_PLACES = 1 << 20
_DIGITS = re.compile(r"[0-9]+")


class ShownContent:
    """An inspector: sets the sign ``SHOWN_BEFORE`` of pages with hardly a new line, and no new link.

    ``leads_on`` says whether a link that is new may lead to new content. What was seen is run-time state: 8 MB, in which the
    lines and links of about 20,000 pages overwrite those before them. The signs are in the history.
    """

    def __init__(self, leads_on: Callable[[str, str], bool]) -> None:
        self._leads_on = leads_on
        self._seen = np.zeros(_PLACES, dtype=np.uint64)

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        host = host_of(page.url)
        lines = dict.fromkeys([line for text in page.text.split("\n", _MOST_LINES) if (line := text.strip())])
        new_lines = self._new(host, list(lines), map(_folded, lines))
        targets = list(dict.fromkeys([link.url for link in page.links]))
        new_links = self._new(host, targets, targets)
        self._new(host, [page.url], [page.url])
        new = sum(map(len, new_lines))
        if new > FEW or 2 * new > sum(map(len, lines)) or any(self._leads_on(page.url, url) for url in new_links):
            return page
        return replace(page, signs={**page.signs, SHOWN_BEFORE: 1.0})

    def _new(self, host: str, values: list[str], keys: Iterable[str]) -> list[str]:
        """The values whose key was not seen on this host; they are seen from now on."""
        seed = xxh3_64_intdigest(host.encode()) & 0xFFFFFFFF
        marks = np.array([xxh3_64_intdigest(key.encode("utf-8", "replace"), seed) for key in keys], dtype=np.uint64)
        places = marks & np.uint64(_PLACES - 1)
        new = np.flatnonzero(self._seen[places] != marks)
        self._seen[places] = marks
        return [values[place] for place in new]


def _folded(line: str) -> str:
    """A line without its numbers: they count replies, and days since."""
    return _DIGITS.sub("#", line)
