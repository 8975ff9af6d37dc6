"""Feeds that survive ``kill -9``: items are handed to the operating system before their requests are done.

Scrapy writes feeds through buffers that it empties when the crawl ends. So the scheduler flushes them before it ends a
request. A kill can still leave half a line: in a feed of JSON lines that is appended to, it is cut off at the next start,
and the item comes again with its request. Other formats cannot be appended to safely, and feeds that are uploaded at the
end are lost in a kill.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from w3lib.url import file_uri_to_path

from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.crawl_files import refuse_crawl_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler
    from scrapy.extensions.feedexport import FeedSlot
    from scrapy.settings import BaseSettings

_LINES = ("jsonlines", "jsonl", "jl")


def refuse_crawl_files(settings: BaseSettings, crawl_dir: Path) -> None:
    """Raise ``BadInput`` when ``-o``, ``-O`` or ``FEEDS`` names a file of a crawl, such as this one in ``crawl_dir``."""
    for uri in map(str, settings.getdict("FEEDS")):
        if uri.startswith("file:") or "://" not in uri:
            refuse_crawl_file(Path(file_uri_to_path(uri)), crawl_dir=crawl_dir)


class SafeFeeds:
    """The feeds of a crawl into local files."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def mend(self) -> None:
        """Cut half a line off the feeds that are appended to. Raises ``StorageFailed``."""
        for slot, storage in self._slots():
            path = Path(storage.path)
            if slot.format in _LINES and storage.write_mode == "ab" and path.exists():
                AppendLog(path).close()

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        for slot, _ in self._slots():
            if slot.file is not None and not slot.file.closed:
                slot.file.flush()

    def _slots(self) -> Iterator[tuple[FeedSlot, FileFeedStorage]]:
        exporter = self._crawler.get_extension(FeedExporter)
        for slot in exporter.slots if exporter else ():
            if isinstance(slot.storage, FileFeedStorage):
                yield slot, slot.storage
