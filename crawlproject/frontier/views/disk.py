"""A view of a frontier on disk that is not opened for a crawl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.url_table import DONE, LEASED, WAITING, classes_of, in_states
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.views.view import Counts
from crawlproject.records import CrawlUrl


class DiskView:
    """A ``FrontierView`` of the files in ``folder`` at the moment of opening. Nothing is written.

    The steps in the journal are read into memory, at most some tens of megabytes. Raises ``BadCrawlDir``, and
    ``StorageFailed`` when the files cannot be read.
    """

    kind = "disk"

    def __init__(self, folder: Path) -> None:
        self._files = DiskFiles(folder, cache=0, readonly=True)

    def counts(self) -> Counts:
        waiting = leased = done = 0
        hosts: set[int] = set()
        for rows in self._chunks():
            waits = in_states(rows, WAITING)
            waiting += int(waits.sum())
            leased += int(in_states(rows, {LEASED}).sum())
            done += int(in_states(rows, {DONE}).sum())
            hosts.update(np.unique(rows["host"][waits]).tolist())
        return Counts(waiting, leased, done, len(hosts), self._files.facts.evicted)

    def waiting(self) -> Iterator[CrawlUrl]:
        return self._files.records(WAITING)

    def best(self, n: int) -> list[CrawlUrl]:
        """The ``n`` first waiting URLs by class, score and arrival. Reads only their records."""
        found: list[tuple[int, float, int]] = []
        for first, rows in self._files.rows.snapshot(self._files.urls_known):
            numbers = np.flatnonzero(in_states(rows, WAITING))
            ranks, classes = -rows["score"][numbers], classes_of(rows)[numbers]
            best = np.lexsort((numbers, ranks, classes))[:n]
            columns = classes[best], ranks[best], numbers[best] + first
            found = sorted([*found, *zip(*(column.tolist() for column in columns), strict=True)])[:n]
        return [self._files.record(number, self._files.rows[number]) for _, _, number in found]

    def leased(self) -> Iterator[CrawlUrl]:
        return self._files.records((LEASED,))

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        number = self._files.find(url)
        row = self._files.rows[number] if number is not None else None
        if number is None or row is None:
            return "", None
        if row.state in WAITING:
            return "waiting", self._files.record(number, row)
        if row.state == LEASED:
            return "leased", self._files.record(number, row)
        return ("done" if row.state == DONE else ""), None

    def rests(self) -> Mapping[str, float]:
        return self._named(self._files.facts.rests)

    def blocks(self) -> Mapping[str, float]:
        return {name: until for until, name in self._files.facts.blocks.values()}

    def crawl_delays(self) -> Mapping[str, float]:
        return self._named({host: seconds for host, seconds in self._files.facts.asks.items() if seconds})

    # ------------------------------------------------------------ inside

    def _named(self, values: Mapping[int, float]) -> dict[str, float]:
        """Replace host numbers by names, taken from a URL of each host. Hosts without a URL are left out."""
        wanted = np.fromiter(values, np.int64, len(values))
        named: dict[str, float] = {}
        for rows in self._chunks():
            if not len(wanted):
                break
            hosts, firsts = np.unique(rows["host"], return_index=True)
            found = np.isin(hosts, wanted)
            for host, first in zip(hosts[found].tolist(), firsts[found].tolist(), strict=True):
                named[queue_of(self._files.urls.url(int(rows["offset"][first])))] = values[host]
            wanted = wanted[~np.isin(wanted, hosts)]
        return named

    def _chunks(self) -> Iterator[np.ndarray]:
        """All rows, with the changes in the journal."""
        return (rows for _, rows in self._files.rows.snapshot(self._files.urls_known))
