"""Looks whether a page has been seen before, under whatever URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crawlproject.inspection.duplicates.index import DuplicateIndex, leads_elsewhere, original_of
from crawlproject.inspection.duplicates.minhash import sketch
from crawlproject.inspection.duplicates.novelty import SeenShingles
from crawlproject.inspection.duplicates.sketch_store import OriginalPage
from crawlproject.records import NOVELTY, OWN_LINKS, Fetch, Page
from crawlproject.urls.hosts import host_of

STALE = 0.1  # below this share a page says nothing new, and its novelty is a sign


class DuplicateInspector:
    """Fills in ``duplicate_of``, and the sign ``own_links`` of copies, ``novelty`` of pages that say nothing new.

    Remembers originals that are kept.
    """

    def __init__(self, index: DuplicateIndex) -> None:
        self.index = index
        self._seen = SeenShingles()
        self._examined: dict[str, OriginalPage] = {}  # between ``inspect`` and ``kept``

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        sketched = sketch(page)
        original = original_of(page, sketched)
        first = self.index.first_with(original)
        novelty = self._seen.new_share(host_of(page.url), sketched.folded)
        if first is not None:
            own = {OWN_LINKS: 1.0} if leads_elsewhere(original, first) else {}
            return replace(page, duplicate_of=first.url, signs={**page.signs, **own})
        self._examined[page.url] = original
        if len(self._examined) > _IN_FLIGHT:  # pages that some later step turned away
            del self._examined[next(iter(self._examined))]
        return replace(page, signs=_with(page.signs, novelty)) if novelty < STALE else page

    def kept(self, page: Page) -> None:
        original = self._examined.pop(page.url, None)
        if original is not None:
            self.index.add(original)

    def remember(self, page: Page) -> None:
        """After a resume: a page that is in the history, whose sketch is not on disk."""
        self.index.add(original_of(page, sketch(page)))


_IN_FLIGHT = 1000


def _with(signs: Mapping[str, float], novelty: float) -> dict[str, float]:
    return {**signs, NOVELTY: round(novelty, 3)}
