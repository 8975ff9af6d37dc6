"""The item that a page becomes in the pipelines, and feeds of items that survive ``kill -9``.

Scrapy writes feeds through buffers that it flushes when the crawl ends. So the scheduler flushes them before it ends the lease
of a request. A kill can still leave half a line: in a feed of JSON lines that is appended to, it is cut off at the next start,
and the item comes again with its request. Other formats cannot be appended to safely, and feeds that are uploaded at the
end are lost in a kill.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage, StdoutFeedStorage
from w3lib.url import file_uri_to_path

from crawlproject.adapters.running import crawl_of, output_failed
from crawlproject.errors import BadInput
from crawlproject.records import CrawlUrl, Fetch, Page, Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.crawl_files import refuse_crawl_file
from crawlproject.storage.page_files import item_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_LINES = ("jsonlines", "jsonl", "jl")
_PARAMETER = "%("  # begins a parameter that is filled in when the crawl has begun


def refuse_feeds(settings: BaseSettings, crawl_dir: Path) -> None:
    """Raise ``BadInput`` if ``-o``, ``-O`` or ``FEEDS`` names a file of a crawl (in ``crawl_dir`` or another one), or a file that
    cannot be written.
    """
    for uri in map(str, settings.getdict("FEEDS")):
        if urlsplit(uri).scheme in ("", "file"):
            path = Path(file_uri_to_path(uri) if uri.startswith("file:") else uri)
            refuse_crawl_file(path, crawl_dir=crawl_dir)
            if _PARAMETER not in uri:
                try:
                    _try_to_open(path)
                except OSError as failure:
                    raise BadInput(f"feed {uri}", f"cannot be written: {failure.strerror}") from None


def _try_to_open(path: Path) -> None:
    """Open ``path`` for writing, as Scrapy will for the first item. Leaves no new file."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("xb").close()
        path.unlink()
        return
    if not (path.is_fifo() or path.is_socket()):  # the reader of a pipe would see its end
        path.open("ab").close()


class SafeFeeds:
    """The feeds of a crawl into local files."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def mend(self) -> None:
        """Cut a half-written last line off the feeds that are appended to. Raises ``StorageFailed``."""
        for slot, storage in self._slots():
            _cut_half_line(storage, slot.feed_options)

    def flush(self) -> None:
        """Flush the buffers of all feeds to the operating system."""
        for slot, _ in self._slots():
            if slot.file is not None and not slot.file.closed:
                slot.file.flush()

    def _slots(self) -> Iterator[tuple[FeedSlot, FileFeedStorage]]:
        exporter = self._crawler.get_extension(FeedExporter)
        for slot in exporter.slots if exporter else ():
            if isinstance(slot.storage, FileFeedStorage):
                yield slot, slot.storage


def _cut_half_line(storage: FileFeedStorage, options: Mapping[str, Any]) -> None:
    path = Path(storage.path)
    is_text = options.get("format") in _LINES and not options.get("postprocessing")  # a compressed feed has no lines
    if is_text and storage.write_mode == "ab" and path.is_file():
        AppendLog(path).close()


class FileStorage(FileFeedStorage):
    """A feed in a file. When the file cannot be opened (such as one whose name has a parameter) or written (such as on a full
    disk), the crawl ends with one message. In a resumed crawl, each file of a feed in batches is mended when it is opened.
    """

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri, feed_options=feed_options)
        self._options = feed_options or {}

    def open(self, spider: Spider) -> IO[bytes]:
        def failed(failure: OSError) -> None:
            logger.error("Cannot write the feed %s (%s): the crawl stops.", self.path, failure.strerror or failure)
            output_failed(spider.crawler)

        crawl = crawl_of(spider.crawler)
        try:
            if crawl is not None and crawl.folder.manifest.resumed:
                _cut_half_line(self, self._options)
            file = cast("io.BufferedWriter", super().open(spider))
        except OSError as failure:
            failed(failure)
            return Path(os.devnull).open("wb")
        return ItemFile(file.detach(), failed)


class ItemFile(io.BufferedWriter):
    """A file that reports its first failure to ``failed``, and discards all further output."""

    def __init__(self, raw: io.RawIOBase, failed: Callable[[OSError], None]) -> None:
        super().__init__(raw)
        self._failed: Callable[[OSError], None] | None = failed

    def write(self, data: Any) -> int:
        if self._failed is not None:
            try:
                super().write(data)
            except OSError as failure:
                self._tell(failure)
        return len(data)

    def flush(self) -> None:
        """Flush; ``close`` also calls this."""
        if self._failed is not None:
            try:
                super().flush()
            except OSError as failure:
                self._tell(failure)

    def _tell(self, failure: OSError) -> None:
        tell, self._failed = self._failed, None
        if tell is not None:
            tell(failure)


class PipeStorage(StdoutFeedStorage):
    """A feed on standard output (``-o -:jsonl``). When its reader exits, as ``head`` does, the crawl ends with one message."""

    _crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler, uri: str, *, feed_options: dict[str, Any] | None = None) -> Self:
        storage = cls(uri, feed_options=feed_options)
        storage._crawler = crawler
        return storage

    def open(self, spider: Spider) -> IO[bytes]:
        return cast("IO[bytes]", Pipe(self._stdout, self._failed))

    def _failed(self, failure: OSError) -> None:
        what = "is closed" if isinstance(failure, BrokenPipeError) else f"cannot be written ({failure.strerror})"
        logger.error("Standard output %s: the crawl stops. Run the same command to resume.", what)
        output_failed(self._crawler)


class Pipe(io.BufferedIOBase):
    """Passes output on at once. It reports the first failure to ``failed``, and discards all further output."""

    def __init__(self, stream: IO[bytes], failed: Callable[[OSError], None]) -> None:
        self._stream = stream
        self._failed = failed

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            self._stream.write(data)
            self._stream.flush()
        except OSError as failure:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # discards the rest of the buffer
            self._failed(failure)
        return len(data)


@dataclass(init=False, repr=False)
class PageItem:
    """A fetched page.

    Feed exports, and pipelines after ours, see its fields, which are filled when the page is kept. The attributes
    ``page``, ``body``, ``lease``, ``fetch``, ``robots_tag`` (the header ``X-Robots-Tag``), ``cookies`` (of ``Set-Cookie``),
    ``logged_in`` (whether a login was sent), ``visit`` and ``is_committed`` are not fields: they are for the pipelines of the
    project.
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
    author: str = ""
    license: str = ""
    reserved: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    duplicate_of: str = ""
    replaces: str = ""
    spam: float = 0.0
    digest: str = ""
    content_type: str = ""
    rendered: bool = False
    topics: Mapping[str, float] = field(default_factory=dict)
    version: int = 1
    state: str = ""

    def __init__(
        self,
        page: Page,
        body: bytes,
        lease: CrawlUrl,
        fetch: Fetch,
        robots_tag: str = "",
        cookies: Sequence[bytes] = (),
        *,
        logged_in: bool = False,
    ) -> None:
        self.page = page
        self.body = body
        self.lease = lease
        self.fetch = fetch
        self.robots_tag = robots_tag
        self.cookies = cookies
        self.logged_in = logged_in
        self.visit: Visit | None = None
        self.is_committed = False  # whether its line is in the history
        self.parts = {}
        self.topics = {}

    def __repr__(self) -> str:
        """A short form, because Scrapy logs an item when a pipeline drops it or fails on it."""
        return f"PageItem({self.page.url!r})"

    def publish(self, visit: Visit) -> None:
        """Fill the fields from the page and its history line."""
        self.visit = visit
        for name, value in item_fields(self.page, visit).items():
            setattr(self, name, value)
