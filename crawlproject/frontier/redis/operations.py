"""The operations of the script as the client writes them (``lua/6_operations.lua``), and what their answers mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from crawlproject.frontier.base import BlockedHost
from crawlproject.frontier.host_queue import queue_of
from crawlproject.frontier.redis.message_log import digest, dump_record, load_record
from crawlproject.frontier.redis.script import Operation
from crawlproject.records import WASTE, CrawlUrl


def put_of(url: CrawlUrl) -> Operation:
    """Raises ``ValueError`` for a score that is NaN, a ``not_before`` that is not finite, or a class that there is not."""
    if url.score != url.score or not math.isfinite(url.not_before):
        raise ValueError(f"cannot queue score {url.score!r}, not_before {url.not_before!r}: {url.url!r}")
    precedence = _class(url.precedence, url.url)
    return ("put", digest(url.key), queue_of(url.url), -url.score, url.not_before, precedence, dump_record(url))


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


def precedence_of(url: str, precedence: int, *, waits: bool = False) -> Operation:
    """``waits``: only when the URL is not leased. Raises ``ValueError`` for a class that there is not."""
    return ("precedence", digest(url), queue_of(url), _class(precedence, url), int(waits))


def host_precedence_of(host: str, precedence: int) -> Operation:
    """Raises ``ValueError`` for a class that there is not."""
    return ("host_precedence", host, _class(precedence, host))


def block_of(host: str, until: float) -> Operation:
    """Raises ``ValueError`` when ``until`` is not finite."""
    return ("block", host, _finite(until, host))


def drop_of(url: str, *, waits: bool = False) -> Operation:
    """``waits``: only when the URL is not leased."""
    return ("drop", digest(url), queue_of(url), int(waits))


def rescore_of(url: str, score: float) -> Operation:
    """Raises ``ValueError`` when ``score`` is NaN."""
    return ("rescore", digest(url), queue_of(url), _rank(score, url))


class Limits(NamedTuple):
    """What one worker takes, and what first: the ranks up to which a host is active, and spare, and the ceiling."""

    floor: float = math.inf
    spare: float = math.inf
    ceiling: int = WASTE

    def with_floor(self, floor: float, spare: float | None) -> Limits:
        """With these scores. Raises ``ValueError`` for one that is NaN."""
        spare = floor if spare is None else spare
        if floor != floor or spare != spare:
            raise ValueError(f"a floor must be a number, got {floor!r} and {spare!r}")
        return self._replace(floor=0.0 - floor, spare=0.0 - spare)

    def with_ceiling(self, precedence: int) -> Limits:
        """Raises ``ValueError`` for a class that there is not."""
        return self._replace(ceiling=_class(precedence, "the ceiling"))


UNLIMITED = Limits()


class Head(NamedTuple):
    """A place in the order of URLs: class and rank."""

    precedence: int
    rank: float


LAST = Head(WASTE, math.inf)  # of all


class SlotCounts(NamedTuple):
    """What a slot counts. ``ruled``: hosts of the k rule, a floor aside.

    ``first`` is the first URL that waits, held or not, in its own class; ``head`` the first that may be taken, in the class of
    its host. None: there is none.
    """

    first: Head | None = None
    head: Head | None = None
    waiting: int = 0
    leases: int = 0
    hosts: int = 0
    evicted: int = 0
    pages: int = 0
    seen: int = 0
    ruled: int = 0

    @property
    def best(self) -> float | None:
        """The score of the first URL that waits, or None."""
        return None if self.first is None else 0.0 - self.first.rank


def total_of(slots: Sequence[SlotCounts]) -> SlotCounts:
    """What all slots count."""
    firsts, heads, *numbers = zip(*slots, strict=True)
    return SlotCounts(_least(firsts), _least(heads), *map(sum, numbers))


def _least(heads: Iterable[Head | None]) -> Head | None:
    return min((head for head in heads if head is not None), default=None)


def by_head(slots: Sequence[SlotCounts]) -> list[tuple[int, Head]]:
    """The slots, those with the best heads first, each with the head of the next: so far its URLs are known to be best."""
    heads = sorted((count.head or LAST, slot) for slot, count in enumerate(slots))
    lasts = [head for head, _ in heads[1:]] + [LAST]
    return [(slot, last) for (_, slot), last in zip(heads, lasts, strict=True)]


def take_of(
    now: float,
    n: int,
    picks: list[str],
    *,
    limits: Limits = UNLIMITED,
    seed: int = 0,
    last: Head = LAST,
    question: int = 0,
    again: bool = False,
) -> Operation:
    """``last``: no URLs after it. ``question`` numbers the call, so that it can be asked again."""
    return ("take", now, n, *last, *limits, seed, question, int(again), "\n".join(picks))


def taken_of(answer: list[bytes]) -> tuple[list[CrawlUrl], list[bytes]]:
    """What a take brought, and the messages that are attached to it."""
    messages = answer[4::5]
    del answer[4::5]
    return records_of(answer), [message for message in messages if message]


def attach_of(url: str, message: bytes, number: float) -> Operation:
    """Raises ``ValueError`` when ``number`` is not finite."""
    return ("attach", digest(url), _finite(number, url), message)


def pace_of(question: str, now: float, n: int, rate: float, burst: int) -> Operation:
    """``question`` tells this call from all others of the crawl, so that it can be asked again."""
    return ("pace", question, now, n, rate, burst)


def ask_due_of(now: float, picks: list[str], *, limits: Limits, seed: int = 0) -> Operation:
    return ("due", now, *limits, seed, "\n".join(picks))


def due_of(answer: bytes) -> float | None:
    """When a take may succeed."""
    return float(answer) if answer else None


def records_of(answer: list[bytes]) -> list[CrawlUrl]:
    """What the server says of URLs."""
    quarters = zip(answer[::4], answer[1::4], answer[2::4], answer[3::4], strict=True)
    return [
        load_record(blob, 0.0 - float(rank), float(not_before), int(precedence))
        for rank, not_before, precedence, blob in quarters
    ]


def counts_of(answer: list[Any]) -> SlotCounts:
    """What ``counts`` brought."""
    *numbers, first, rank, head, rank_of_head = answer
    return SlotCounts(_head(first, rank), _head(head, rank_of_head), *map(int, numbers))


def _head(precedence: bytes, rank: bytes) -> Head | None:
    return Head(int(precedence), float(rank)) if precedence else None


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


def _class(precedence: int, name: str) -> int:
    if not 0 <= precedence <= WASTE:
        raise ValueError(f"a precedence class must be one of 0 to {WASTE}, got {precedence!r}: {name!r}")
    return precedence


def _finite(until: float, name: str) -> float:
    if not math.isfinite(until):
        raise ValueError(f"a time to wait for must be finite, got {until!r}: {name!r}")
    return float(until)
