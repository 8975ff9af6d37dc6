"""Reports what a crawl finds, what changes, and when it ends to a command or a web service (``CRAWL_CHANGE_HOOK``)."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import asdict
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Full, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from scrapy import signals
from scrapy.exceptions import NotConfigured
from twisted.internet.threads import deferToThread

from crawlproject.adapters.running import crawl_of
from crawlproject.errors import BadSetting
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.part import RevisitPart

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawlproject.adapters.feeds import PageItem
    from crawlproject.core.crawl import Crawl
    from crawlproject.storage.logs import PageChange

logger = logging.getLogger(__name__)

WAITING = 1_000  # messages that wait at most; further ones are dropped
PATIENCE = 30.0  # seconds for a call, and for the waiting messages when the crawl ends
NAME = "CRAWL_CHANGE_HOOK"

_TOLD = ("url", "title", "relevance", "at", "md5")  # fields of a page

Message = dict[str, Any]


class Caller:
    """Calls ``hook`` with one message after the other, in its own thread. The crawl never waits for it.

    A URL receives each message as the body of a POST request, a command on its standard input. Only the first failure is logged.
    """

    def __init__(self, hook: str, *, waiting: int = WAITING, patience: float = PATIENCE) -> None:
        self.failed = self.dropped = 0
        self._hook = hook
        self._patience = patience
        self._queue: Queue[Message | None] = Queue(waiting)
        is_url = hook.startswith(("http://", "https://"))
        self._call: Callable[[bytes], object] = self._post if is_url else self._run
        self._thread = Thread(target=self._work, name="change-hook", daemon=True)
        self._thread.start()

    def tell(self, message: Message) -> None:
        try:
            self._queue.put_nowait(message)
        except Full:
            self.dropped += 1

    def close(self) -> None:
        """Wait until all messages are sent, for at most ``patience`` seconds, or twice as long if the queue is full."""
        try:
            self._queue.put(None, timeout=self._patience)
        except Full:
            return
        self._thread.join(self._patience)

    def _work(self) -> None:
        while (message := self._queue.get()) is not None:
            try:
                self._call(json.dumps(message).encode())
            except (OSError, ValueError, HTTPException, subprocess.SubprocessError) as failure:
                self.failed += 1
                if self.failed == 1:
                    logger.warning("%s does not work: %s. Further failures are only counted.", NAME, failure)

    def _post(self, body: bytes) -> None:
        """Send one request to the URL of the hook; a redirect is a failure."""
        parts = urlsplit(self._hook)
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=self._patience)
        try:
            path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            status = connection.getresponse().status
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise OSError(f"the server answered {status}")

    def _run(self, body: bytes) -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(
            shlex.split(self._hook), input=body + b"\n", stdout=quiet, stderr=quiet, timeout=self._patience, check=True
        )


class ChangeHook:
    """Sends one message for each change of a page of at least ``PAGE_RELEVANT`` (``event``: ``change``, with the fields of
    ``changes.jsonl``), one for each ``CRAWL_HOOK_PAGES`` new pages of this kind (``pages``, with the pages), and one when the
    crawl or the round ends (``end``, with its totals and what its visits showed).
    """

    def __init__(self, crawler: Crawler, hook: str) -> None:
        self.crawler = crawler
        self._hook = hook
        self._caller: Caller | None = None
        self._found: list[Message] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        hook = crawler.settings.get(NAME)
        if not hook:
            raise NotConfigured
        _check(hook, by_topic=crawler.settings.getpriority(NAME) == _BY_TOPIC)
        extension = cls(crawler, hook)
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        crawler.signals.connect(extension.spider_closed, signals.spider_closed)
        return extension

    def spider_opened(self) -> None:
        crawl = crawl_of(self.crawler)
        if crawl is None:
            return
        self._caller = caller = Caller(self._hook)
        least = crawl.options.page_relevant
        if crawl.options.of(RevisitOptions).crawl_hook_pages:
            self.crawler.signals.connect(self.item_scraped, signals.item_scraped)
        part = crawl.part(RevisitPart)
        if part is None:
            return

        def tell(change: PageChange) -> None:
            if change.relevance >= least:
                caller.tell({"event": "change", "topic": crawl.topic.name, **asdict(change)})

        part.revisits.listeners.append(tell)

    def item_scraped(self, item: PageItem) -> None:
        """Collect new relevant pages that are no copies; report them when there are enough."""
        crawl = crawl_of(self.crawler)
        if crawl is None or self._caller is None or item.version > 1 or item.duplicate_of:
            return
        if item.relevance >= crawl.options.page_relevant:
            self._found.append({name: getattr(item, name) for name in _TOLD})
        if len(self._found) >= crawl.options.of(RevisitOptions).crawl_hook_pages:
            self._tell_pages(crawl)

    def _tell_pages(self, crawl: Crawl) -> None:
        if self._caller is not None and self._found:
            self._caller.tell({"event": "pages", "topic": crawl.topic.name, "pages": self._found})
            self._found = []

    def spider_closed(self, reason: str) -> Deferred[None] | None:
        crawl = crawl_of(self.crawler)
        if self._caller is None or crawl is None:
            return None
        self._tell_pages(crawl)
        end: Message = {"event": "end", "topic": crawl.topic.name, "reason": reason, "folder": str(crawl.folder.path)}
        end |= {"pages": crawl.stats.pages, "fetches": crawl.stats.fetches}
        part = crawl.part(RevisitPart)
        if part is not None:
            tally = part.revisits.tally
            shown = {name.partition("/")[2]: count for name, count in tally.counters().items()}
            end |= {"visits": tally.visits, **shown, "next_due": tally.next_due}
        self._caller.tell(end)
        return deferToThread(self._end, self._caller)

    def _end(self, caller: Caller) -> None:
        caller.close()
        if caller.failed or caller.dropped:
            logger.warning("%s: %s calls failed, %s were dropped.", NAME, caller.failed, caller.dropped)


_BY_TOPIC = 30  # priority "spider": topic files may come from strangers


def _check(hook: str, *, by_topic: bool) -> None:
    """Raise ``BadSetting`` for a hook that cannot be called, or that a topic file sets."""
    if by_topic:
        raise BadSetting(
            f"setting {NAME}", "a topic file must not set it: it runs a command; use -s or the project's settings"
        )
    try:
        words = shlex.split(hook)
    except ValueError as error:
        raise BadSetting(f"setting {NAME}", f"expected a command or an http(s) URL, but {error}") from None
    if not words:
        raise BadSetting(f"setting {NAME}", "expected a command or an http(s) URL")
