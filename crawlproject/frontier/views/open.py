"""Views of a frontier that is not opened for a crawl: nothing is written, and a crawl may run meanwhile. ``scrapy frontier``
finds the frontier that a person means, and shows which process is using it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.extras import need
from crawlproject.frontier.base import UrlState
from crawlproject.frontier.disk.files import is_disk_frontier, remove_disk_frontier
from crawlproject.frontier.journal import NAME, ChangeLog
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.memory_store import MemoryStore
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.views.disk import DiskView
from crawlproject.frontier.views.view import Counts, FrontierView
from crawlproject.frontier.views.workers import WorkersView
from crawlproject.options import WORKERS
from crawlproject.records import CrawlUrl
from crawlproject.storage.crawl_files import holder_of


class JournalView:
    """A ``FrontierView`` of a journal. Raises ``BadCrawlDir`` if it is damaged."""

    kind = "memory"

    def __init__(self, journal: ChangeLog) -> None:
        self._store = MemoryStore(rule=KRule(1), commit=1, politeness=Politeness(0.0, 0.0), random=Random(0))
        journal.replay(self._store)

    def counts(self) -> Counts:
        store = self._store
        hosts = store.hosts.total
        return Counts(len(store.entries), len(store.leases), len(store.finished), hosts, store.evicted)

    def waiting(self) -> Iterator[CrawlUrl]:
        """As the protocol says: a journal's summary, and so its replay, is in order of arrival."""
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
    """A view of the frontier whose files are in ``folder``; None if there is none. Raises ``BadCrawlDir`` for damaged files."""
    if (folder / NAME).exists():
        return JournalView(ChangeLog(folder / NAME))
    if is_disk_frontier(folder):
        return DiskView(folder)
    return None


def clear_frontier(folder: Path) -> bool:
    """Remove a frontier's files from ``folder``, and nothing else. Return whether there were any. Not while it is in use."""
    if (folder / NAME).exists():
        (folder / NAME).unlink()
        return True
    return remove_disk_frontier(folder)


@dataclass(frozen=True, slots=True)
class FrontierPlace:
    """A frontier: its ``title``, its ``view``, a function to ``clear`` it, and its user (None if none is known)."""

    title: str
    view: FrontierView
    clear: Callable[[], object]
    holder: str | None


def find_place(asked: str) -> FrontierPlace:
    """The frontier of a crawl folder (of one process or several workers), of a ``JOBDIR``, or of a frontier's own folder; or
    what Redis stores of one (``redis://host:port/db/crawl``).

    Raises ``BadCrawlDir``, and ``StorageFailed`` when no Redis answers.
    """
    if asked.startswith(("redis://", "rediss://")):
        return _in_redis(asked)
    for folder in (Path(asked) / "frontier", Path(asked)):
        view = read_frontier(folder)
        if view is not None:
            holder = holder_of(folder) or holder_of(Path(asked))
            return FrontierPlace(str(folder), view, partial(_clear, folder), holder and f"process {holder}")
    if workers := sorted(Path(asked).glob(f"{WORKERS}/*/frontier")):
        return _of_workers(asked, workers)
    raise BadCrawlDir(asked, "there is no frontier; expected a crawl folder, a JOBDIR, or the folder of a frontier")


def _of_workers(asked: str, folders: Sequence[Path]) -> FrontierPlace:
    views = [view for folder in folders if (view := read_frontier(folder)) is not None]
    holders = sorted({holder for folder in folders if (holder := holder_of(folder) or holder_of(folder.parent))})
    named = f"processes {', '.join(map(str, holders))}" if holders else None
    return FrontierPlace(asked, WorkersView(views), lambda: [*map(_clear, folders)], named)


def _in_redis(asked: str) -> FrontierPlace:
    need("a frontier in Redis", "redis")
    from crawlproject.frontier.redis.connection import connect
    from crawlproject.frontier.views.redis import RedisView

    url, _, crawl = asked.rpartition("/")
    view = RedisView(connect(url=url), crawl)
    if not crawl or not view.exists():
        raise BadCrawlDir(asked, f"there is no crawl {crawl!r} in this Redis; expected redis://host:port/db/crawl")
    workers = view.workers()
    return FrontierPlace(asked, view, view.clear, f"workers {', '.join(workers)}" if workers else None)


def _clear(folder: Path) -> None:
    with trying_to("remove the frontier in", folder):
        clear_frontier(folder)
