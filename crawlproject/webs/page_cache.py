"""Pages of a virtual web, read and judged once for many rehearsals."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from crawlproject.options import Options
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.base import Reply, Web, media_type
from crawlproject.webs.page_store import PageStore

BYTES_PER_SECOND = 1_000_000.0  # latency model: what the virtual line carries
ROUND_TRIP = 0.1  # seconds: latency model, one request and the first byte of its reply


def latency(reply: Reply) -> float:
    """Seconds a fetch takes on the virtual clock: what the web says, else a round trip and the transfer."""
    return reply.seconds or ROUND_TRIP + len(reply.body) / BYTES_PER_SECOND


class PageCache:
    """Replies of a web, read: page, redirect target, or neither. Bounded; the least recently used page goes first.

    The text of a page is dropped (its terms stay), since no ordering looks at it. With a ``store``, pages that were
    read before are loaded from there, and new ones are put there.
    """

    def __init__(
        self, web: Web, reader: Reader, options: Options, *, size: int = 25_000, store: PageStore | None = None
    ) -> None:
        self.web = web
        self.reader = reader
        self._options = options
        self._size = size
        self._store = store
        self._read: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """The reply without its body, and the page in it; relevance and scores are 0.

        The reply to a page has no headers: they have been read.
        """
        found = self._read.get(url)
        if found is not None:
            self._read.move_to_end(url)
            return found
        found = self._read[url] = (self._store and self._store.get(url)) or self._asked(url)
        if len(self._read) > self._size:
            self._read.popitem(last=False)
        return found

    def links(self, url: str) -> Sequence[str] | None:
        """What the links of a page lead to, in order, at the least cost; None for what is no page."""
        if url not in self._read and self._store is not None:
            targets = self._store.targets(url)
            if targets is not None:
                return targets
        _, page = self.get(url)
        return None if page is None else [link.url for link in page.links]

    def all_links(self, canonicalize: Callable[..., str]) -> Iterator[tuple[str, Sequence[str]]]:
        """Every stored page of the web, by its canonical URL, with what its links lead to."""
        for name in self.web.urls():
            url = canonical_or_none(canonicalize, name)
            links = None if url is None else self.links(url)
            if url is not None and links is not None:
                yield url, links

    def flush(self) -> None:
        """Let other processes see what was read."""
        if self._store is not None:
            self._store.flush()

    def close(self) -> None:
        """Let the store go."""
        if self._store is not None:
            self._store.close()

    def _asked(self, url: str) -> tuple[Reply, Page | None]:
        reply = self.web.get(url)
        seconds = latency(reply)
        if not wanted(reply, self._options.page_content_types):
            return Reply(reply.url, reply.status, reply.headers, b"", seconds, reply.error), None
        page = self._page(url, reply)
        empty = Reply(reply.url, reply.status, {}, b"", seconds)
        if self._store is not None:
            self._store.put(url, empty, page)
        return empty, page

    def _page(self, url: str, reply: Reply) -> Page:
        content_type = reply.headers.get("content-type", "")
        robots_tag = reply.headers.get("x-robots-tag", "")
        body = reply.body[: self._options.page_max_bytes]
        return replace(self.reader.read(url, body, content_type=content_type, robots_tag=robots_tag), text="")


class JudgedPages:
    """The pages of a ``PageCache`` as one topic sees them: relevance and context scores filled in."""

    def __init__(self, pages: PageCache, judge: TopicJudge, size: int = 25_000) -> None:
        self._pages = pages
        self._judge = judge
        self._size = size
        self._judged: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """Reply and judged page."""
        found = self._judged.get(url)
        if found is None:
            reply, page = self._pages.get(url)
            found = self._judged[url] = reply, self._judge.judge(page) if page else None
            if len(self._judged) > self._size:
                self._judged.popitem(last=False)
        return found


def location(reply: Reply) -> str:
    """Where a redirect points to; empty for a reply that is none."""
    return reply.headers.get("location", "") if 300 <= reply.status < 400 else ""


def wanted(reply: Reply, content_types: Iterable[str]) -> bool:
    """Whether a reply is a page: a 2xx status and, when it has a content type, one of ``content_types``."""
    named = media_type(reply.headers.get("content-type", ""))
    return 200 <= reply.status < 300 and (not named or named in content_types)
