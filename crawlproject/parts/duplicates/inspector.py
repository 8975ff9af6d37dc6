"""Compares each page with earlier pages: whether it is a copy, which copy is kept, and how much of its text is new."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from crawlproject.pages.text.minhash import sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, leads_elsewhere, links_of, original_of
from crawlproject.parts.duplicates.preference import LinkCounts, code_of, language_fit
from crawlproject.parts.duplicates.seen_shingles import SeenShingles
from crawlproject.parts.duplicates.sketch_store import OriginalPage
from crawlproject.records import (
    NEW_TEXT,
    NOT_KEPT,
    NOTHING_NEW,
    NOVELTY,
    OWN_LINKS,
    PREFERRED,
    Fetch,
    FetchEvent,
    Page,
    Visit,
)
from crawlproject.urls.hosts import host_of

LONG = 80  # shingles from which a single page can be said to have nothing new; of shorter pages it takes several
MOSTLY_NEW = 0.5  # share of new text from which it is not recorded

_IN_FLIGHT = 1000  # pages that were inspected and not learned yet


class DuplicateInspector:
    """Sets ``duplicate_of``, ``replaces`` and the signs ``own_links`` and ``preferred`` of duplicates; of other pages with less
    than half their text new, sets the sign ``novelty`` if a long page says nothing new, else ``new_text``.

    It is a learner, too: it remembers the originals; ``others`` holds those of other workers. ``language`` is that of the topic;
    ``dates`` are the names of months and days in it (``date_names``). The recent text of each host and the number of
    links to each URL are not learned again after a resume.
    """

    def __init__(
        self,
        index: DuplicateIndex,
        others: DuplicateIndex | None = None,
        *,
        language: str = "",
        dates: Collection[int] = (),
    ) -> None:
        self.index = index
        self.latest: OriginalPage | None = None  # the original that was added last
        self._others = others
        self._dates = dates
        self._stored_until = ""  # the index begins with the events of an earlier run up to this URL
        self._seen = SeenShingles()
        self._language = {code_of(language)}
        self._link_counts = LinkCounts()
        self._kept: dict[str, tuple[str, float]] = {}  # by original: the page that is kept, its language fit
        self._examined: dict[str, OriginalPage] = {}  # between ``inspect`` and ``learn``

    def learned(self) -> dict[str, Any]:
        """The state for a checkpoint, without recent texts and link counts."""
        return {"index": self.index.learned(), "kept": self._kept}

    def set_learned(self, learned: Mapping[str, Any]) -> None:
        """Restore the state. Raises ``Unfit`` before anything is changed."""
        self.index.set_learned(learned["index"])
        self._kept = learned["kept"]

    def read_stored(self) -> None:
        """Read the originals that an earlier run has stored; their events are about to be learned again."""
        self._stored_until = self.index.read_stored()

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        sketched, links = sketch(page, self._dates), links_of(page)
        original = original_of(page, sketched, links)
        self._link_counts.add(links)
        first = self.index.first_with(original)
        if first is None and self._others is not None:
            first = self._others.first_with(original)
        novelty = self._seen.new_share(host_of(page.url), sketched.folded)
        if first is not None:
            return self._duplicate(page, original, first)
        self._examined[page.url] = original
        if len(self._examined) > _IN_FLIGHT:  # drop pages that a later step rejected
            del self._examined[next(iter(self._examined))]
        if novelty >= MOSTLY_NEW:
            return page
        says_nothing = novelty < NOTHING_NEW and len(sketched.folded) >= LONG
        return replace(page, signs={**page.signs, NOVELTY if says_nothing else NEW_TEXT: round(novelty, 3)})

    def learn(self, event: FetchEvent) -> None:
        """Add a page that is not a duplicate to the index, unless its sketch is there already.

        After ``kill -9`` the sketch of the last page may be missing on disk; if the file of sketches was removed, all are.
        """
        visit = event.visit
        original = self._examined.pop(visit.url, None)
        self.note(visit)
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

    def note(self, visit: Visit) -> None:
        """Note which page is kept, if this one replaces an original or may not be kept itself."""
        if visit.replaces and visit.is_page:
            self._kept[visit.duplicate_of] = visit.url, visit.signs.get(PREFERRED, 1.0)
        elif visit.error == NOT_KEPT and not visit.duplicate_of:
            self._kept[visit.url] = visit.url, 0.0  # any copy that may be kept is better

    def _duplicate(self, page: Page, original: OriginalPage, first: OriginalPage) -> Page:
        """Mark a page as a duplicate. Its links count as its own if it fits the wanted language better, or has another menu."""
        kept, fit = self._kept.get(first.url) or (first.url, language_fit(first.url, first.language, self._language))
        ours = language_fit(page.url, page.language, self._language)
        signs = dict(page.signs)
        if ours > fit > 0 or leads_elsewhere(original, first):
            signs[OWN_LINKS] = 1.0
        is_better = page.is_kept and self._order(ours, page.url) > self._order(fit, kept)
        if is_better:
            signs[PREFERRED] = float(ours)
        return replace(page, duplicate_of=first.url, replaces=kept if is_better else "", signs=signs)

    def _order(self, fit: float, url: str) -> tuple[float, int, int]:
        return fit, self._link_counts.magnitude(url), -len(url)

    def add_of_another(self, original: OriginalPage) -> None:
        """Add an original that another worker has kept."""
        if self._others is not None:
            self._others.add(original)

    def close(self) -> None:
        """Close the files."""
        self.index.close()
        if self._others is not None:
            self._others.close()
