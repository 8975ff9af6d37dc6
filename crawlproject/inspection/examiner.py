"""What is this document, besides what it says: a page of the topic, a wall, the copy of another, spam?

Between reading and judging, each inspector looks at the page and may write down what it found. A page whose ``page_type``
is set is no content: it ends like a failed fetch, and nobody learns from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from crawlproject.pages.text.relevance import with_context_score
from crawlproject.records import Fetch, Page


class Inspector(Protocol):
    """One thing to look for."""

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        """``page``, with ``page_type``, ``duplicate_of``, ``spam`` or ``signs`` filled in where there is something to tell."""
        ...

    def kept(self, page: Page) -> None:
        """``page`` has its line in the history: what is remembered of it may be remembered for good."""
        ...


class Learner(Protocol):
    """Learns from what was found. All of it stands in the history, from which a resumed crawl learns it again."""

    def learn(self, page: Page) -> None:
        """``page`` is in the history, kept or dismissed for its nature. Only its URL and what was found may be looked at."""
        ...

    def failed(self, url: str) -> None:
        """The fetch of ``url`` brought no page, or one that was dismissed."""
        ...


class Examiner:
    """Asks the inspectors in turn, until one of them says that the page is no content, and tells the learners."""

    def __init__(self, inspectors: Sequence[Inspector] = (), learners: Sequence[Learner] = ()) -> None:
        self.inspectors = inspectors
        self.learners = learners

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """The page with everything that was found."""
        for inspector in self.inspectors:
            page = inspector.inspect(page, fetch)
            if page.page_type:
                break
        return page

    def kept(self, page: Page) -> None:
        """The page is in the history."""
        for inspector in self.inspectors:
            inspector.kept(page)
        for learner in self.learners:
            learner.learn(page)

    def page_discarded(self, page: Page) -> None:
        """The page is no content, and its nature is in the history."""
        for learner in self.learners:
            learner.learn(page)

    def failed(self, url: str) -> None:
        """The fetch of ``url`` is in the history, without a page."""
        for learner in self.learners:
            learner.failed(url)


def honest(page: Page) -> Page:
    """The page as an ordering sees it: what looks like spam is worth less, and so is what it says about its links."""
    if not page.spam:
        return page
    trust = 1.0 - page.spam
    links = tuple(with_context_score(link, link.context_score * trust) for link in page.links)
    return replace(page, relevance=page.relevance * trust, links=links)
