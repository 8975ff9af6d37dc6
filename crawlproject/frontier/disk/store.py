"""The URLs and hosts of a frontier on disk, and the effect of each change on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from crawlproject.frontier.base import BlockedHost, HostStats, UrlState
from crawlproject.frontier.disk.files import DiskFiles
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.disk.paged_host_queue import DiskEntry
from crawlproject.frontier.disk.url_queues import UrlQueues
from crawlproject.frontier.disk.url_table import (
    CLASS_BITS,
    DONE,
    GONE,
    LEASED,
    SHARED,
    UNKNOWN,
    WAITING,
    UrlRow,
    classes_of,
    in_states,
    with_state,
)
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import CrawlUrl

_STATES: dict[int, UrlState] = {**dict.fromkeys(WAITING, "waiting"), LEASED: "leased", DONE: "done"}
_STANDINGS = {state | bits: name for state, name in _STATES.items() for bits in CLASS_BITS}
_WAITING = frozenset(standing for standing, name in _STANDINGS.items() if name == "waiting")


class DiskStore:
    """A ``UrlStore`` in ``folder``. Hosts are identified by numbers.

    When it is opened, at the time ``now``, the URLs that were leased wait again.
    """

    def __init__(
        self,
        folder: Path,
        now: float,
        *,
        rule: KRule,
        commit: int,
        politeness: Politeness,
        random: Random,
        cache: int,
        limits: MemoryLimits,
        behind: float,
    ) -> None:
        self.politeness = politeness
        self.files = files = DiskFiles(folder, cache)
        self._rows = files.rows
        self._queues = UrlQueues(files, rule=rule, commit=commit, random=random, limits=limits)
        self.schedule = self._queues.schedule
        self.hosts = self._queues.pool
        self.evicted = files.facts.evicted
        self._leases: dict[str, tuple[int, CrawlUrl]] = {}
        self._names: dict[int, str] = {}  # of hosts that were ever blocked
        self._chosen: tuple[DiskEntry, UrlRow, CrawlUrl] | None = None
        self.best = self._queues.best
        self.host_of = files.hosts.of_url
        self.host_named = files.hosts.of_name
        self.commit = files.commit
        files.host_facts = self._host_facts
        self._recover(now, behind)

    def state_of(self, url: str) -> UrlState:
        if url in self._leases:
            return "leased"
        number = self.files.find(url)
        return "" if number is None else _STANDINGS.get(self._rows[number].standing, "")

    def score_of(self, url: str) -> float | None:
        number = self.files.find(url)
        if number is None:
            return None
        row = self._rows[number]
        return row.score if row.standing in _WAITING else None

    def record_of(self, url: str) -> CrawlUrl:
        number = self._known(url)
        return self.files.record(number, self._rows[number])

    def lease_of(self, url: str) -> CrawlUrl | None:
        lease = self._leases.get(url)
        return lease[1] if lease else None

    def chosen(self, entry: DiskEntry) -> CrawlUrl:
        row = self._rows[entry.arrival]
        record = self.files.record(entry.arrival, row)
        if record.key.isascii() and self.files.find(record.key) != entry.arrival:
            raise self.files.urls.damage(row.offset, f"found {record.key!r}, which is not the one that was written")
        self._chosen = entry, row, record
        return record

    def waiting(self) -> Iterator[CrawlUrl]:
        return self.files.records(WAITING)

    def waiting_groups(self, now: float) -> Iterator[tuple[CrawlUrl, int]]:
        files = self.files
        for first, rows in self._rows.snapshot(files.urls_known):
            places = np.flatnonzero(in_states(rows, WAITING))
            some, held = rows[places], files.held_until.many(places + first) > now
            groups = (some["host"].astype(np.int64) * len(CLASS_BITS) + classes_of(some)) * 2 + held  # one number each
            _, firsts, counts = np.unique(groups, return_index=True, return_counts=True)
            for place, count in zip(places[firsts].tolist(), counts.tolist(), strict=True):
                yield files.record(first + place, UrlRow(*rows[place].tolist())), count

    def finished_urls(self, known: Callable[[str], bool] | None = None) -> Iterator[CrawlUrl]:
        return self.files.records({DONE}, known)

    @property
    def history_lines(self) -> int:
        return self.files.facts.history

    def count_waiting(self) -> int:
        return self._queues.waiting

    def count_buffered(self) -> int:
        return self._queues.waiting - len(self._queues.committed)

    def count_leases(self) -> int:
        return len(self._leases)

    def worst(self) -> CrawlUrl | None:
        number = self._queues.worst()
        return None if number is None else self.files.record(number, self._rows[number])

    def blocked(self) -> Iterator[BlockedHost]:
        for host, entries in self.schedule.blocks():
            best = max((self._rows[entry.arrival].score for entry in entries), default=None)
            yield BlockedHost(self._names[host.name], host.blocked_until, best)

    def busiest(self, n: int) -> list[HostStats]:
        on_host = self._queues.counts.waiting
        found = []
        for host in self.hosts.busiest(n, lambda host: on_host[host.name]):
            first = next(host.heads(), None)
            if first is not None:
                name = queue_of(self.files.record(first.arrival, self._rows[first.arrival]).url)
                found.append(HostStats(name, on_host[host.name], -first.rank, host.due, host.leased))
        return found

    def close(self) -> None:
        """Force everything onto the disk. If that fails, the folder stays as it is, and ``StorageFailed`` is raised."""
        try:
            self.files.finish()
        finally:
            self._queues.close()
            self.files.close()

    # ------------------------------------------------------------ the changes

    def wait(self, record: CrawlUrl) -> None:
        files, key = self.files, record.key
        number = files.find(key)
        if number is not None and (row := self._rows[number]).state in WAITING:
            standing = row.state | CLASS_BITS[record.precedence]
            other = UrlRow(record.score, files.urls.add(record), row.host, standing)
            is_same_place = (row.score, row.standing) == (record.score, standing)
            if is_same_place and files.held_until[number] == record.not_before:
                self._rows.changed[number] = other  # the queues do not depend on the rest
            else:
                self._replace(number, row, other, record.not_before)
            return
        host = self.host_of(record.url)
        number = files.new(key, host)
        if record.not_before:
            files.hold(number, record.not_before)
        offset = files.urls.add(record)
        self._queues.enter_new(number, record.score, offset, host, record.not_before, record.precedence)

    def rescore(self, url: str, score: float) -> None:
        number = self._known(url)
        row = self._rows[number]
        self._rows.changed[number] = score, row.offset, row.host, row.standing
        old = self._queues.entry_in(number, row)
        self._queues.replace(old, DiskEntry(old.precedence, -score, number, row.host, old.not_before))

    def set_precedence(self, url: str, precedence: int) -> None:
        number = self._known(url)
        row = self._rows[number]
        other = row._replace(standing=row.state | CLASS_BITS[precedence])
        self._replace(number, row, other, self.files.held_until[number])

    def hold(self, url: str, until: float) -> None:
        number = self._known(url)
        row = self._rows[number]
        self._replace(number, row, row, until)

    def lease(self, url: str) -> None:
        """Lease the URL that ``chosen`` returned last."""
        assert self._chosen is not None
        entry, row, record = self._chosen
        self._leases[url] = entry.arrival, record
        self._queues.take(entry)
        if self.schedule is not self.hosts:  # the paged schedule has changed the row
            self._rows.changed[entry.arrival] = row.score, row.offset, row.host, with_state(row.standing, LEASED)

    def give_back(self, url: str, not_before: float) -> None:
        number, record = self._leases.pop(url)
        self._return(number, not_before, record.score)
        self._queues.enter_again(self._queues.entry(number))

    def refetch(self, url: str, refetch_at: float, score: float) -> None:
        number, _ = self._leases.pop(url)
        self._return(number, refetch_at, score)
        row = self._rows[number]
        self._queues.enter_new(number, row.score, row.offset, row.host, refetch_at, row.precedence)

    def end(self, url: str) -> None:
        lease = self._leases.pop(url, None)
        if lease is not None:
            score, offset, host, _ = self._rows[lease[0]]
            self.schedule.free(host)
            self._rows.changed[lease[0]] = score, offset, host, DONE
            self.files.hold(lease[0], 0.0)
            return
        number = self.files.find(url)
        if number is None or self._rows[number].state in UNKNOWN:
            host = self.host_of(url)
            number = self.files.new(url, host)
            self._rows.changed[number] = 0.0, self.files.urls.add(CrawlUrl(url, 0.0)), host, DONE
        else:
            self._leave(number, DONE)

    def forget(self, url: str) -> None:
        number = self._known(url)
        self._rows.changed[number] = self._rows[number]._replace(standing=GONE)
        self.files.hosts.known_urls[self._rows[number].host] -= 1

    def record_lines(self, lines: int) -> None:
        self.files.facts.history = lines
        self.files.note("history", lines)

    def evict(self, url: str | None, total: int) -> None:
        if url is not None:
            number = self._known(url)
            self._leave(number, GONE)
            self.files.hosts.known_urls[self._rows[number].host] -= 1
        if total != self.evicted:
            self.evicted = self.files.facts.evicted = total
            self.files.note("evicted", total)

    def pick(self, host: int) -> None:
        self.hosts.rule.pick(host, len(self._leases))
        self.files.note("pick", host)

    def give_back_pick(self, host: int) -> None:
        self.hosts.rule.give_back(host)
        self.files.note("unpick", host)

    def rest(self, host: int, until: float) -> None:
        self.schedule.rest(host, until)
        self.files.note("rest", host, until)

    def ask(self, name: str, seconds: float) -> None:
        number = self.host_named(name)
        self.politeness.crawl_delay(number, seconds)
        self.files.note("ask", number, seconds)

    def block(self, name: str, until: float) -> None:
        number = self.host_named(name)
        self._names[number] = name
        self.schedule.block(number, until)
        self.files.note("block", number, until, name)

    # ------------------------------------------------------------ inside

    def _known(self, url: str) -> int:
        number = self.files.find(url)
        if number is None:
            raise KeyError(url)
        return number

    def _return(self, number: int, not_before: float, score: float) -> None:
        """The URL is no longer leased."""
        row = self._rows[number]
        self.schedule.free(row.host)
        self.files.hold(number, not_before)
        self._rows.changed[number] = score, row.offset, row.host, with_state(row.standing, SHARED)

    def _leave(self, number: int, state: int) -> None:
        """The URL no longer waits. The queues are informed before its row changes."""
        row = self._rows[number]
        self._queues.leave(self._queues.entry(number))
        self._rows.changed[number] = row.score, row.offset, row.host, state
        self.files.hold(number, 0.0)

    def _replace(self, number: int, old: UrlRow, new: UrlRow, not_before: float) -> None:
        """Give a waiting URL another row or time. It keeps its place."""
        before = self._queues.entry_in(number, old)
        self.files.hold(number, not_before)
        self._rows.changed[number] = new
        self._queues.replace(before, self._queues.entry_in(number, new))

    def _recover(self, now: float, behind: float) -> None:
        """No process holds the leases any longer: their URLs wait again, and their hosts rest from ``now`` on.

        The clock was set back by ``behind`` seconds since, or perhaps by more. So every rest and block is shortened by that much,
        and limited to the longest possible one from ``now`` on.
        """
        facts = self.files.facts
        latest, latest_block = now + self.politeness.longest, now + self.politeness.longest_block
        for host, seconds in facts.asks.items():
            self.politeness.crawl_delay(host, seconds)
        facts.rests = {host: until - behind for host, until in facts.rests.items()}
        for host in self._queues.load(now):
            until = self.politeness.next_visit(host, now, 0.0)
            facts.rests[host] = max(until, facts.rests.get(host, until))
        for host in facts.picks:
            self.hosts.rule.pick(host, 0)
        for host, until in facts.rests.items():
            self.schedule.rest(host, min(until, latest))
        for host, (until, name) in facts.blocks.items():
            self._names[host] = name
            self.schedule.block(host, min(until - behind, latest_block))
        self.files.begin()

    def _host_facts(self) -> dict[str, Any]:
        """What the summary of the journal stores about hosts."""
        return {
            "picks": list(self.hosts.rule.picks()),
            "rests": list(self.hosts.clocks()),
            "asks": list(self.politeness.crawl_delays()),
            "blocks": [(host.name, host.blocked_until, self._names[host.name]) for host in self.hosts.blocked()],
        }
