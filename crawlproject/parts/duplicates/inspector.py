"""Looks whether a page has been seen before, under whatever URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, leads_elsewhere, original_of
from crawlproject.parts.duplicates.novelty import SeenShingles
from crawlproject.parts.duplicates.sketch_store import OriginalPage
from crawlproject.records import NOVELTY, OWN_LINKS, Fetch, FetchEvent, Page
from crawlproject.urls.hosts import host_of

STALE = 0.1  # below this share a page says nothing new, and its novelty is a sign


class DuplicateInspector:
    """Fills in ``duplicate_of``, and the sign ``own_links`` of duplicates, ``novelty`` of pages that say nothing new.

    A learner, too: remembers the originals that are kept; ``others`` has those of other workers. Which texts a host has shown of
    late is not learned again after a resume.
    """

    def __init__(self, index: DuplicateIndex, others: DuplicateIndex | None = None) -> None:
        self.index = index
        self.latest: OriginalPage | None = None  # that was added last
        self._others = others
        self._stored_until = index.last_url  # the index begins with the events of an earlier run up to this URL
        self._seen = SeenShingles()
        self._examined: dict[str, OriginalPage] = {}  # between ``inspect`` and ``apply``

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        sketched = sketch(page)
        original = original_of(page, sketched)
        first = self.index.first_with(original)
        if first is None and self._others is not None:
            first = self._others.first_with(original)
        novelty = self._seen.new_share(host_of(page.url), sketched.folded)
        if first is not None:
            own = {OWN_LINKS: 1.0} if leads_elsewhere(original, first) else {}
            return replace(page, duplicate_of=first.url, signs={**page.signs, **own})
        self._examined[page.url] = original
        if len(self._examined) > _IN_FLIGHT:  # pages that some later step turned away
            del self._examined[next(iter(self._examined))]
        return replace(page, signs=_with(page.signs, novelty)) if novelty < STALE else page

    def learn(self, event: FetchEvent) -> None:
        """Add a page that is no duplicate to the index, unless its sketch is there already.

        After ``kill -9`` the sketch of the last page may be missing on disk; when the file of sketches was removed, all are.
        """
        visit = event.visit
        original = self._examined.pop(visit.url, None)
        if not visit.is_page or visit.duplicate_of:
            return
        if original is not None:
            self.index.add(original)
            self.latest = original
        elif self._stored_until:
            if self._stored_until == visit.url:
                self._stored_until = ""
        elif (page := event.page()) is not None:
            self.index.add(original_of(page, sketch(page)))

    def add_of_another(self, original: OriginalPage) -> None:
        """Another worker has kept a page that is no duplicate."""
        if self._others is not None:
            self._others.add(original)

    def close(self) -> None:
        """Close the files."""
        self.index.close()
        if self._others is not None:
            self._others.close()


_IN_FLIGHT = 1000


def _with(signs: Mapping[str, float], novelty: float) -> dict[str, float]:
    return {**signs, NOVELTY: round(novelty, 3)}
