"""The frontier on disk. The contract is told in ``base``, the files in this package's docstring."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.frontier.base import HostStats
from crawlproject.frontier.disk.host_paging import DiskEntry
from crawlproject.frontier.disk.store import DiskStore
from crawlproject.frontier.disk.url_queues import MemoryLimits, UrlQueues
from crawlproject.frontier.disk.url_table import DONE, GONE, IN_LINE, LEASED, UNKNOWN, WAITING, UrlRow
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl

_STEP = 4096  # URLs of a long ``put_many`` that become durable together


class DiskFrontier:
    """A ``Frontier`` in ``folder``, of which only the part in use is in memory.

    ``batch_size``, ``commit``, ``max_urls``, ``politeness`` and ``random`` as in ``MemoryFrontier``; the politeness is asked
    by the numbers of hosts. ``clock`` (seconds since the epoch) is asked at the opening: URLs that were leased wait
    again, and their hosts rest from then on. ``cache`` bounds the bytes of mapped files that stay in memory (default
    512 MiB); the rest is for the operating system to keep or to drop. ``room`` bounds the lines.

    Every operation that changes something may raise ``StorageFailed``. It has happened in memory then, and is
    written with the next one that the disk takes. Opening raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        batch_size: int = 50,
        commit: int = 1,
        max_urls: int = 0,
        politeness: Politeness,
        random: Random,
        clock: Callable[[], float],
        cache: int = 512 * 2**20,
        room: MemoryLimits | None = None,
    ) -> None:
        for name, value, least in (("batch_size", batch_size, 1), ("commit", commit, 1), ("max_urls", max_urls, 0)):
            if value < least:
                raise ValueError(f"{name} must be at least {least}, got {value!r}")
        self._limit = max_urls or math.inf
        self._politeness = politeness
        self._in_batch = False
        self._leases: dict[str, tuple[int, CrawlUrl]] = {}
        self._store = DiskStore(folder, cache)
        self._rows = self._store.rows
        for host, seconds in self._store.asks.items():
            politeness.crawl_delay(host, seconds)
        self._lines = UrlQueues(
            self._store, batch_size=batch_size, commit=commit, random=random, room=room or MemoryLimits()
        )
        self._schedule = self._lines.schedule
        self._recover(clock())

    # ------------------------------------------------------------ the contract

    def put(self, url: CrawlUrl) -> bool:
        """As the contract says. Raises ``ValueError`` for a score that is NaN or a ``not_before`` that is not finite.

        A newcomer that a full frontier refuses does not count as evicted.
        """
        new = self._put(url)
        self._commit()
        return new

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        """As the contract says. Outside a batch, some thousands at a time are one atomic step."""
        new = 0
        for number, url in enumerate(urls, start=1):
            new += self._put(url)
            if number % _STEP == 0:
                self._commit()
        self._commit()
        return new

    def take(self, now: float) -> CrawlUrl | None:
        slip = self._schedule.choose(now)
        if slip is None:
            return None
        number = slip.arrival
        row = self._rows[number]
        record = self._store.record(number, row)
        self._lines.visit(slip)
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, LEASED)
        self._leases[record.key] = number, record
        self._store.note("pick", row.host)
        self._commit()
        return record

    def spare_dormant(self) -> None:
        """As ``SparingFrontier`` says; Best-N-First looks at batches and goes by the rule as it is."""
        self._schedule.spare_dormant()

    def next_due(self, now: float) -> float | None:
        return self._schedule.next_due(now)

    def done(self, url: str, now: float, seconds: float) -> None:
        lease = self._leases.pop(url, None)
        if lease is not None:
            number = lease[0]
            row = self._rows[number]
            until = self._politeness.next_visit(row.host, now, seconds)
            self._schedule.end_visit(row.host, until)
            self._store.note("rest", row.host, until)
            self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, DONE)
            self._store.set_later(number, 0.0)
            self._commit()
            return
        known = self._number(url)
        if known is None or self._rows[known].state != DONE:
            self._rest(url, now, seconds)
            self._end(url, known)
            self._commit()

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """As the contract says; nothing happens without a lease. Raises ``ValueError`` if ``not_before`` is not finite.

        In a full frontier the URL may be evicted at once, when it is the worst.
        """
        if not math.isfinite(not_before):
            raise ValueError(f"not_before must be finite, got {not_before!r}: {url!r}")
        if url in self._leases:
            self._rest(url, now, seconds)
            self._return(url, not_before, picked)

    def postpone(self, url: str, not_before: float) -> None:
        """As the contract says. Raises ``ValueError`` if ``not_before`` is not finite."""
        if not math.isfinite(not_before):
            raise ValueError(f"not_before must be finite, got {not_before!r}: {url!r}")
        if url in self._leases:
            self._return(url, not_before, picked=False)

    def _return(self, url: str, not_before: float, picked: bool) -> None:
        number = self._leases[url][0]
        host = self._rows[number].host
        if not picked:
            self._give_back(host)
        del self._leases[url]
        self._schedule.free(host)
        self._store.set_later(number, not_before)
        self._enter_again(number, self._rows[number])
        self._evict_surplus()
        self._commit()

    def drop(self, url: str, *, picked: bool = False) -> None:
        """As the contract says; without a lease the URL is just known from now on."""
        number = self._number(url)
        if url in self._leases and not picked:
            self._give_back(self._rows[self._leases[url][0]].host)
        if number is None or self._rows[number].state != DONE:
            self._end(url, number)
        self._commit()

    def rescore(self, url: str, score: float) -> bool:
        """As the contract says. Raises ``ValueError`` when ``score`` is NaN."""
        if score != score:
            raise ValueError(f"a score must be a number, got {score!r}: {url!r}")
        waiting = self._waiting(url)
        if waiting is None:
            return False
        number, row = waiting
        if score != row.score:
            self._replace(number, row, row._replace(score=score), self._store.later.get(number, 0.0))
            self._commit()
        return True

    def withdraw(self, url: str) -> bool:
        """As the contract says. It does not count as evicted."""
        waiting = self._waiting(url)
        if waiting is None:
            return False
        self._forget(*waiting)
        self._commit()
        return True

    def crawl_delay(self, host: str, seconds: float) -> None:
        """As the contract says; what is no finite, positive number counts as 0 (robots.txt is written by strangers)."""
        number = self._store.host_number(host)
        if self._politeness.crawl_delay(number, seconds):
            self._store.note("ask", number, self._politeness.asked(number))
        self._commit()

    def __len__(self) -> int:
        return self._lines.waiting

    def __contains__(self, url: str) -> bool:
        number = self._number(url)
        return number is not None and self._rows[number].state not in UNKNOWN

    def leased(self, url: str) -> CrawlUrl | None:
        lease = self._leases.get(url)
        return lease[1] if lease else None

    def leases(self) -> int:
        return len(self._leases)

    def waiting(self) -> Iterator[CrawlUrl]:
        return self._store.records(IN_LINE)

    def best(self) -> float | None:
        """As the contract says; one look at every host in use, of which there may be many."""
        rank = self._lines.best()
        return None if rank is None else -rank

    def hosts(self) -> int:
        return self._lines.hosts_waiting

    def evicted(self) -> int:
        return self._store.evicted

    def resting(self) -> int:
        """Hosts with waiting URLs that rest, O(1)."""
        return self._schedule.resting()

    def busiest(self, n: int) -> list[HostStats]:
        """The ``n`` hosts in use with the most waiting URLs; those that have not had their turn are not in memory."""
        on_host = self._lines.on_host
        queues = self._schedule.busiest(n, lambda host: on_host[host.name])
        found = []
        for host in queues:
            first = next(host.heads(), None)
            if first is not None:
                name = queue_of(self._store.record(first.arrival, self._rows[first.arrival]).url)
                found.append(HostStats(name, on_host[host.name], -first.rank, host.due, host.leased))
        return found

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What happens inside becomes one frame of the journal. When the block raises, what happened until then does."""
        self._in_batch = True
        try:
            yield
        finally:
            self._in_batch = False
            self._commit()

    def close(self) -> None:
        """Force everything onto the disk. When that fails, the folder stays as it is, and ``StorageFailed`` is raised."""
        try:
            self._store.finish(self._unrowed)
        finally:
            self._lines.close()
            self._store.close()

    def urls_of_host(self, url: str) -> int:
        """Known URLs of the host of ``url``: those that wait, are leased, or are done."""
        return self._store.known_on(self._store.host_of(url))

    # ------------------------------------------------------------ measures

    def hosts_in_memory(self) -> int:
        """Hosts in use: with a line of their own, being visited, or resting."""
        return self._lines.hosts_in_memory()

    # ------------------------------------------------------------ inside

    def _put(self, record: CrawlUrl) -> bool:
        score = record.score
        if score != score or not math.isfinite(record.not_before):
            raise ValueError(f"no place in line for score {score!r}, not_before {record.not_before!r}: {record.key!r}")
        store = self._store
        digest = store.digest(record.key)
        number = store.find(digest)
        if number is not None:
            row = self._rows[number]
            if row.state in IN_LINE:
                if score > row.score:
                    better = UrlRow(score, store.urls.add(record), row.host, row.state)
                    self._replace(number, row, better, record.not_before)
                return False
            if row.state not in UNKNOWN:
                return False
        if self._lines.waiting >= self._limit and not self._make_room(score):
            return False
        host = store.host_of(record.url)
        number = store.new(digest, host)
        self._rows.changed[number] = UrlRow(score, store.urls.add(record), host, WAITING)
        if record.not_before:
            store.set_later(number, record.not_before)
        self._lines.enter_new(-score, number, host, record.not_before)
        return True

    def _number(self, url: str) -> int | None:
        return self._store.find(self._store.digest(url))

    def _waiting(self, url: str) -> tuple[int, UrlRow] | None:
        """Number and row of a URL that waits."""
        number = self._number(url)
        if number is None or (row := self._rows[number]).state not in IN_LINE:
            return None
        return number, row

    def _slip(self, number: int, row: UrlRow) -> DiskEntry:
        return DiskEntry(-row.score, number, row.host, self._store.later.get(number, 0.0))

    def _enter_again(self, number: int, row: UrlRow) -> None:
        """A URL that was leased waits again."""
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, WAITING)
        self._lines.enter_again(self._slip(number, row))

    def _forget(self, number: int, row: UrlRow) -> None:
        """The URL is as if it had never come."""
        self._leave(number, row, GONE)
        self._store.forgotten(row.host)

    def _leave(self, number: int, row: UrlRow, state: int) -> None:
        """The URL waits no more; the schedule hears of it before its row changes (see ``FedSchedule.remove``)."""
        self._lines.leave(self._slip(number, row))
        self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, state)
        self._store.set_later(number, 0.0)

    def _replace(self, number: int, old: UrlRow, new: UrlRow, not_before: float) -> None:
        """The waiting URL has another score or record; its place in line stays."""
        before = self._slip(number, old)
        self._store.set_later(number, not_before)
        self._rows.changed[number] = new
        self._lines.replace(before, self._slip(number, new))

    def _end(self, url: str, number: int | None) -> None:
        lease = self._leases.pop(url, None)
        if number is None or self._rows[number].state in UNKNOWN:
            host = self._store.host_of(url)
            number = self._store.new(self._store.digest(url), host)
            self._rows.changed[number] = UrlRow(0.0, self._store.urls.add(CrawlUrl(url, 0.0)), host, DONE)
            return
        row = self._rows[number]
        if lease is not None:
            self._schedule.free(row.host)
            self._rows.changed[number] = UrlRow(row.score, row.offset, row.host, DONE)
            self._store.set_later(number, 0.0)
        else:
            self._leave(number, row, DONE)

    def _rest(self, url: str, finish: float, seconds: float) -> None:
        host = self._store.host_of(url)
        until = self._politeness.next_visit(host, finish, seconds)
        self._schedule.rest(host, until)
        self._store.note("rest", host, until)

    def _give_back(self, host: int) -> None:
        self._schedule.give_back_pick(host)
        self._store.note("unpick", host)

    def _make_room(self, score: float) -> bool:
        """Evict the worst URL of a full frontier. False: a newcomer with ``score`` would itself be the worst."""
        worst = self._lines.worst()
        if worst is None or score <= self._rows[worst].score:
            return False
        self._evict(worst)
        return True

    def _evict_surplus(self) -> None:
        while self._lines.waiting > self._limit and (worst := self._lines.worst()) is not None:
            self._evict(worst)

    def _evict(self, number: int) -> None:
        self._forget(number, self._rows[number])
        self._store.evicted += 1
        self._store.note("evicted", self._store.evicted)

    def _recover(self, now: float) -> None:
        """Nobody holds the leases any more: their URLs wait again already, their hosts rest from ``now`` on."""
        for host in self._lines.load():
            until = self._politeness.next_visit(host, now, 0.0)
            self._store.rests[host] = max(until, self._store.rests.get(host, until))
        for host in self._store.picks:
            self._schedule.pick(host)
        for host, until in self._store.rests.items():
            self._schedule.rest(host, until)
        self._evict_surplus()
        self._store.begin(self._unrowed)

    def _commit(self) -> None:
        if not self._in_batch:
            self._store.commit(self._unrowed)

    def _unrowed(self) -> dict[str, Any]:
        """What the summary of the journal says of hosts."""
        return {
            "picks": list(self._schedule.picks()),
            "rests": list(self._schedule.clocks()),
            "asks": list(self._politeness.crawl_delays()),
        }
