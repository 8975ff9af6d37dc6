"""PDF, DOCX and EPUB as pages, if ``PAGE_CONTENT_TYPES`` names them. ``middleware.py`` opens the documents of a live crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from crawlproject.core.part import Part, Setup
from crawlproject.options import Options
from crawlproject.parts.documents.opener import Opener
from crawlproject.parts.documents.options import DocumentOptions
from crawlproject.records import Reply
from crawlproject.webs.base import Web, get_as
from crawlproject.webs.page_cache import latency


class Documents(Part):
    """The part of a crawl that reads documents; ``opener`` belongs to this crawl."""

    name = "documents"

    def __init__(self, opener: Opener) -> None:
        self.opener = opener
        self._counters: Counter[str] = Counter()

    @classmethod
    def make(cls, setup: Setup) -> Documents | None:
        opener = make_opener(setup.options)
        return cls(opener) if opener else None

    @classmethod
    def readable(cls, web: Web, options: Options) -> Web:
        opener = _shared(tuple(options.page_content_types), *_limits(options))
        return OpenedWeb(web, opener) if opener else web

    def count(self, kind: str, reply: Reply) -> None:
        """Count a document of this kind by the outcome in ``reply``."""
        self._counters[reply.unread or f"document/read/{kind}"] += 1

    def counters(self) -> Mapping[str, int]:
        return self._counters

    def close(self, reason: str, *, over: bool) -> None:
        self.opener.close()


class OpenedWeb:
    """``web`` with HTML in place of its documents; the fetch times are those of the original documents."""

    def __init__(self, web: Web, opener: Opener) -> None:
        self._web = web
        self._opener = opener
        self.urls = web.urls
        self.close = web.close

    @property
    def warnings(self) -> Sequence[str]:
        return self._web.warnings

    def get(self, url: str) -> Reply:
        return self._opened(self._web.get(url))

    def get_as(self, url: str, agent: str) -> Reply:
        return self._opened(get_as(self._web, url, agent))

    def __contains__(self, url: str) -> bool:
        return url in self._web

    def _opened(self, reply: Reply) -> Reply:
        if not self._opener.kind(reply.headers.get("content-type", "")):
            return reply
        return self._opener.opened(replace(reply, seconds=latency(reply)))


def make_opener(options: Options) -> Opener:
    longest, most = _limits(options)
    return Opener(options.page_content_types, longest=longest, most=most)


def _limits(options: Options) -> tuple[int, int]:
    return options.of(DocumentOptions).page_document_bytes, options.page_max_bytes


@lru_cache
def _shared(content_types: tuple[str, ...], longest: int, most: int) -> Opener:
    """One opener for all webs of this process; its reader processes end with this process."""
    return Opener(content_types, longest=longest, most=most)
