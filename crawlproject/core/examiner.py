"""What is this document, besides what it says: a captcha, the duplicate of another page, spam?

Between reading and judging, each inspector looks at the page and may write down what it found. A page whose ``page_type``
is set has no content: it ends like a failed fetch.
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
        """``page``, with ``page_type``, ``duplicate_of``, ``spam`` or ``signs`` filled in where it found something."""
        ...


class Examiner:
    """Asks the inspectors in turn, until one of them finds that the page has no content, or none that could be read.

    The shells of a site whose text scripts make are all alike: they are no duplicates, and teach no rules about its URLs.
    """

    def __init__(self, inspectors: Sequence[Inspector] = ()) -> None:
        self.inspectors = inspectors

    def examine(self, page: Page, fetch: Fetch) -> Page:
        """The page with everything that was found."""
        for inspector in self.inspectors:
            page = inspector.inspect(page, fetch)
            if page.page_type or page.needs_browser:
                break
        return page


def honest(page: Page) -> Page:
    """The page as an ordering sees it: what looks like spam is worth less, and so is what it says about its links."""
    if not page.spam:
        return page
    trust = 1.0 - page.spam
    links = tuple(with_context_score(link, link.context_score * trust) for link in page.links)
    return replace(page, relevance=page.relevance * trust, links=links)
