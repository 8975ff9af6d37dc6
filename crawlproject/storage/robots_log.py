"""``robots.jsonl``: every robots.txt that a crawl fetched, so that its rules can be applied again later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crawlproject.storage.append_log import AppendLog, read_lines, unexpected
from crawlproject.storage.warc.exchange import Exchange

NAME = "robots.jsonl"
MAX_BODY = 512_000  # bytes recorded: the least that a parser must read (RFC 9309 section 2.5)


class RobotsLog:
    """Writes lines ``{"url", "status", "at", "content_type", "location", "body"}``, with the body decoded as ISO 8859-1.

    The file is created with its first line. Raises ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log: AppendLog | None = None

    def begin(self) -> None:
        """Create the file now."""
        self._log = self._log or AppendLog(self._path)

    def append(self, url: str, status: int, at: float, *, content_type: str, location: str, body: bytes) -> None:
        """Record a decompressed response. ``content_type`` and ``location`` are its headers."""
        self._log = self._log or AppendLog(self._path)
        said = {"content_type": content_type, "location": location, "body": body[:MAX_BODY].decode("latin-1")}
        self._log.append({"url": url, "status": status, "at": at, **said})

    def close(self) -> None:
        if self._log:
            self._log.close()
            self._log = None


def read_robots(folder: Path) -> Iterator[Exchange]:
    """The recorded responses, in order. Raises ``BadCrawlDir``."""
    path = folder / NAME
    for number, line in enumerate(read_lines(path), start=1):
        try:
            headers = ((b"Content-Type", line["content_type"]), (b"Location", line["location"]))
            known = tuple((name, value.encode("latin-1", "replace")) for name, value in headers if value)
            yield Exchange(
                line["url"], int(line["status"]), known, line["body"].encode("latin-1", "replace"), line["at"]
            )
        except (AttributeError, KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None
