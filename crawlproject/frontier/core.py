"""The decisions of a frontier in one process. Its store keeps the URLs, and knows what each change does to them.

The contract is in ``base``. Every decision reads the store and then changes it, so the frontiers in memory, with a journal
and on disk decide alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from crawlproject.frontier.changes import best_of_paths
from crawlproject.frontier.checks import refuse_class, refuse_endless, refuse_nan
from crawlproject.frontier.url_store import UrlStore
from crawlproject.records import WASTE, CrawlUrl

_STEP = 4096  # URLs of a long ``put_many`` that become durable together


class FrontierCore:
    """A ``Frontier`` over a store. The store itself answers the calls that change nothing. ``resting`` counts the hosts with
    waiting URLs that may not be visited yet, O(1).

    ``max_urls``: how many waiting URLs are kept, the best ones, apart from a batch of Best-N-First; 0: no limit.
    ``newcomers_stay``: a newcomer replaces the worst URL whatever its own score, as in paper 001 Figure 1. Every operation that
    changes something may raise what the store's ``commit`` raises. The change has then happened in memory, and becomes durable
    with the next commit that succeeds.
    """

    def __init__(self, store: UrlStore, max_urls: int, *, newcomers_stay: bool = False) -> None:
        self._store = store
        self.leased = store.lease_of
        self.leases = store.count_leases
        self.waiting = store.waiting
        self.waiting_groups = store.waiting_groups
        self.finished = store.finished_urls
        self.state_of = store.state_of
        self.best = store.best
        self.blocked = store.blocked
        self.busiest = store.busiest
        self.next_due = store.schedule.next_due
        self.resting = store.hosts.resting
        self._limit = max_urls or math.inf
        self._is_bounded = max_urls > 0
        self._newcomers_stay = newcomers_stay
        self._in_batch = False

    def __len__(self) -> int:
        return self._store.count_waiting()

    def __contains__(self, url: str) -> bool:
        return self._store.state_of(url) != ""

    def hosts(self) -> int:
        return self._store.hosts.total

    def evicted(self) -> int:
        return self._store.evicted

    # ------------------------------------------------------------ URLs come and change

    def put(self, url: CrawlUrl) -> bool:
        """As the contract says.

        Raises ``ValueError`` for a score that is NaN, a ``not_before`` that is not finite, or a class that does not exist. A
        newcomer that a full frontier refuses does not count as evicted.
        """
        new = self._put(url)
        if not self._in_batch:
            self._store.commit()
        return new

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        """As the contract says. Outside a batch, every few thousand URLs are one atomic step."""
        new = 0
        for number, url in enumerate(urls, start=1):
            new += self._put(url)
            if number % _STEP == 0:
                self._commit()
        self._commit()
        return new

    def rescore(self, url: str, score: float) -> bool:
        """As the contract says. Raises ``ValueError`` when ``score`` is NaN."""
        refuse_nan(url, score)
        old = self._store.score_of(url)
        if old is None:
            return False
        if score != old:
            self._store.rescore(url, score)
            self._commit()
        return True

    def hold(self, url: str, until: float) -> bool:
        """As the contract says. Raises ``ValueError`` if ``until`` is not finite."""
        refuse_endless(url, until)
        state = self._store.state_of(url)
        if state == "leased":
            self._return(url, until, picked=False)
        elif state == "waiting":
            self._store.hold(url, until)
            self._evict_surplus()
            self._commit()
        else:
            return False
        return True

    def set_precedence(self, url: str, precedence: int) -> bool:
        """As the contract says. Raises ``ValueError`` for a class that does not exist."""
        refuse_class(url, precedence)
        store = self._store
        state = store.state_of(url)
        if state == "leased":
            store.give_back_pick(store.host_of(url))
            store.give_back(url, 0.0)
        elif state != "waiting":
            return False
        if store.record_of(url).precedence != precedence:
            store.set_precedence(url, precedence)
        self._evict_surplus()
        self._commit()
        return True

    @property
    def history_lines(self) -> int:
        return self._store.history_lines

    def record_lines(self, lines: int) -> None:
        self._store.record_lines(lines)

    def forget(self, url: str) -> None:
        """As the contract says."""
        if self._store.state_of(url) == "done":
            self._store.forget(url)
            self._commit()

    def clear(self) -> None:
        """Evict all waiting URLs; they may be put again. Host clocks, leases, and URLs that are done stay as they are."""
        for url in list(self._store.waiting()):
            self._evict(url)
        self._commit()

    # ------------------------------------------------------------ leases

    def take(self, now: float) -> CrawlUrl | None:
        store = self._store
        entry = store.schedule.choose(now)
        if entry is None:
            return None
        record = store.chosen(entry)
        store.lease(record.key)
        store.pick(entry.host)
        if not self._in_batch:
            store.commit()
        return record

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        """As the contract says. Raises ``ValueError`` if ``refetch_at`` is not finite, or ``score`` is NaN."""
        if refetch_at is not None:
            refuse_endless(url, refetch_at)
            refuse_nan(url, score)
        store = self._store
        state = store.state_of(url)
        if state != "done":
            host = store.host_of(url)
            store.rest(host, store.politeness.next_visit(host, now, seconds))
            if refetch_at is not None and state:
                self._wait_again(url, refetch_at, score)
            else:
                store.end(url)
            if not self._in_batch:
                store.commit()

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        """As the contract says; does nothing without a lease. Raises ``ValueError`` if ``not_before`` is not finite.

        In a full frontier, the URL may be evicted at once if it is the worst.
        """
        refuse_endless(url, not_before)
        if self._store.state_of(url) == "leased":
            host = self._store.host_of(url)
            self._store.rest(host, self._store.politeness.next_visit(host, now, seconds))
            self._return(url, not_before, picked)

    def drop(self, url: str, *, picked: bool = False) -> None:
        """As the contract says. Without a lease, the URL just becomes known."""
        state = self._store.state_of(url)
        if state == "done":
            return
        if state == "leased" and not picked:
            self._store.give_back_pick(self._store.host_of(url))
        self._store.end(url)
        self._commit()

    # ------------------------------------------------------------ hosts

    def crawl_delay(self, host: str, seconds: float) -> None:
        """As the contract says. A value that is not finite and positive counts as 0 (robots.txt is written by strangers)."""
        asked = seconds if 0.0 < seconds < math.inf else 0.0
        if asked != self._store.politeness.asked(self._store.host_named(host)):
            self._store.ask(host, asked)
        self._commit()

    def host_address(self, host: str, address: str) -> bool:
        """As the contract says. The address is not durable."""
        free: bool = self._store.schedule.set_address(self._store.host_named(host), address)
        return free

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """As the contract says."""
        store = self._store
        key = store.host_named(host)
        if beside and store.hosts.are_one(key, store.host_named(beside)):
            return now
        opens = store.hosts.opens(key, now)
        if opens <= now:
            store.schedule.lease(key)
        return opens

    def visited(self, host: str, now: float, seconds: float) -> None:
        """As the contract says."""
        store = self._store
        key = store.host_named(host)
        store.schedule.free(key)
        store.rest(key, store.politeness.next_visit(key, now, seconds))
        self._commit()

    def rest_host(self, host: str, until: float) -> None:
        """Do not visit the host before ``until``, nor before the end of an earlier rest: another worker has visited it."""
        self._store.rest(self._store.host_named(host), until)
        self._commit()

    def record(self, url: str) -> CrawlUrl | None:
        """The record of a URL that waits, or None."""
        return self._store.record_of(url) if self._store.state_of(url) == "waiting" else None

    def next_visit(self, host: str, now: float, seconds: float) -> float:
        """When the host may be visited again after a visit that ends ``now`` and took ``seconds``."""
        return self._store.politeness.next_visit(self._store.host_named(host), now, seconds)

    def block_host(self, host: str, until: float) -> None:
        """As the contract says. Raises ``ValueError`` if ``until`` is not finite."""
        refuse_endless(host, until)
        self._store.block(host, until)
        self._commit()

    def set_floor(self, floor: float, spare: float | None = None) -> None:
        """As the contract says. Raises ``ValueError`` for a score that is NaN. The floors are not durable."""
        spare = floor if spare is None else spare
        if floor != floor or spare != spare:
            raise ValueError(f"a floor must be a number, got {floor!r} and {spare!r}")
        self._store.schedule.set_floor(floor, spare)

    def set_host_precedence(self, host: str, precedence: int) -> None:
        """As the contract says. Raises ``ValueError`` for a class that does not exist."""
        refuse_class(host, precedence)
        self._store.schedule.set_host_precedence(self._store.host_named(host), precedence)

    def set_ceiling(self, precedence: int) -> None:
        """As the contract says. Raises ``ValueError`` for a class that does not exist."""
        refuse_class("ceiling", precedence)
        self._store.schedule.set_ceiling(precedence)

    def set_awake_elsewhere(self, precedence: int | None) -> None:
        """Set the lowest class of an awake host in the other frontiers of the crawl, for the limit of a take."""
        self._store.schedule.set_awake_elsewhere(precedence)

    def lowest_awake(self) -> int | None:
        """The lowest class that has an awake host."""
        lowest: int | None = self._store.schedule.lowest_awake()
        return lowest

    # ------------------------------------------------------------ steps

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make the calls inside one atomic step. If the block raises, the calls made until then still take effect."""
        self._in_batch = True
        try:
            yield
        finally:
            self._in_batch = False
            self._store.commit()

    def close(self) -> None:
        self._store.close()

    # ------------------------------------------------------------ inside

    def _put(self, url: CrawlUrl) -> bool:
        score, store = url.score, self._store
        if score != score or not math.isfinite(url.not_before):
            raise ValueError(f"cannot queue score {score!r}, not_before {url.not_before!r}: {url.url!r}")
        if not 0 <= url.precedence <= WASTE:
            refuse_class(url.url, url.precedence)
        state = store.state_of(url.key)
        if state == "waiting":
            old = store.record_of(url.key)
            best = best_of_paths(old, url)
            if best is not old:
                store.wait(best)
                self._evict_surplus()
        if state:
            return False
        if self._is_bounded and store.count_buffered() >= self._limit:
            worst = store.worst()
            if worst is None or url.precedence > worst.precedence:
                return False
            if url.precedence == worst.precedence and score <= worst.score and not self._newcomers_stay:
                return False
            self._evict(worst)
        store.wait(url)
        return True

    def _return(self, url: str, not_before: float, picked: bool) -> None:
        if not picked:
            self._store.give_back_pick(self._store.host_of(url))
        self._store.give_back(url, not_before)
        self._evict_surplus()
        self._commit()

    def _wait_again(self, url: str, refetch_at: float, score: float | None) -> None:
        """Let a URL that was leased or waiting wait for its next visit."""
        store = self._store
        lease = store.lease_of(url)
        old = lease or store.record_of(url)
        score = old.score if score is None else score
        if lease:
            store.refetch(url, refetch_at, score)
        else:
            store.wait(replace(old, score=score, not_before=refetch_at))
        self._evict_surplus()

    def _evict_surplus(self) -> None:
        while self._store.count_buffered() > self._limit and (worst := self._store.worst()):
            self._evict(worst)

    def _evict(self, worst: CrawlUrl) -> None:
        self._store.evict(worst.key, self._store.evicted + 1)

    def _commit(self) -> None:
        if not self._in_batch:
            self._store.commit()
