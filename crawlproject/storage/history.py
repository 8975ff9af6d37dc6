"""The crawl history: one line per finished fetch (paper 000 section 2.2), in the order of storing.

A page that is visited again has a line a visit; no line is ever rewritten.

The history is the commit record of the crawl folder: a page counts if the history has its line. Page file, item and links
are written before that line, and are dropped on opening if the line is missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from crawlproject.records import LISTINGS, NOT_STORED, Visit
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected
from crawlproject.storage.digest_set import DigestSet

RECENT = 100  # pages in the moving average (000 section 4.2)


class History:
    """``history.jsonl``, with running figures of the crawl.

    Raises ``BadCrawlDir`` for a damaged line, ``StorageFailed`` when the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._log = AppendLog(path)
        self._path = path
        self._urls = DigestSet()
        self._of_others = DigestSet()  # pages that another worker has visited first
        self._recent: deque[float] = deque(maxlen=RECENT)
        self.pages = 0
        self.errors = 0
        self.links = 0  # of pages, as in the link log
        self.revisits = 0  # further visits of pages; the other figures are of first visits
        self.last_url = ""
        self.seeds_led_to: set[str] = set()  # targets of redirected seeds, in a resumed crawl
        for place, line in enumerate(read_lines(path), start=1):
            try:
                self._count(
                    str(line["url"]),
                    line["md5"],
                    float(line["relevance"]),
                    line["error"],
                    line.get("links", 0),
                    int(line.get("number", 1)),
                )
                if line["redirect"] and not line["depth"]:
                    self.seeds_led_to.add(str(line["redirect"]))
            except (KeyError, TypeError, ValueError) as damage:
                raise unexpected(path, place, damage) from damage

    def append(self, visit: Visit) -> None:
        """Write the line of a fetch. Raises ``StorageFailed``."""
        self._log.append(visit)
        self._count(visit.url, visit.md5, visit.relevance, visit.error, visit.links, visit.number)

    def recent_relevance(self) -> float:
        """Mean relevance of the last ``RECENT`` pages, 0 before the first."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def __contains__(self, url: str) -> bool:
        return url in self._urls

    def has_line(self, url: str) -> bool:
        """Whether any visit of a page is in it, also where another worker made the first."""
        return url in self._urls or url in self._of_others

    def __len__(self) -> int:
        return len(self._urls)

    def __iter__(self) -> Iterator[str]:
        """The URLs in the order of their first visits, read from the file."""
        return (str(line["url"]) for line in read_lines(self._path) if line.get("number", 1) == 1)

    @property
    def lines(self) -> int:
        """First visits and further ones."""
        return len(self._urls) + self.revisits

    def close(self) -> None:
        self._log.sync()
        self._log.close()

    def _count(self, url: str, md5: str, relevance: float, error: str, links: int, number: int) -> None:
        self.last_url = url
        if md5 or error in NOT_STORED:
            self.links += links
        if number > 1:
            self.revisits += 1
            if url not in self._urls:
                self._of_others.add(url)
            return
        self._urls.add(url)
        if md5:
            self.pages += 1
            self._recent.append(relevance)
        elif error and error not in LISTINGS:  # as earlier versions wrote
            self.errors += 1
