"""The crawl history: one line per finished fetch (paper 000 section 2.2), in the order of storing; and the set of its URLs.

A page that is visited several times has one line per visit. No line is ever rewritten.

The history is the commit record of the crawl folder: a page counts if the history has its line. Page file, item and links
are written before that line, and are dropped on opening if the line is missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from secrets import randbits

from xxhash import xxh3_128_digest

from crawlproject.records import GONE, LISTINGS, MOVED, NOT_STORED, Visit
from crawlproject.storage.append_log import AppendLog, TailPosition, read_lines, unexpected

RECENT = 100  # pages in the moving average (000 section 4.2)

_SIZE = 16  # bytes of a digest
_TABLES = 256  # of a set, by the first byte
_FIRST = 32  # initial slots of a table
_EMPTY = bytes(_SIZE)


class History:
    """``history.jsonl``, with running totals of the crawl.

    Raises ``BadCrawlDir`` for a damaged line, ``StorageFailed`` when the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._log = AppendLog(path)
        self._path = path
        self._urls = DigestSet()
        self._of_others = DigestSet()  # pages whose first visit was by another worker
        self._recent: deque[float] = deque(maxlen=RECENT)
        self.pages = 0
        self.errors = 0
        self.links = 0  # links of pages, as in the link log
        self.last_source = ""  # the last page in that log
        self.items = 0  # as in the item log, without the items that withdraw pages that the crawl retired
        self.last_item: tuple[str, float] | None = None  # URL and time of the last of these
        self.revisits = 0  # visits after the first; the other numbers are of first visits
        self.last_url = ""
        self.seeds_led_to: set[str] = set()  # targets of redirected seeds, in a resumed crawl
        for place, line in enumerate(read_lines(path), start=1):
            try:
                self._count(
                    str(line["url"]),
                    float(line["at"]),
                    line["md5"],
                    float(line["relevance"]),
                    line["error"],
                    line.get("links", 0),
                    int(line.get("number", 1)),
                    line.get("change", ""),
                )
                if line["redirect"] and not line["depth"]:
                    self.seeds_led_to.add(str(line["redirect"]))
            except (KeyError, TypeError, ValueError) as damage:
                raise unexpected(path, place, damage) from damage

    def append(self, visit: Visit) -> None:
        """Write the line of a fetch. Raises ``StorageFailed``."""
        self._log.append(visit)
        self._count(
            visit.url, visit.at, visit.md5, visit.relevance, visit.error, visit.links, visit.number, visit.change
        )

    def recent_relevance(self) -> float:
        """Mean relevance of the last ``RECENT`` pages, 0 before the first."""
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def __contains__(self, url: str) -> bool:
        return url in self._urls

    def has_line(self, url: str) -> bool:
        """Whether any visit of a page is in the history, even if another worker made the first one."""
        return url in self._urls or url in self._of_others

    def __len__(self) -> int:
        return len(self._urls)

    def __iter__(self) -> Iterator[str]:
        """The URLs in the order of their first visits, read from the file."""
        return (str(line["url"]) for line in read_lines(self._path) if line.get("number", 1) == 1)

    @property
    def lines(self) -> int:
        """The number of lines: first visits and further ones."""
        return len(self._urls) + self.revisits

    def place(self) -> TailPosition:
        """The position after the last line."""
        return self._log.place(self.lines)

    def close(self) -> None:
        try:
            self._log.sync()
        finally:
            self._log.close()

    def _count(
        self, url: str, at: float, md5: str, relevance: float, error: str, links: int, number: int, change: str
    ) -> None:
        self.last_url = url
        if links and (md5 or error in NOT_STORED or number > 1):
            self.links += links
            self.last_source = url
        if md5 or change in (GONE, MOVED):
            self.items += 1
            self.last_item = url, at
        if number > 1:
            self.revisits += 1
            if url not in self._urls:
                self._of_others.add(url)
            return
        self._urls.add(url)
        if md5:
            self.pages += 1
            self._recent.append(relevance)
        elif error and error not in LISTINGS:  # earlier versions wrote the kind of a listing as its error
            self.errors += 1


class DigestSet:
    """256 hash tables of digests with open addressing: 24 to 48 bytes per string, where a ``set`` takes 110.

    Each table doubles separately when it is two thirds full, so that no addition takes long. The probability of any
    collision of digests among 10^12 strings is 10^-15, and their secret seed prevents that anyone makes one up.
    """

    def __init__(self) -> None:
        self._seed = randbits(64)
        self._tables = [bytearray(_SIZE * _FIRST) for _ in range(_TABLES)]
        self._taken = [0] * _TABLES
        self._size = 0

    def add(self, text: str) -> None:
        """Add a string if it is not in the set yet."""
        digest = self._digest(text)
        number = digest[0]
        table = self._tables[number]
        place, inside = _look(table, digest)
        if inside:
            return
        table[place : place + _SIZE] = digest
        self._size += 1
        self._taken[number] += 1
        if 3 * _SIZE * self._taken[number] > 2 * len(table):
            self._tables[number] = _doubled(table)

    def __contains__(self, text: str) -> bool:
        digest = self._digest(text)
        return _look(self._tables[digest[0]], digest)[1]

    def __len__(self) -> int:
        return self._size

    def _digest(self, text: str) -> bytes:
        return xxh3_128_digest(text.encode("utf-8", "surrogatepass"), self._seed)


def _look(table: bytearray, digest: bytes) -> tuple[int, bool]:
    """The place of the digest in the table, or where it would go; and whether it is there."""
    place = int.from_bytes(digest[1:8], "little") * _SIZE % len(table)
    while (held := table[place : place + _SIZE]) != digest:
        if held == _EMPTY:
            return place, False
        place = (place + _SIZE) % len(table)
    return place, True


def _doubled(table: bytearray) -> bytearray:
    larger = bytearray(2 * len(table))
    for place in range(0, len(table), _SIZE):
        held = bytes(table[place : place + _SIZE])
        if held != _EMPTY:
            at, _ = _look(larger, held)
            larger[at : at + _SIZE] = held
    return larger
