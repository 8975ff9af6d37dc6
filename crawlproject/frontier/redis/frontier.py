"""A frontier in a Redis server: the strict form, in which every operation waits for its answer.

The contract is in ``frontier.base``; the server's side of it is the script in ``lua/``. Workers that crawl use
``worker.RedisWorker``, which waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from os import urandom
from random import Random
from typing import Any

from crawlproject.frontier.base import BlockedHost, UrlState
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.connection import Server
from crawlproject.frontier.redis.message_log import MessageLog, digest, load_record
from crawlproject.frontier.redis.operations import (
    LAST,
    Head,
    Limits,
    SlotCounts,
    ask_due_of,
    block_of,
    blocks_of,
    by_head,
    counts_of,
    done_of,
    drop_of,
    due_of,
    hold_of,
    host_precedence_of,
    precedence_of,
    put_of,
    records_of,
    release_of,
    rescore_of,
    slot_of,
    take_of,
    taken_of,
    total_of,
)
from crawlproject.frontier.redis.script import FrontierRules, Operation, Script, check_slots, crawl_prefix
from crawlproject.records import CrawlUrl


class RedisFrontier:
    """A ``Frontier`` that any number of processes may have open at once, each under its own ``worker`` name.

    ``crawl`` names the crawl on the server; hosts are spread over ``slots`` by a stable hash. The number of slots is the
    server's, for all crawls, as these share the clocks of the hosts: ``BadSetting`` when it is another one. With one slot
    the order is exact; with more, the best of the slots is taken as they were known last, the hosts of other slots all count
    for the k rule, and each slot keeps the ceiling for itself, whoever is awake in others.

    The k rule, the floor and the ceiling are each worker's own; the class of a host is that of all workers, and is forgotten
    when one joins who is alone. What a worker of this name held before waits again from ``now`` on. Without a
    ``clock`` times are compared as they are given. With one, which shows what the caller means by a time, they travel as
    differences to it, and the clock of the server is used by all workers. Raises what ``redis`` raises.
    """

    def __init__(
        self,
        server: Server,
        crawl: str,
        worker: str,
        rules: FrontierRules,
        *,
        now: float,
        random: Random,
        slots: int = 1,
        clock: Callable[[], float] | None = None,
    ) -> None:
        check_slots(server, slots)
        self.slots = slots
        self._random = random
        self._rules = rules
        self._server = server
        self._crawl = crawl
        self._clock = clock
        self.token = urandom(8).hex()  # distinguishes this process from one that takes over its name
        self.script = Script(server, crawl, worker, self.token, rules)
        self.taken_with: list[bytes] = []  # messages that are attached to what was taken last
        self.limits = Limits()
        self._now = now
        self.messages = MessageLog(self.call, slots)
        self.picks: list[str] = []
        saved = [self.call(slot, [("begin", now)])[0] for slot in range(slots)]
        newest = max(saved, key=lambda text: float(text.partition(b"\n")[0] or "-inf"))
        self.picks = newest.decode().split("\n")[1:]

    # ------------------------------------------------------------ what is known

    def next_due(self, now: float) -> float | None:
        seed = self._random.getrandbits(31)
        counts = self._counts() if self.slots > 1 else [SlotCounts()]
        hosts = sum(count.ruled for count in counts)
        dues = []
        for slot in range(self.slots):
            operation = ask_due_of(now, self.picks, limits=self.limits, seed=seed)
            dues.append(due_of(self.call(slot, [operation], hosts_elsewhere=hosts - counts[slot].ruled)[0]))
        return min((due for due in dues if due is not None), default=None)

    def __len__(self) -> int:
        return self._total().waiting

    def __contains__(self, url: str) -> bool:
        return bool(self._one(url, ("state", digest(url))))

    def leased(self, url: str) -> CrawlUrl | None:
        found = self._one(url, ("record", digest(url)))
        return records_of(found[:4])[0] if found and found[4] else None

    def leases(self) -> int:
        return self._total().leases

    def waiting(self) -> Iterator[CrawlUrl]:
        for slot in range(self.slots):
            prefix = crawl_prefix(self._crawl, slot)
            for _, record in self._server.hscan_iter(f"{prefix}:records", count=1000):
                blob = record[16:].split(b"\n", 2)[2]
                found = self._one(url := load_record(blob, 0.0).key, ("record", digest(url)))
                if found and not found[4]:
                    yield records_of(found[:4])[0]

    def best(self) -> float | None:
        return self._total().best

    def hosts(self) -> int:
        return self._total().hosts

    def evicted(self) -> int:
        return self._total().evicted

    def blocked(self) -> Iterator[BlockedHost]:
        for slot in range(self.slots):
            yield from blocks_of(self.call(slot, [("blocked",)])[0])

    # ------------------------------------------------------------ what several workers ask besides

    def pages(self) -> int:
        """Pages stored by all workers."""
        return self._total().pages

    def states(self, urls: Iterable[str]) -> Mapping[str, UrlState]:
        """What is known of each URL, asked in batches."""
        groups: dict[int, list[str]] = {}
        for url in urls:
            groups.setdefault(slot_of(queue_of(url), self.slots), []).append(url)
        found: dict[str, UrlState] = {}
        for slot, some in groups.items():
            for start in range(0, len(some), 1000):
                part = some[start : start + 1000]
                answers = self.call(slot, [("state", digest(url)) for url in part])
                found.update(zip(part, (answer.decode() for answer in answers), strict=True))
        return found

    def attached(self) -> Iterator[bytes]:
        """The messages that are attached to URLs."""
        for slot in range(self.slots):
            for _, kept in self._server.hscan_iter(f"{crawl_prefix(self._crawl, slot)}:attached", count=1000):
                yield kept.partition(b"\n")[2]

    # ------------------------------------------------------------ calls

    def call(self, slot: int, operations: Sequence[Operation], hosts_elsewhere: int = 0) -> list[Any]:
        """One step of the script, see ``Script.call``."""
        sent = self._clock() if self._clock else None
        return self.script.call(slot, operations, sent=sent, hosts_elsewhere=hosts_elsewhere)

    def slot_of(self, host: str) -> int:
        return slot_of(host, self.slots)

    # ------------------------------------------------------------ what changes something

    def put(self, url: CrawlUrl) -> bool:
        return bool(self._one(url.key, put_of(url)) == 1)

    def put_many(self, urls: Iterable[CrawlUrl]) -> int:
        """One call for each slot that the URLs are of."""
        groups: dict[int, list[Operation]] = {}
        for url in urls:
            groups.setdefault(slot_of(queue_of(url.url), self.slots), []).append(put_of(url))
        return sum(self.call(slot, puts).count(1) for slot, puts in groups.items())

    def take(self, now: float) -> CrawlUrl | None:
        taken = self.take_many(now, 1)
        return taken[0] if taken else None

    def take_many(self, now: float, n: int) -> list[CrawlUrl]:
        """As many takes, until one gives None: in one call, or with several slots one after the other."""
        self._now = now
        if self.slots == 1:
            return self._take_from(0, now, n, 0)
        taken: list[CrawlUrl] = []
        while len(taken) < n and (url := self._take_from_best_slot(now)):
            taken.append(url)
        return taken

    def done(
        self, url: str, now: float, seconds: float, refetch_at: float | None = None, score: float | None = None
    ) -> None:
        self._one(url, done_of(url, now, seconds, refetch_at, score))

    def release(self, url: str, now: float, seconds: float, *, not_before: float = 0.0, picked: bool = True) -> None:
        if self._one(url, release_of(url, now, seconds, not_before)) and not picked:
            self.give_back_pick(url)

    def hold(self, url: str, until: float) -> bool:
        ended = self._one(url, hold_of(url, until))
        if ended == 1:
            self.give_back_pick(url)
        return bool(ended)

    def set_precedence(self, url: str, precedence: int) -> bool:
        """As the contract says. Raises ``ValueError`` for a class that there is not, as do all that have one."""
        ended = self._one(url, precedence_of(url, precedence))
        if ended == 1:
            self.give_back_pick(url)
        return bool(ended)

    def drop(self, url: str, *, picked: bool = False) -> None:
        if self._one(url, drop_of(url)) and not picked:
            self.give_back_pick(url)

    def rescore(self, url: str, score: float) -> bool:
        return bool(self._one(url, rescore_of(url, score)))

    def crawl_delay(self, host: str, seconds: float) -> None:
        self.call(slot_of(host, self.slots), [("delay", host, float(seconds))])

    def host_address(self, host: str, address: str) -> bool:
        """As the contract says, for the hosts of each slot by themselves."""
        return bool(self.call(slot_of(host, self.slots), [self.address_of(host, address)])[0])

    def address_of(self, host: str, address: str) -> Operation:
        """The operation behind ``host_address``."""
        return ("address", host, address, self._clock() if self._clock else self._now)

    def visit(self, host: str, now: float, beside: str = "") -> float:
        """As the contract says, for all workers."""
        return float(self.call(slot_of(host, self.slots), [("visit", host, beside, now)])[0])

    def visited(self, host: str, now: float, seconds: float) -> None:
        self.call(slot_of(host, self.slots), [("visited", host, now, seconds)])

    def block_host(self, host: str, until: float) -> None:
        self.call(slot_of(host, self.slots), [block_of(host, until)])

    def set_floor(self, floor: float, spare: float | None = None) -> None:
        """As the contract says. Raises ``ValueError`` for a score that is NaN. The server is told with each take."""
        self.limits = self.limits.with_floor(floor, spare)

    def set_ceiling(self, precedence: int) -> None:
        """As the contract says. The server is told with each take."""
        self.limits = self.limits.with_ceiling(precedence)

    def set_host_precedence(self, host: str, precedence: int) -> None:
        """As the contract says, for all workers."""
        self.call(slot_of(host, self.slots), [host_precedence_of(host, precedence)])

    def batch(self) -> AbstractContextManager[None]:
        """Each operation is a step of its own here: whoever needs one step makes one call of several operations."""
        return nullcontext()

    def close(self) -> None:
        """What is still held waits again at once. Nothing is deleted."""
        now = self._clock() if self._clock else self._server_time()
        for slot in range(self.slots):
            self.call(slot, [("end", now)])
        self._server.close()

    def give_back_pick(self, url: str) -> None:
        """Strike out the last pick of the URL's host."""
        host = queue_of(url)
        for place in range(len(self.picks) - 1, -1, -1):
            if self.picks[place] == host:
                del self.picks[place]
                return

    def trim_picks(self, leases: int) -> None:
        """Forget picks that are so old that they cannot bar a host any more, whatever of ``leases`` is given back."""
        del self.picks[: -(self._rules.batch_size + leases)]

    # ------------------------------------------------------------ inside

    def _one(self, url: str, operation: Operation) -> Any:
        return self.call(slot_of(queue_of(url), self.slots), [operation])[0]

    def _total(self) -> SlotCounts:
        return total_of(self._counts())

    def _counts(self) -> list[SlotCounts]:
        return [counts_of(self.call(slot, [("counts",)])[0]) for slot in range(self.slots)]

    def _take_from_best_slot(self, now: float) -> CrawlUrl | None:
        """From the slot with the best URL, or the next best that gives one; the best of a slot may have to wait."""
        counts = self._counts()
        hosts = sum(count.ruled for count in counts)
        slots = by_head(counts)
        for slot, last in [*slots, *((slot, LAST) for slot, last in slots if last < LAST)]:
            for url in self._take_from(slot, now, 1, hosts - counts[slot].ruled, last):
                return url
        return None

    def _take_from(self, slot: int, now: float, n: int, hosts_elsewhere: int, last: Head = LAST) -> list[CrawlUrl]:
        seed = self._random.getrandbits(31)
        operation = take_of(now, n, self.picks, limits=self.limits, seed=seed, last=last)
        taken, self.taken_with = taken_of(self.call(slot, [operation], hosts_elsewhere)[0])
        self.picks += [queue_of(url.url) for url in taken]
        if len(self.picks) > 2 * self._rules.batch_size:
            self.trim_picks(self.leases())
        return taken

    def _server_time(self) -> float:
        seconds, microseconds = self._server.time()
        return float(seconds) + microseconds / 1e6
