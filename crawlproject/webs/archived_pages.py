"""Presents a web as an archive from which an ordering learns (``orderings.base.Archive``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from crawlproject.records import Page
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import PageCache, PageSource, location

_REDIRECTS = 5  # as many as for robots.txt


class ArchivedPages:
    """The pages of a web, parsed by ``pages`` and judged by ``judged`` on demand."""

    def __init__(self, pages: PageCache, judged: PageSource, canonicalize: Callable[..., str]) -> None:
        self._pages = pages
        self._judged = judged
        self._canonicalize = canonicalize

    def urls(self) -> Iterator[str]:
        """The canonical URLs of pages and redirects, in alphabetical order."""
        return iter(self._urls)

    def page(self, url: str) -> Page | None:
        """The page at a canonical URL, after at most five redirects, with the final URL."""
        for _ in range(_REDIRECTS + 1):
            reply, page = self._judged.get(url)
            if page is not None or not location(reply):
                return page
            target = canonical_or_none(self._canonicalize, location(reply), url)
            if target is None or target == url:
                return None
            url = target
        return None

    def links(self, url: str) -> Sequence[str] | None:
        """The link targets of the page at a canonical URL, in order; None if it is a redirect or not a page."""
        return self._pages.links(url)

    @cached_property
    def _urls(self) -> list[str]:
        canonical = {canonical_or_none(self._canonicalize, url) for url in self._pages.web.urls()}
        return sorted(url for url in canonical if url and not url.endswith("/robots.txt"))
