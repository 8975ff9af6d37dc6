"""Pages of a virtual web, read and judged once for many rehearsals."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from crawlproject.options import Options
from crawlproject.reading import Reader
from crawlproject.records import Page
from crawlproject.text.judge import TopicJudge
from crawlproject.virtualweb.base import Reply, Web

BYTES_PER_SECOND = 1_000_000.0  # latency model: what the virtual line carries
ROUND_TRIP = 0.1  # seconds: latency model, one request and the first byte of its reply


def latency(reply: Reply) -> float:
    """Seconds a fetch takes on the virtual clock: what the web says, else a round trip and the transfer."""
    return reply.seconds or ROUND_TRIP + len(reply.body) / BYTES_PER_SECOND


class PageCache:
    """Replies of a web, read: page, redirect target, or neither. Bounded; the least recently used page goes first.

    The text of a page is dropped (its terms stay), since no ordering looks at it.
    """

    def __init__(self, web: Web, reader: Reader, options: Options, size: int = 25_000) -> None:
        self.web = web
        self.reader = reader
        self._options = options
        self._size = size
        self._read: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """The reply without its body, and the page in it; relevance and scores are 0. The body's length stays known."""
        found = self._read.get(url)
        if found is not None:
            self._read.move_to_end(url)
            return found
        reply = self.web.get(url)
        page = self._page(url, reply) if wanted(reply, self._options.page_content_types) else None
        found = replace(reply, body=b"", seconds=latency(reply)), page
        self._read[url] = found
        if len(self._read) > self._size:
            self._read.popitem(last=False)
        return found

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
    media_type = reply.headers.get("content-type", "").split(";")[0].strip().lower()
    return 200 <= reply.status < 300 and (not media_type or media_type in content_types)
