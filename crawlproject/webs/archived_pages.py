"""A web as an archive that an ordering learns from (``orderings.base.Archive``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from crawlproject.records import Page
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.page_cache import JudgedPages, PageCache, location

_REDIRECTS = 5  # as many as a fetch of robots.txt follows


class ArchivedPages:
    """The pages of a web as ``pages`` reads and ``judged`` judges them, each when it is asked for."""

    def __init__(self, pages: PageCache, judged: JudgedPages, canonicalize: Callable[..., str]) -> None:
        self._pages = pages
        self._judged = judged
        self._canonicalize = canonicalize

    def urls(self) -> Iterator[str]:
        """The canonical URLs of pages and redirects, in alphabetical order."""
        return iter(self._urls)

    def page(self, url: str) -> Page | None:
        """The page at a canonical URL, at most five redirects away; its own URL is the one at the end of them."""
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
        """What the links of the page at a canonical URL lead to, in order; None for a redirect and for what is no page."""
        return self._pages.links(url)

    @cached_property
    def _urls(self) -> list[str]:
        canonical = {canonical_or_none(self._canonicalize, url) for url in self._pages.web.urls()}
        return sorted(url for url in canonical if url and not url.endswith("/robots.txt"))
