"""A view of what Redis stores of a crawl, without being one of its workers; and its removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Never

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.base import UrlState
from crawlproject.frontier.redis.connection import Server
from crawlproject.frontier.redis.keys import CrawlKeys, clock_of
from crawlproject.frontier.redis.report import Report
from crawlproject.frontier.views.view import Counts
from crawlproject.records import CrawlUrl

_AT_ONCE = 500  # keys a call


class RedisView:
    """A ``FrontierView`` of ``crawl``, from the last reports of its workers. The URLs are in the workers' folders, and asking for
    them here raises ``BadCrawlDir``. Nothing is written, except by ``drain`` and ``clear``. Raises what ``redis`` raises.
    """

    kind = "redis"

    def __init__(self, server: Server, crawl: str) -> None:
        self._server = server
        self._keys = CrawlKeys(crawl)

    def counts(self) -> Counts:
        reports = [Report.load(content) for content in self._server.hvals(self._keys.reports)]
        totals = [
            sum(numbers) for numbers in zip(*((r.waiting, r.leases, r.hosts, r.evicted) for r in reports), strict=True)
        ]
        waiting, leases, hosts, evicted = totals or (0, 0, 0, 0)
        return Counts(waiting, leases, sum(map(int, self._server.hvals(self._keys.pages))), hosts, evicted)

    def waiting(self) -> Iterator[CrawlUrl]:
        self._elsewhere()

    def leased(self) -> Iterator[CrawlUrl]:
        self._elsewhere()

    def find(self, url: str) -> tuple[UrlState, CrawlUrl | None]:
        self._elsewhere()

    def _elsewhere(self) -> Never:
        wish = "its URLs are in the folders of its workers: name the crawl folder that holds workers/"
        raise BadCrawlDir(f"crawl {self._keys.crawl!r} in Redis", wish)

    def rests(self) -> Mapping[str, float]:
        """As the protocol says, but for the hosts of all crawls on the server."""
        now, found = float(self._server.time()[0]), {}
        prefix = clock_of("")
        for key in self._server.scan_iter(match=f"{prefix}*", count=_AT_ONCE):
            if self._server.get(key) == b"":
                found[key.decode().removeprefix(prefix)] = now + self._server.pttl(key) / 1000
        return found

    def blocks(self) -> Mapping[str, float]:
        return {}

    def crawl_delays(self) -> Mapping[str, float]:
        return {}

    def exists(self) -> bool:
        """Whether the server has a crawl of this name."""
        return bool(self._server.exists(self._keys.tokens))

    def workers(self) -> list[str]:
        """The workers that gave a sign of life recently, and have not ended."""
        now = self._server.time()[0]
        alive = {name.decode() for name in self._server.zrangebyscore(self._keys.alive, now, "+inf")}
        reports = self._server.hgetall(self._keys.reports)
        return sorted(
            name for name in alive if name.encode() in reports and not Report.load(reports[name.encode()]).is_away
        )

    def drain(self, worker: str) -> bool:
        """Let a worker give its hosts to the others, and end. False if there is no such worker, or it is leaving already.

        A worker that is not running counts as lost: the others take its hosts.
        """
        keys, server = self._keys, self._server
        joined = int(server.hget(keys.members, worker) or 0)
        if worker in self.workers():
            if joined > 0:
                server.hset(keys.members, worker, -int(server.incr(keys.epoch)))
        elif joined:
            server.hdel(keys.members, worker)
            server.hdel(keys.reports, worker)
            server.zrem(keys.alive, worker)
            server.hset(keys.reserved, worker, int(server.hget(keys.pages, worker) or 0))  # what it fetched is lost
            server.incr(keys.epoch)
        return joined > 0

    def clear(self) -> None:
        """Remove everything of this crawl, except the clocks of hosts: other crawls use them too."""
        for worker in self._server.hkeys(self._keys.tokens):
            self._server.unlink(self._keys.inbox(worker.decode()))
        for keys in _groups(self._server.scan_iter(match=f"{_escaped(self._keys.root)}:*", count=_AT_ONCE)):
            self._server.unlink(*keys)


def _groups(items: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(items)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _escaped(text: str) -> str:
    """A pattern that matches only this text."""
    return "".join(f"\\{letter}" if letter in "*?[]^-\\" else letter for letter in text)
