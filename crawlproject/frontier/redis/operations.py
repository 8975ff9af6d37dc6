"""The operations of the script as the client writes them (``lua/6_operations.lua``), and what their answers mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from crawlproject.frontier.base import BlockedHost
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.codec import digest, dump_record, load_record
from crawlproject.frontier.redis.script import Operation
from crawlproject.records import CrawlUrl


def put_of(url: CrawlUrl) -> Operation:
    """Raises ``ValueError`` for a score that is NaN or a ``not_before`` that is not finite."""
    if url.score != url.score or not math.isfinite(url.not_before):
        raise ValueError(f"cannot queue score {url.score!r}, not_before {url.not_before!r}: {url.url!r}")
    return ("put", digest(url.key), queue_of(url.url), -url.score, url.not_before, dump_record(url))


def done_of(
    url: str, at: float, seconds: float, refetch_at: float | None = None, score: float | None = None
) -> Operation:
    """Raises ``ValueError`` when ``refetch_at`` is not finite, or ``score`` is NaN."""
    again = "" if refetch_at is None else _finite(refetch_at, url)
    return ("done", digest(url), queue_of(url), at, seconds, again, "" if score is None else _rank(score, url))


def release_of(url: str, at: float, seconds: float, not_before: float) -> Operation:
    """Raises ``ValueError`` when ``not_before`` is not finite."""
    return ("release", digest(url), queue_of(url), at, seconds, _finite(not_before, url))


def hold_of(url: str, until: float, *, waits: bool = False) -> Operation:
    """``waits``: only when the URL is not leased. Raises ``ValueError`` when ``until`` is not finite."""
    return ("hold", digest(url), queue_of(url), _finite(until, url), int(waits))


def block_of(host: str, until: float) -> Operation:
    """Raises ``ValueError`` when ``until`` is not finite."""
    return ("block", host, _finite(until, host))


def drop_of(url: str, *, waits: bool = False) -> Operation:
    """``waits``: only when the URL is not leased."""
    return ("drop", digest(url), queue_of(url), int(waits))


def rescore_of(url: str, score: float) -> Operation:
    """Raises ``ValueError`` when ``score`` is NaN."""
    return ("rescore", digest(url), queue_of(url), _rank(score, url))


class Floors:
    """The scores from which a host is active, and spare, for one worker. What one slot lowers the second to is kept for it."""

    def __init__(self, floor: float = -math.inf, spare: float | None = None) -> None:
        """Raises ``ValueError`` for a score that is NaN."""
        spare = floor if spare is None else spare
        if floor != floor or spare != spare:
            raise ValueError(f"a floor must be a number, got {floor!r} and {spare!r}")
        self._ranks = 0.0 - floor, 0.0 - spare
        self._lowered: dict[int, float] = {}

    def of(self, slot: int) -> tuple[float, float]:
        """As ranks."""
        return self._ranks[0], self._lowered.get(slot, self._ranks[1])

    def lower(self, slot: int, spare: float) -> None:
        """The slot has lowered the second to this rank."""
        self._lowered[slot] = spare


def take_of(
    now: float,
    n: int,
    picks: list[str],
    *,
    floors: tuple[float, float] = (math.inf, math.inf),
    seed: int = 0,
    last: float = math.inf,
    question: int = 0,
    again: bool = False,
) -> Operation:
    """``last``: only URLs of this rank or a lesser one. ``question`` numbers the call, so that it can be asked again."""
    return ("take", now, n, last, *floors, seed, question, int(again), "\n".join(picks))


def taken_of(answer: list[bytes]) -> tuple[list[CrawlUrl], list[bytes], float]:
    """What a take brought, the messages that are attached to it, and the spare floor, which it may have lowered."""
    *leases, spare = answer
    told = leases[3::4]
    del leases[3::4]
    return records_of(leases), [message for message in told if message], float(spare)


def attach_of(url: str, message: bytes, number: float) -> Operation:
    """Raises ``ValueError`` when ``number`` is not finite."""
    return ("attach", digest(url), _finite(number, url), message)


def pace_of(question: str, now: float, n: int, rate: float, burst: int) -> Operation:
    """``question`` tells this call from all others of the crawl, so that it can be asked again."""
    return ("pace", question, now, n, rate, burst)


def ask_due_of(now: float, picks: list[str], *, floors: tuple[float, float], seed: int = 0) -> Operation:
    return ("due", now, *floors, seed, "\n".join(picks))


def due_of(answer: list[bytes]) -> tuple[float | None, float]:
    """When a take may succeed, and the spare floor, which the question may have lowered."""
    due, spare = answer
    return float(due) if due else None, float(spare)


def records_of(answer: list[bytes]) -> list[CrawlUrl]:
    """What the server says of URLs."""
    thirds = zip(answer[::3], answer[1::3], answer[2::3], strict=True)
    return [load_record(blob, 0.0 - float(rank), float(not_before)) for rank, not_before, blob in thirds]


def counts_of(answer: list[Any]) -> tuple[int, int, int, int, int, int, float | None]:
    """waiting, leases, hosts, evicted, pages, seen, and the rank of the best or None."""
    *numbers, best = answer
    waiting, leases, hosts, evicted, pages, seen = map(int, numbers)
    return waiting, leases, hosts, evicted, pages, seen, float(best) if best else None


def blocks_of(answer: list[bytes]) -> Iterator[BlockedHost]:
    """What ``blocked`` brought."""
    for host, until, rank in zip(answer[::3], answer[1::3], answer[2::3], strict=True):
        yield BlockedHost(host.decode(), float(until), 0.0 - float(rank) if rank else None)


def slot_of(host: str, slots: int) -> int:
    """The slot of a host: the same in every process."""
    return int.from_bytes(digest(host)[:4], "big") % slots if slots > 1 else 0


def _rank(score: float, url: str) -> float:
    if score != score:
        raise ValueError(f"a score must be a number, got {score!r}: {url!r}")
    return -float(score)


def _finite(until: float, name: str) -> float:
    if not math.isfinite(until):
        raise ValueError(f"a time to wait for must be finite, got {until!r}: {name!r}")
    return float(until)
