"""Hand-made events of finished fetches, as learners see them."""

from __future__ import annotations

from typing import Any

from crawlproject.records import FetchEvent, Page, Visit


def page_event(page: Page, at: float = 0.0, **visit: Any) -> FetchEvent:
    """A page that was fetched and stored."""
    found = {"relevance": page.relevance, "spam": page.spam, "duplicate_of": page.duplicate_of, "signs": page.signs}
    line = Visit(page.url, 200, at, **{"md5": "x", "depth": page.depth, **found, **visit})
    return FetchEvent(line, [link.url for link in page.links], lambda: page)


def error_event(url: str, error: str, at: float = 0.0, status: int = 200) -> FetchEvent:
    """A fetch that returned no page with content."""
    return FetchEvent(Visit(url, status, at, error=error))


def redirect_event(url: str, target: str = "http://elsewhere.example/", at: float = 0.0, depth: int = 1) -> FetchEvent:
    """A fetch that was answered with a redirect."""
    return FetchEvent(Visit(url, 302, at, depth=depth, redirect=target))
