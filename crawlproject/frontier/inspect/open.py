"""Looking into a frontier without opening it for a crawl: nothing is written, and a crawl may run meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.disk.files import is_disk_frontier, remove_disk_frontier
from crawlproject.frontier.inspect.disk import DiskView
from crawlproject.frontier.inspect.view import Counts, FrontierView
from crawlproject.frontier.journal import NAME, ChangeLog
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.memory_store import MemoryStore
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl


class JournalView:
    """A ``FrontierView`` of the journal in a folder. Raises ``BadCrawlDir`` for a damaged one."""

    kind = "memory"

    def __init__(self, journal: ChangeLog) -> None:
        self._store = MemoryStore(rule=KRule(1), commit=1, politeness=Politeness(0.0, 0.0), random=Random(0))
        journal.replay(self._store)

    def counts(self) -> Counts:
        store = self._store
        hosts = store.hosts.total
        return Counts(len(store.entries), len(store.leases), len(store.finished), hosts, store.evicted)

    def waiting(self) -> Iterator[CrawlUrl]:
        """As the protocol says: a journal's summary, and so its replay, is in the order of arrival."""
        return (entry.record for entry in sorted(self._store.entries.values(), key=lambda entry: entry.arrival))

    def leased(self) -> Iterator[CrawlUrl]:
        return (entry.record for entry in self._store.leases.values())

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        state = self._store.state_of(url)
        entry = self._store.entries.get(url) or self._store.leases.get(url)
        return state, entry.record if entry else None

    def rests(self) -> Mapping[str, float]:
        return dict(self._store.hosts.clocks())

    def blocks(self) -> Mapping[str, float]:
        return {str(host.name): host.blocked_until for host in self._store.hosts.blocked()}

    def crawl_delays(self) -> Mapping[str, float]:
        return dict(self._store.politeness.crawl_delays())


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
