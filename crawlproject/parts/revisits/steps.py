"""The steps of a page that is visited again."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from math import inf

from crawlproject.core.page_steps import PageSteps
from crawlproject.core.services import Services
from crawlproject.parts.revisits.collection import CollectedPage
from crawlproject.parts.revisits.revisits import Revisits
from crawlproject.parts.revisits.shared_records import score_of
from crawlproject.parts.revisits.text_difference import estimated_novelty, novelty, passages, sketch_of
from crawlproject.records import BACK, CHANGED, MISSING, NEEDS_BROWSER, SAME, CrawlUrl, Fetch, Link, Page, Visit
from crawlproject.storage.logs import PageChange


class RevisitSteps(PageSteps):
    """From bytes to page to history to links, as for a new page, but compared with the version before.

    Only links that were not known are followed. The page is not checked again for duplicates.
    """

    hook = "examine_again"

    def __init__(self, services: Services, revisits: Revisits) -> None:
        super().__init__(services, services.steps.reader)
        self._of = revisits
        # Of pages between ``visit`` and ``keep``: the texts of the version before (None if not known) and of this one.
        self._before: dict[str, tuple[str | None, str]] = {}

    def known(self, url: str) -> CollectedPage:
        """What the visits so far have shown of a page of the collection."""
        page = self._of.collection.find(url)
        assert page is not None, f"no page of the collection: {url}"
        return page

    def end(self, url: CrawlUrl, fetch: Fetch, change: str, *, error: str = "", redirect: str = "") -> None:
        """End a visit that brought no text to compare; it showed ``change``."""
        page = self.known(url.url)
        if page.state == MISSING and change == SAME:
            change = BACK
        visit = self._history.line(
            url,
            fetch,
            self._of.signs(url, page),
            error=error,
            redirect=redirect,
            digest=page.digest if change in (SAME, BACK) else "",
            relevance=page.weight if change in (SAME, BACK) else 0.0,
            number=page.number + 1,
            version=page.version,
            change=change,
        )
        if change not in ("", SAME):
            self._of.note(_change(page, visit))
        self._history.again(visit)
        with self._frontier.batch():
            self._done(page, change, fetch)

    # ------------------------------------------------------------ the steps

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """Mark a page whose text is now made by scripts: it does not show whether it has changed."""
        page = super().examine(page, fetch)
        return replace(page, page_type=NEEDS_BROWSER) if page.needs_browser else page

    def visit(self, url: CrawlUrl, page: Page, body: bytes, fetch: Fetch) -> Visit:
        """Make the history line; store the page file when the text differs from the version before."""
        known = self.known(url.url)
        before, new = self._compare(url, page.text, fetch)
        stored = known.version if self._of.shared.has_stored(url.url) else 0  # 0: another worker's folder has it
        if new:
            self._before[url.url] = before, page.text
        return self._history.line(
            url,
            fetch,
            {**page.signs, **self._of.signs(url, known), **(self._of.impact(page, known) if new else {})},
            relevance=page.relevance if new else known.weight,
            md5=self._folder.store(page.url, body, stored) if new else "",
            digest=hashlib.md5(body, usedforsecurity=False).hexdigest(),
            size=len(body),
            title=page.title,
            links=len(self._unknown_links(page)),
            spam=page.spam,
            number=known.number + 1,
            version=known.version + bool(new),
            change=BACK if known.state == MISSING else CHANGED if new else SAME,
            novelty=new,
            topics=page.topics if new else {},
        )

    def keep(self, page: Page, visit: Visit) -> None:
        known = self.known(page.url)
        before, _ = self._before.get(page.url, (page.text, ""))
        if visit.change != SAME:
            added, removed = passages(before, page.text) if before is not None else ((), ())
            self._of.note(replace(_change(known, visit), added=added, removed=removed))
        self._history.again(visit, replace(page, links=self._unknown_links(page)))
        if visit.md5:
            self._folder.pages.settle(page.url, known.version)

    def offer(self, page: Page, fetch: Fetch) -> None:
        known, links = self.known(page.url), self._unknown_links(page)
        with self._frontier.batch():
            if links:
                shown = replace(page, links=links, depth=known.depth)
                self._feed.observe(shown)
                self.follow(shown)
            self._done(known, CHANGED, fetch)

    # ------------------------------------------------------------ inside

    def _unknown_links(self, page: Page) -> tuple[Link, ...]:
        return tuple(link for link in page.links if link.url not in self._frontier)

    def _compare(self, url: CrawlUrl, text: str, fetch: Fetch) -> tuple[str | None, float]:
        """The text of the stored version, None if it is not known, and the novelty of the new text."""
        attached = self._of.shared.attached(url.url)
        if attached is None:
            before = self._text_before(url, fetch)
            return before, novelty(before, text)
        stored, sketch = self._of.shared.text_before(attached, lambda body: self._text(url, body, fetch))
        if sketch is None:
            if stored is not None:
                return stored, novelty(stored, text)
            self._of.shared.text_is(attached, text)
            return None, 0.0
        estimate = estimated_novelty(sketch, sketch_of(text))
        return stored, novelty(stored, text) if stored is not None and estimate else estimate

    def _text_before(self, url: CrawlUrl, fetch: Fetch) -> str:
        """The text of the stored version; empty when its file is gone."""
        try:
            body = self._folder.pages.load_version(url.url, self.known(url.url).version)
        except FileNotFoundError:
            return ""
        return self._text(url, body, fetch)

    def _text(self, url: CrawlUrl, body: bytes, fetch: Fetch) -> str:
        return self.read(url, body, content_type=fetch.content_type, now=fetch.at).text

    def _done(self, page: CollectedPage, change: str, fetch: Fetch) -> None:
        """End the lease. The page waits for its next visit, unless it is away."""
        due = self._of.due_after(page, change, fetch.at)
        _, text = self._before.pop(page.url, (None, None))
        self._of.shared.attach(self._of.collection[page.row], text)
        key = self._of.key_of(page)
        if due < inf:
            self._frontier.done(key, fetch.rests_from, fetch.seconds, refetch_at=due, score=score_of(due))
        else:
            self._frontier.done(key, fetch.rests_from, fetch.seconds)
            self._of.left()
        self._of.visit_ended(fetch.at)


def _change(page: CollectedPage, visit: Visit) -> PageChange:
    return PageChange(
        visit.url,
        visit.change,
        visit.at,
        since=page.at,
        number=visit.number,
        version=visit.version,
        title=visit.title,
        relevance=visit.relevance or page.weight,
        novelty=visit.novelty,
        target=visit.redirect,
    )
