"""What a crawler fetched, as the server saw it: the same account for every crawler, whatever its own log says."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.options import Options
from crawlproject.pages.html.encoding import is_page
from crawlproject.records import Reply, Topic, Visit
from crawlproject.storage.history import History
from crawlproject.storage.manifest import Manifest
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer
from crawlproject.webs.base import Web
from crawlproject.webs.page_cache import location


class WatchedWeb:
    """Wraps ``web`` and notes what is requested, until ``limit`` different pages were; then it calls ``full``, once.

    A page is what the project would store: a 2xx reply of a wanted content type, other than robots.txt. Pages count by
    canonical URL, so that a second spelling of a page counts neither as a hit nor as a fetch. Replies continue after the limit.
    """

    def __init__(self, web: Web, options: Options, limit: int, full: Callable[[], None]) -> None:
        self.visits: list[Visit] = []
        self.pages: set[str] = set()
        self._web = web
        self._canonicalize = make_canonicalizer(options)
        self._content_types: Collection[str] = options.page_content_types
        self._limit = limit
        self._full = full

    @property
    def warnings(self) -> Sequence[str]:
        return self._web.warnings

    def get(self, url: str) -> Reply:
        """Return the reply of the web and note the request."""
        reply = self._web.get(url)
        if len(self.pages) < self._limit and not url.endswith("/robots.txt"):
            self._note(url, reply)
            if len(self.pages) == self._limit:
                self._full()
        return reply

    def urls(self) -> Iterator[str]:
        return self._web.urls()

    def __contains__(self, url: str) -> bool:
        return url in self._web

    def close(self) -> None:
        """Do nothing: the wrapped web stays open for the next crawler."""

    def _note(self, url: str, reply: Reply) -> None:
        name = canonical_or_none(self._canonicalize, url)
        if name is None:
            return
        if is_page(reply, self._content_types):
            if name not in self.pages:
                self.pages.add(name)
                md5 = hashlib.md5(reply.body, usedforsecurity=False).hexdigest()
                self.visits.append(Visit(name, reply.status, time.time(), md5=md5, size=len(reply.body)))
        else:
            target = canonical_or_none(self._canonicalize, location(reply), name) if location(reply) else None
            self.visits.append(Visit(name, reply.status, time.time(), redirect=target or ""))


def write_run(folder: Path, topic: Topic, crawler: str, web: WatchedWeb, options: Options, reason: str) -> None:
    """Leave a crawl folder that ``scrapy compare`` reads: ``crawl.json`` and ``history.jsonl``.

    ``crawler`` takes the place of the ordering, ``reason`` says why the crawl ended.
    """
    folder.mkdir(parents=True)
    settings: Mapping[str, Any] = {}
    manifest = Manifest(folder, topic_in_canonical_urls(topic, make_canonicalizer(options)), crawler, {})
    manifest.begin(settings, "", web.visits[0].at if web.visits else time.time())
    history = History(folder / "history.jsonl")
    for visit in web.visits:
        history.append(visit)
    history.close()
    manifest.finish(reason, time.time(), {"pages": len(web.pages)})
