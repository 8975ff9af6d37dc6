"""The URLs and hosts of a frontier on disk, and how each change changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.frontier import changes
from crawlproject.frontier.base import BlockedHost, HostStats, UrlState
from crawlproject.frontier.changes import Change
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.host_paging import DiskEntry
from crawlproject.frontier.disk.url_queues import MemoryLimits, UrlQueues
from crawlproject.frontier.disk.url_table import DONE, GONE, HELD, LEASED, PAGED, SHARED, UNKNOWN, WAITING, UrlRow
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl

_STATES: dict[int, UrlState] = {SHARED: "waiting", PAGED: "waiting", HELD: "waiting", LEASED: "leased", DONE: "done"}


class DiskUrls:
    """What is known of the URLs and hosts of a frontier on disk. Hosts are known by numbers."""

    def __init__(
        self,
        folder: Path,
        *,
        batch_size: int,
        commit: int,
        politeness: Politeness,
        random: Random,
        cache: int,
        limits: MemoryLimits,
    ) -> None:
        self.politeness = politeness
        self.files = files = DiskFiles(folder, cache)
        self._rows = files.rows
        self._queues = UrlQueues(files, batch_size=batch_size, commit=commit, random=random, limits=limits)
        self.schedule = self._queues.schedule
        self.hosts = self._queues.pool
        self.evicted = files.facts.evicted
        self._leases: dict[str, tuple[int, CrawlUrl]] = {}
        self._names: dict[int, str] = {}  # of the hosts that were blocked
        self._asked = "", b""  # the URL that was asked for last, and its digest
        self._number: int | None = None
        self._chosen: CrawlUrl | None = None
        self.host_of = files.hosts.of_url
        self.host_named = files.hosts.of_name

    def state_of(self, url: str) -> UrlState:
        number = self.number_of(url)
        return "" if number is None else _STATES.get(self._rows[number].state, "")

    def score_of(self, url: str) -> float:
        return self._rows[self._known(url)].score

    def lease_of(self, url: str) -> CrawlUrl | None:
        lease = self._leases.get(url)
        return lease[1] if lease else None

    def chosen(self, entry: DiskEntry) -> CrawlUrl:
        number = entry.arrival
        record = self.files.record(number, self._rows[number])
        self._asked, self._number = (record.key, b""), number
        self._chosen = record
        return record

    def waiting(self) -> Iterator[CrawlUrl]:
        return self.files.records(WAITING)

    def count_waiting(self) -> int:
        return self._queues.waiting

    def count_leases(self) -> int:
        return len(self._leases)

    def best(self) -> float | None:
        return self._queues.best()

    def worst(self) -> CrawlUrl | None:
        number = self._queues.worst()
        return None if number is None else self.files.record(number, self._rows[number])

    def blocked(self) -> Iterator[BlockedHost]:
        for host, entries in self.schedule.blocks():
            best = max((self._rows[entry.arrival].score for entry in entries), default=None)
            yield BlockedHost(self._names[host.name], host.blocked_until, best)

    def busiest(self, n: int) -> list[HostStats]:
        on_host = self._queues.on_host
        found = []
        for host in self.hosts.busiest(n, lambda host: on_host[host.name]):
            first = next(host.heads(), None)
            if first is not None:
                name = queue_of(self.files.record(first.arrival, self._rows[first.arrival]).url)
                found.append(HostStats(name, on_host[host.name], -first.rank, host.due, host.leased))
        return found

    def number_of(self, url: str) -> int | None:
        """The number of a URL, or None when it was never here. The last answer is remembered: it is asked for again."""
        if url != self._asked[0]:
            digest = self.files.digest(url)
            self._asked, self._number = (url, digest), self.files.find(digest)
        return self._number

    def _known(self, url: str) -> int:
        number = self.number_of(url)
        if number is None:
            raise KeyError(url)
        return number


class DiskStore(DiskUrls):
    """A ``UrlStore`` in ``folder``. Opening it lets the URLs that were leased wait again, at the time ``now``."""

    def __init__(self, folder: Path, now: float, **options: Any) -> None:
        super().__init__(folder, **options)
        note, rule = self.files.note, self.hosts.rule

        def pick(change: changes.Picked) -> None:
            rule.pick(change.host, len(self._leases))
            note("pick", change.host)

        def give_back(change: changes.GaveBack) -> None:
            rule.give_back(change.host)
            note("unpick", change.host)

        def rest(change: changes.Rests) -> None:
            self.schedule.rest(change.host, change.until)
            note("rest", change.host, change.until)

        self._handlers: dict[type[Change], Callable[[Any], None]] = {
            changes.Waits: self._waits,
            changes.Rescored: self._rescored,
            changes.Held: self._held,
            changes.Leased: self._leased,
            changes.Returned: self._returned,
            changes.Ended: self._ended,
            changes.Evicted: self._evicted,
            changes.Picked: pick,
            changes.GaveBack: give_back,
            changes.Rests: rest,
            changes.Asks: self._asks,
            changes.Blocked: self._blocked,
        }
        self._recover(now)

    def apply(self, change: Change) -> None:
        self._handlers[type(change)](change)

    def commit(self) -> None:
        self.files.commit(self._host_facts)

    def close(self) -> None:
        """Force everything onto the disk. When that fails, the folder stays as it is, and ``StorageFailed`` is raised."""
        try:
            self.files.finish(self._host_facts)
        finally:
            self._queues.close()
            self.files.close()

    # ------------------------------------------------------------ the changes

    def _waits(self, change: changes.Waits) -> None:
        record = change.record
        files, number = self.files, self.number_of(record.key)
        if number is not None and (row := self._rows[number]).state in WAITING:
            better = UrlRow(record.score, files.urls.add(record), row.host, row.state)
            self._replace(number, better, record.not_before)
            return
        host = files.hosts.of_url(record.url)
        self._number = number = files.new(self._digest(record.key), host)
        self._rows.changed[number] = UrlRow(record.score, files.urls.add(record), host, SHARED)
        if record.not_before:
            files.hold(number, record.not_before)
        self._queues.enter_new(-record.score, number, host, record.not_before)

    def _rescored(self, change: changes.Rescored) -> None:
        number = self._known(change.url)
        row = self._rows[number]._replace(score=change.score)
        self._replace(number, row, self.files.held_until.get(number, 0.0))

    def _held(self, change: changes.Held) -> None:
        number = self._known(change.url)
        self._replace(number, self._rows[number], change.until)

    def _leased(self, change: changes.Leased) -> None:
        number = self._known(change.url)
        row = self._rows[number]
        assert self._chosen is not None  # only what was chosen is leased
        self._leases[change.url] = number, self._chosen
        self._queues.take(self._queues.entry(number))
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, LEASED)

    def _returned(self, change: changes.Returned) -> None:
        number, _ = self._leases.pop(change.url)
        row = self._rows[number]
        self.schedule.free(row.host)
        self.files.hold(number, change.not_before)
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, SHARED)
        self._queues.enter_again(self._queues.entry(number))

    def _ended(self, change: changes.Ended) -> None:
        url = change.url
        lease = self._leases.pop(url, None)
        number = lease[0] if lease else self.number_of(url)
        if number is None or (row := self._rows[number]).state in UNKNOWN:
            host = self.files.hosts.of_url(url)
            self._number = number = self.files.new(self._digest(url), host)
            self._rows.changed[number] = UrlRow(0.0, self.files.urls.add(CrawlUrl(url, 0.0)), host, DONE)
        elif lease is not None:
            self.schedule.free(row.host)
            self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, DONE)
            self.files.hold(number, 0.0)
        else:
            self._leave(number, DONE)

    def _evicted(self, change: changes.Evicted) -> None:
        if change.url is not None:
            number = self._known(change.url)
            self._leave(number, GONE)
            self.files.hosts.count_known(self._rows[number].host, -1)
        if change.total != self.evicted:
            self.evicted = change.total
            self.files.facts.evicted = change.total
            self.files.note("evicted", change.total)

    def _asks(self, change: changes.Asks) -> None:
        number = self.host_named(change.host)
        self.politeness.crawl_delay(number, change.seconds)
        self.files.note("ask", number, change.seconds)

    def _blocked(self, change: changes.Blocked) -> None:
        number = self.host_named(change.host)
        self._names[number] = change.host
        self.schedule.block(number, change.until)
        self.files.note("block", number, change.until, change.host)

    # ------------------------------------------------------------ inside

    def _digest(self, url: str) -> bytes:
        asked, digest = self._asked
        return digest if asked == url and digest else self.files.digest(url)

    def _leave(self, number: int, state: int) -> None:
        """The URL no longer waits; the queues are told before its row changes."""
        row = self._rows[number]
        self._queues.leave(self._queues.entry(number))
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, state)
        self.files.hold(number, 0.0)

    def _replace(self, number: int, row: UrlRow, not_before: float) -> None:
        """The waiting URL has another row or time, and keeps its place."""
        before = self._queues.entry(number)
        self.files.hold(number, not_before)
        self._rows.changed[number] = row
        self._queues.replace(before, self._queues.entry(number))

    def _recover(self, now: float) -> None:
        """Nobody holds the leases any more: their URLs wait again, their hosts rest from ``now`` on."""
        facts = self.files.facts
        for host, seconds in facts.asks.items():
            self.politeness.crawl_delay(host, seconds)
        for host in self._queues.load():
            until = self.politeness.next_visit(host, now, 0.0)
            facts.rests[host] = max(until, facts.rests.get(host, until))
        for host in facts.picks:
            self.hosts.rule.pick(host, 0)
        for host, until in facts.rests.items():
            self.schedule.rest(host, until)
        for host, (until, name) in facts.blocks.items():
            self._names[host] = name
            self.schedule.block(host, until)
        self.files.begin(self._host_facts)

    def _host_facts(self) -> dict[str, Any]:
        """What the summary of the journal says of hosts."""
        return {
            "picks": list(self.hosts.rule.picks()),
            "rests": list(self.hosts.clocks()),
            "asks": list(self.politeness.crawl_delays()),
            "blocks": [(host.name, host.blocked_until, self._names[host.name]) for host in self.hosts.blocked()],
        }
