"""What a frontier on disk knows for good: the files, and the step under way."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_128_digest

from crawlproject.frontier.disk.hash_table import HashTable
from crawlproject.frontier.disk.journal import DiskJournal, Summary
from crawlproject.frontier.disk.url_records import UrlRecords
from crawlproject.frontier.disk.url_table import UrlRow, UrlTable
from crawlproject.frontier.host_queue import queue_of
from crawlproject.records import CrawlUrl

_JOURNAL_BYTES = 32 * 2**20  # from which on a journal is summed up: a second of reading at the next opening
_ORIGINS = 100_000  # whose hosts' numbers are kept in memory
_RELIEF = 256  # steps between two looks at the memory
_PICKS = 100_000
_HOSTS_GAP = 4096  # more hosts than come in the second before a power failure


class DiskStore:
    """The durable part: rows and records of URLs, the numbers of URLs and hosts, the journal.

    Changes are gathered (``rows.changed``, ``new``, ``note``, ...) until ``commit``, which makes them one atomic step. Opening
    does the steps of the journal again; ``readonly``, it only gathers them. Raises ``StorageFailed`` and ``BadCrawlDir``.
    """

    def __init__(self, folder: Path, cache: int, *, readonly: bool = False) -> None:
        self.folder = folder
        self._cache = cache
        self._readonly = readonly
        self._seen = HashTable(folder / "seen", readonly=readonly)
        self._hosts = HashTable(folder / "hosts", readonly=readonly)
        self.rows = UrlTable(folder / "rows", readonly=readonly)
        self.urls = UrlRecords(folder / "urls.jsonl", readonly=readonly)
        self._journal = DiskJournal(folder)
        self._new_urls: dict[bytes, int] = {}
        self._new_hosts: dict[bytes, int] = {}
        self._origins: dict[str, int] = {}
        self._notes: list[list[Any]] = []
        self._steps = 0
        self._known_on = array("I")
        summary = self._journal.summary
        self._seed = summary.seed
        self.urls_known, self.hosts_known = summary.urls, summary.hosts
        self.evicted = summary.evicted
        self.picks = list(summary.picks)
        self.rests = dict(summary.rests)
        self.asks = dict(summary.asks)
        self.later = dict(summary.later)
        self._replay(summary.urls_end)

    # ------------------------------------------------------------ asked

    def digest(self, name: str) -> bytes:
        """What a URL or a host is known by: 128 bits of XXH3, with a seed that is a secret of this frontier.

        So nobody can make up two URLs of one digest.
        """
        return xxh3_128_digest(name.encode("utf-8", "surrogatepass"), self._seed)

    def find(self, digest: bytes) -> int | None:
        """The number of the URL, or None."""
        if self._new_urls:
            number = self._new_urls.get(digest)
            if number is not None:
                return number
        return self._seen.get(digest)

    def record(self, number: int, row: UrlRow) -> CrawlUrl:
        """The URL with this number and row."""
        return self.urls.load(row.offset, row.score, self.later.get(number, 0.0))

    def records(self, states: Collection[int]) -> Iterator[CrawlUrl]:
        """All URLs in these states, in the order in which they came."""
        for first, rows in self.rows.chunks(self.urls_known):
            for number in range(first, first + len(rows)):
                row = self.rows[number]
                if row.state in states:
                    yield self.record(number, row)
        for number in sorted(self.rows.changed):  # those that the files have no room for yet
            row = self.rows.changed[number]
            if number >= self.rows.room() and row.state in states:
                yield self.record(number, row)

    def host_of(self, url: str) -> int:
        """The number of the URL's host, a new one when it has none."""
        end = url.find("/", 8)
        origin = url[:end] if end > 0 else url
        number = self._origins.get(origin)
        if number is None:
            if len(self._origins) >= _ORIGINS:
                self._origins.clear()
            number = self._origins[origin] = self.host_number(queue_of(url))
        return number

    def host_number(self, host: str) -> int:
        """The number of the host, a new one when it has none."""
        digest = self.digest(host)
        number = self._new_hosts.get(digest)
        if number is None:
            number = self._hosts.get(digest)
        if number is None:
            number, self.hosts_known = self.hosts_known, self.hosts_known + 1
            self._new_hosts[digest] = number
        return number

    def known_on(self, host: int) -> int:
        """Known URLs of a host."""
        return self._known_on[host] if host < len(self._known_on) else 0

    def count_known(self, on_host: np.ndarray) -> None:
        """After the opening: how many URLs of each host are known."""
        self._known_on = array("I", on_host.astype(np.uint32).tobytes())

    # ------------------------------------------------------------ changed

    def new(self, digest: bytes, host: int) -> int:
        """A number for a URL that is not known, or is not any more."""
        number, self.urls_known = self.urls_known, self.urls_known + 1
        self._new_urls[digest] = number
        if host >= len(self._known_on):
            self._known_on.frombytes(bytes(4 * (host + 1 - len(self._known_on))))
        self._known_on[host] += 1
        return number

    def forgotten(self, host: int) -> None:
        """A URL of the host is not known any more."""
        self._known_on[host] -= 1

    def note(self, *note: Any) -> None:
        """Something that has no row (see ``journal.Frame``)."""
        self._notes.append([*note])

    def set_later(self, number: int, not_before: float) -> None:
        """The URL may not be fetched before this time; 0: at any time."""
        if not_before != self.later.get(number, 0.0):
            self._set_later(number, not_before)
            self._notes.append(["later", number, not_before])

    def commit(self, unrowed: Callable[[], dict[str, Any]]) -> None:
        """Make what was gathered one atomic step. When the disk refuses, it stays gathered."""
        if not (self.rows.changed or self._notes or self._new_hosts):
            return
        urls = self.urls
        if urls.unwritten:
            urls.write()
        rows = self.rows.pack()
        self._journal.append(rows, self._new_urls, self._new_hosts, urls.end, self._notes)
        self._notes = []
        self._apply(rows)
        if self._journal.size > _JOURNAL_BYTES:
            self._journal.turn(self._summary(unrowed), self._force)
        self._steps += 1
        if self._steps % _RELIEF == 0 and _shared_memory() > self._cache:
            self.rows.give_back()
            self._seen.give_back()

    def begin(self, unrowed: Callable[[], dict[str, Any]]) -> None:
        """After the opening: what has been done again is summed up."""
        if self.urls.unwritten:
            self.urls.write()
        self._apply(self.rows.pack())
        self._notes = []
        self._journal.begin(self._summary(unrowed))

    def finish(self, unrowed: Callable[[], dict[str, Any]]) -> None:
        """Write what was gathered and force everything onto the disk."""
        self.commit(unrowed)
        self._force()
        self._journal.begin(self._summary(unrowed))

    def close(self) -> None:
        self._journal.close()
        self._seen.close()
        self._hosts.close()
        self.rows.close()
        self.urls.close()

    # ------------------------------------------------------------ inside

    def _replay(self, urls_end: int) -> None:
        for frame in self._journal.frames():
            self.rows.changed.update(frame.rows)
            self._new_urls.update(frame.urls)
            self._new_hosts.update(frame.hosts)
            urls_end = frame.urls_end
            self.urls_known = max(self.urls_known, *(number + 1 for number in frame.rows), 0)
            self.hosts_known = max(self.hosts_known, *(number + 1 for number in frame.hosts.values()), 0)
            if not self._readonly:
                self._apply(self.rows.pack())
            for kind, *values in frame.notes:
                self._recall(kind, values)
        if not self._readonly:
            self.urls.cut(urls_end)
            if not self._journal.closed:
                self._leave_a_gap()

    def _leave_a_gap(self) -> None:
        """After a power failure the mapped files may be ahead of the journal: numbers they may have given are not used again."""
        self.urls_known = self.rows.wipe(self.urls_known)
        self.hosts_known += _HOSTS_GAP

    def _recall(self, kind: str, values: list[Any]) -> None:
        if kind == "pick":
            self.picks.append(values[0])
            if len(self.picks) > 2 * _PICKS:
                del self.picks[:_PICKS]
        elif kind == "unpick":
            with suppress(ValueError):
                self.picks.reverse()
                self.picks.remove(values[0])
            self.picks.reverse()
        elif kind == "rest":
            host, until = values
            self.rests[host] = max(until, self.rests.get(host, until))
        elif kind == "ask":
            self.asks[values[0]] = values[1]
        elif kind == "later":
            self._set_later(*values)
        elif kind == "evicted":
            self.evicted = values[0]

    def _apply(self, rows: list[bytes]) -> None:
        """Write the step into the mapped files; what the disk does not take stays gathered."""
        if self._new_urls:
            put = self._seen.set
            for digest, number in self._new_urls.items():
                put(digest, number)
            self._new_urls.clear()
        if self._new_hosts:
            for digest, number in self._new_hosts.items():
                self._hosts.set(digest, number)
            self._new_hosts.clear()
        self.rows.apply(rows)

    def _set_later(self, number: int, not_before: float) -> None:
        if not_before:
            self.later[number] = not_before
        else:
            self.later.pop(number, None)

    def _summary(self, unrowed: Callable[[], dict[str, Any]]) -> Summary:
        return Summary(
            seed=self._seed,
            urls=self.urls_known,
            urls_end=self.urls.end,
            hosts=self.hosts_known,
            evicted=self.evicted,
            later=list(self.later.items()),
            **unrowed(),
        )

    def _force(self) -> None:
        for file in (self.urls, self._seen, self._hosts, self.rows):
            file.sync()


def is_disk_frontier(folder: Path) -> bool:
    """Whether a frontier on disk was once opened in this folder."""
    return (folder / "state.json").exists() and (folder / "rows").exists()


def remove_disk_frontier(folder: Path) -> bool:
    """Remove the files of a frontier on disk, and nothing else; whether there were any. Raises ``OSError``."""
    if not is_disk_frontier(folder):
        return False
    for name in ("urls.jsonl", "rows", "seen", "seen.map", "hosts", "hosts.map", "lines"):
        (folder / name).unlink(missing_ok=True)
    for journal in folder.glob("journal.[0-9]*"):
        journal.unlink(missing_ok=True)
    (folder / "state.json").unlink(missing_ok=True)  # last: until then it can be told what the files are
    return True


def _shared_memory() -> int:
    """Bytes of mapped files that are in memory now; 0 where that cannot be known."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[2]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
