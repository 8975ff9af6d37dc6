"""The one item a page becomes on its way through the pipelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crawlproject.records import CrawlUrl, Fetch, Page, Visit
from crawlproject.storage.items import item_fields


@dataclass(init=False, repr=False)
class PageItem:
    """A fetched page.

    Its fields are what feed exports and pipelines behind ours see; they are filled when the page is kept. The attributes
    ``page``, ``body``, ``lease``, ``fetch``, ``robots_tag`` (the header ``X-Robots-Tag``), ``cookies`` (those of ``Set-Cookie``)
    and ``visit`` are no fields: they are for the pipelines of the project.
    """

    url: str = ""
    title: str = ""
    text: str = ""
    text_main: str = ""
    language: str = ""
    relevance: float = 0.0
    score: float = 0.0
    depth: int = 0
    parent: str | None = None
    anchor: str = ""
    context_score: float = 0.0
    status: int = 0
    at: float = 0.0
    md5: str = ""
    published: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    duplicate_of: str = ""
    spam: float = 0.0
    digest: str = ""
    content_type: str = ""
    rendered: bool = False
    topics: Mapping[str, float] = field(default_factory=dict)
    version: int = 1
    state: str = ""

    def __init__(
        self, page: Page, body: bytes, lease: CrawlUrl, fetch: Fetch, robots_tag: str = "", cookies: Sequence[str] = ()
    ) -> None:
        self.page = page
        self.body = body
        self.lease = lease
        self.fetch = fetch
        self.robots_tag = robots_tag
        self.cookies = cookies
        self.visit: Visit | None = None
        self.parts = {}
        self.topics = {}

    def __repr__(self) -> str:
        """Short: Scrapy writes an item to the log when a pipeline drops it or fails on it."""
        return f"PageItem({self.page.url!r})"

    def publish(self, visit: Visit) -> None:
        """Fill the fields."""
        self.visit = visit
        for name, value in item_fields(self.page, visit).items():
            setattr(self, name, value)
