"""Looking into a frontier in Redis without being one of its workers, and removing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from crawlproject.frontier.base import UrlState
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.connection import Server
from crawlproject.frontier.redis.message_log import digest, load_record
from crawlproject.frontier.redis.operations import counts_of, records_of, slot_of, total_of
from crawlproject.frontier.redis.script import SLOTS, FrontierRules, Script, crawl_prefix, shared_prefix
from crawlproject.frontier.views.view import Counts
from crawlproject.records import ACTIVE, CrawlUrl

Item = TypeVar("Item")

_AT_ONCE = 500  # keys or fields a call


class RedisView:
    """A ``FrontierView`` of crawl ``crawl``. Nothing is written. Raises what ``redis`` raises."""

    kind = "redis"

    def __init__(self, server: Server, crawl: str) -> None:
        self._server = server
        self._crawl = crawl
        self.slots = slots_of(server)
        self._script = Script(server, crawl, "", "", FrontierRules())

    def counts(self) -> Counts:
        each = [counts_of(self._script.call(slot, [("counts",)])[0]) for slot in range(self.slots)]
        total = total_of(each)
        done = total.seen - total.waiting - total.leases
        return Counts(total.waiting, total.leases, done, total.hosts, total.evicted)

    def waiting(self) -> Iterator[CrawlUrl]:
        for slot in range(self.slots):
            prefix = crawl_prefix(self._crawl, slot)
            leases = set(self._server.hkeys(f"{prefix}:leases"))
            arrivals = sorted(set(self._server.hkeys(f"{prefix}:records")) - leases)
            for some in _groups(arrivals):
                records = [_parts(record) for record in self._server.hmget(f"{prefix}:records", some) if record]
                scores = self._server.pipeline(transaction=False)
                for arrival, (host, _, precedence, _) in zip(some, records, strict=False):
                    of_class = "" if precedence == ACTIVE else precedence
                    for queue in ("queue", "held"):
                        scores.zscore(f"{prefix}:{queue}{of_class}:{host}", arrival)
                answers = scores.execute()
                for (_, not_before, precedence, blob), *ranks in zip(records, answers[::2], answers[1::2], strict=True):
                    rank = next((rank for rank in ranks if rank is not None), None)
                    if rank is not None:
                        yield load_record(blob, 0.0 - rank, not_before, precedence)

    def leased(self) -> Iterator[CrawlUrl]:
        for slot in range(self.slots):
            prefix = crawl_prefix(self._crawl, slot)
            for arrival, lease in self._server.hgetall(f"{prefix}:leases").items():
                record = self._server.hget(f"{prefix}:records", arrival)
                if record:
                    _, not_before, precedence, blob = _parts(record)
                    yield load_record(blob, 0.0 - float(lease.split(b"\n", 1)[0]), not_before, precedence)

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        slot = slot_of(queue_of(url), self.slots)
        state, record = self._script.call(slot, [("state", digest(url)), ("record", digest(url))])
        return state.decode(), records_of(record[:4])[0] if record else None

    def rests(self) -> Mapping[str, float]:
        """By the clock of the server, for all crawls in it."""
        found: dict[str, float] = {}
        for slot in range(self.slots):
            clocks = self._server.zrange(f"{shared_prefix(slot)}:clock", 0, -1, withscores=True)
            found.update((host.decode(), due) for host, due in clocks)
        return found

    def blocks(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for slot in range(self.slots):
            blocks = self._server.zrange(f"{crawl_prefix(self._crawl, slot)}:blocked", 0, -1, withscores=True)
            found.update((host.decode(), until) for host, until in blocks)
        return found

    def crawl_delays(self) -> Mapping[str, float]:
        found: dict[str, float] = {}
        for slot in range(self.slots):
            delays = self._server.hgetall(f"{shared_prefix(slot)}:delay")
            found.update((host.decode(), float(seconds)) for host, seconds in delays.items())
        return found

    def exists(self) -> bool:
        """Whether a crawl of this name is in the server."""
        return any(self._server.exists(f"{crawl_prefix(self._crawl, slot)}:workers") for slot in range(self.slots))

    def workers(self) -> list[str]:
        """The workers that called lately."""
        now = self._server.time()[0]
        alive: set[str] = set()
        for slot in range(self.slots):
            root = crawl_prefix(self._crawl, slot)
            for who in self._server.zrangebyscore(f"{shared_prefix(slot)}:alive", now, "+inf"):
                crawl, _, worker = who.decode().partition("\n")
                if crawl == root:
                    alive.add(worker)
        return sorted(alive)

    def clear(self) -> None:
        """Remove everything of this crawl. The clocks of hosts stay: they are not the crawl's alone."""
        for slot in range(self.slots):
            root, shared = crawl_prefix(self._crawl, slot), shared_prefix(slot)
            for host, holder in self._server.hgetall(f"{shared}:busy").items():
                if holder.decode().partition("\n")[0] == root:
                    self._server.hdel(f"{shared}:busy", host)
            for who in self._server.zrange(f"{shared}:alive", 0, -1):
                if who.decode().partition("\n")[0] == root:
                    self._server.zrem(f"{shared}:alive", who)
            for keys in _groups(self._server.scan_iter(match=f"{_escaped(root)}:*", count=_AT_ONCE)):
                self._server.unlink(*keys)


def slots_of(server: Server) -> int:
    """The number of slots that the server's crawls are spread over."""
    return int(server.get(SLOTS) or 1)


def _parts(record: bytes) -> tuple[str, float, int, bytes]:
    """Host, time to come, class and what the client wrote; see ``parts_of`` in ``lua/4_urls.lua``."""
    host, fields, blob = record[16:].split(b"\n", 2)
    time, _, precedence = fields.partition(b" ")
    return host.decode(), float(time or 0), int(precedence, 16) if precedence else ACTIVE, blob


def _groups(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _escaped(text: str) -> str:
    """The text as a pattern that matches nothing else."""
    return "".join(f"\\{letter}" if letter in "*?[]^-\\" else letter for letter in text)
