"""Looking into a frontier without opening it for a crawl: nothing is written, and a crawl may run meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from crawlproject.frontier.changes import Waits
from crawlproject.frontier.disk.store import is_disk_frontier, remove_disk_frontier
from crawlproject.frontier.inspect.disk import DiskView
from crawlproject.frontier.inspect.view import Counts, FrontierView, State
from crawlproject.frontier.journal import NAME, ChangeLog
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl


class JournalView:
    """A ``FrontierView`` of what the journal in a folder tells. Raises ``BadCrawlDir`` for a damaged one."""

    kind = "memory"

    def __init__(self, journal: ChangeLog) -> None:
        self._politeness = Politeness(0.0, 0.0)
        self._frontier = MemoryFrontier(max_urls=0, politeness=self._politeness, random=Random(0))
        journal.replay(self._frontier)

    def counts(self) -> Counts:
        frontier = self._frontier
        return Counts(len(frontier), frontier.leases(), frontier.finished(), frontier.hosts(), frontier.evicted())

    def waiting(self) -> Iterator[CrawlUrl]:
        """As the protocol says: a journal's summary, and so its replay, is in the order of arrival."""
        waits = (change.record for change in self._frontier.history() if isinstance(change, Waits))
        return (record for record in waits if self._frontier.leased(record.key) is None)

    def leased(self) -> Iterator[CrawlUrl]:
        return self._frontier.open_leases()

    def find(self, url: str) -> tuple[State, CrawlUrl | None]:
        lease = self._frontier.leased(url)
        if lease is not None:
            return "leased", lease
        record = self._frontier.record(url)
        if record is not None:
            return "waiting", record
        return ("done" if url in self._frontier else ""), None

    def rests(self) -> Mapping[str, float]:
        return dict(self._frontier.clocks())

    def crawl_delays(self) -> Mapping[str, float]:
        return dict(self._politeness.crawl_delays())


def read_frontier(folder: Path) -> FrontierView | None:
    """The frontier that the files in ``folder`` are of; None when there is none. Raises ``BadCrawlDir`` for damaged files."""
    if (folder / NAME).exists():
        return JournalView(ChangeLog(folder / NAME))
    if is_disk_frontier(folder):
        return DiskView(folder)
    return None


def clear_frontier(folder: Path) -> bool:
    """Remove the files of a frontier from ``folder``, and nothing else; whether there were any. Not while it is in use."""
    if (folder / NAME).exists():
        (folder / NAME).unlink()
        return True
    return remove_disk_frontier(folder)
