"""Random operations on a frontier: the same sequence for the same seed, whatever the frontier."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from crawlproject.frontier.base import Frontier
from crawlproject.records import ACTIVE, INACTIVE, REPETITIVE, SPARE, UNINFORMATIVE, WASTE, CrawlUrl
from crawlproject.urls.post import post_url

_CLASSES = [each for each in range(WASTE + 1) if each not in (UNINFORMATIVE, REPETITIVE)]  # two differ in number only


def url(path: str, score: float = 0.0, **fields: Any) -> CrawlUrl:
    """``a/1`` is page 1 of host a."""
    host, _, page = path.partition("/")
    return CrawlUrl(f"http://{host}.test/{page}", score, **fields)


class Step(NamedTuple):
    """``name`` of an operation and its arguments; ``lease`` picks an open lease in place of a URL."""

    name: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = MappingProxyType({})
    lease: float | None = None

    @property
    def has_classes(self) -> bool:
        """Whether this step can set a ceiling or a class other than ``ACTIVE``."""
        if self.name == "put":
            return bool(self.arguments[0].precedence != ACTIVE)
        return self.name in ("set_precedence", "set_host_precedence", "set_ceiling")


def random_steps(
    seed: int, *, hosts: int = 40, pages: int = 60, floors: float = 0.0, classes: float = 0.0
) -> Iterator[Step]:
    """Yield operations without end. Scores and URLs are few, so that operations often meet. Some URLs stand for a POST.

    ``floors`` is the share of steps that set a floor, ``classes`` of steps that change a precedence class or the ceiling.
    With floors, no step gives a URL or a host a class that only floors may give.
    """
    random = Random(seed)
    now = 0.0

    def some_url() -> str:
        place, page = f"http://h{int(random.paretovariate(0.6)) % hosts}.test", random.randrange(pages)
        return post_url(f"{place}/{page % 7}", f"q={page}") if page % 5 == 4 else f"{place}/{page}"

    def some_class() -> int:
        precedence = random.choice([ACTIVE, _CLASSES[random.randrange(len(_CLASSES))]])
        return ACTIVE if floors and precedence in (SPARE, INACTIVE) else precedence

    def class_step() -> Step:
        kind = random.random()
        if kind < 0.4:
            return Step("set_precedence", (some_url(), some_class()))
        if kind < 0.5:
            return Step("set_precedence", (some_class(),), lease=random.random())
        if kind < 0.8:
            return Step("set_host_precedence", (f"h{random.randrange(hosts)}.test", some_class()))
        return Step("set_ceiling", (random.choice([WASTE, _CLASSES[random.randrange(len(_CLASSES))]]),))

    while True:
        if classes and random.random() < classes:
            yield class_step()
        if floors and random.random() < floors:
            floor = random.choice([-math.inf, 0.3, 0.5, 0.7, 0.9, 1.0, 2.0])
            yield Step("set_floor", (floor, random.choice([None, floor - 0.2, 0.0])))
        kind = random.random()
        if kind < 0.03:
            score = random.choice([None, round(random.random(), 1), 2.0])
            refetch_at = now + random.choice([-1.0, 1.0, 5 * random.random(), 50.0])
            yield Step("done", (now, random.random(), refetch_at, score), lease=random.random())
        elif kind < 0.035:
            yield Step("done", (some_url(), now, 0.1, now + 2.0))
        elif kind < 0.35:
            hold_until = random.choice([0.0, 0.0, 0.0, 0.0, now + 5 * random.random()])
            inherited = (random.random(), *map(float, range(random.randrange(3))))
            score, depth = round(random.random(), 1), random.randrange(4)
            record = CrawlUrl(some_url(), score, depth, not_before=hold_until, inherited=inherited)
            if classes:
                record = replace(record, precedence=some_class())
            yield Step("put", (record,))
        elif kind < 0.60:
            yield Step("take", (now,))
        elif kind < 0.75:
            yield Step("done", (now, random.random()), lease=random.random())
        elif kind < 0.80:
            options = {"not_before": random.choice([0.0, now + 2]), "picked": random.random() < 0.5}
            yield Step("release", (now, random.random()), options, random.random())
        elif kind < 0.815:
            yield Step("hold", (now + random.choice([-1.0, 2.0]),), lease=random.random())
        elif kind < 0.83:
            yield Step("drop", (), {"picked": random.random() < 0.5}, random.random())
        elif kind < 0.85:
            yield Step("hold", (some_url(), random.choice([0.0, now - 1, now + 1, now + 5 * random.random()])))
        elif kind < 0.865:
            host = f"h{random.randrange(8)}.test"
            yield Step("block_host", (host, random.choice([0.0, now - 1, now + 1, now + 5 * random.random()])))
        elif kind < 0.92:
            yield Step("rescore", (some_url(), round(random.random(), 1)))
        elif kind < 0.94:
            yield Step("done", (some_url(), now, 0.1))
        elif kind < 0.95:
            yield Step("crawl_delay", (f"h{random.randrange(5)}.test", random.choice([0.0, 2.0])))
        else:
            now += random.random()
            yield Step("next_due", (now,))


class Driver:
    """Applies steps to a frontier and keeps its open leases."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.leases: list[str] = []

    def do(self, step: Step) -> Any:
        """Return the result of the operation; do nothing when it needs a lease and none is open."""
        arguments = step.arguments
        if step.lease is not None:
            if not self.leases:
                return None
            arguments = (self.leases.pop(int(step.lease * len(self.leases))), *arguments)
        answer = getattr(self.frontier, step.name)(*arguments, **step.options)
        if step.name == "take" and answer is not None:
            self.leases.append(answer.url)
        return answer


def facts(frontier: Frontier, now: float, commit: int = 1) -> list[Any]:
    """All that a frontier answers without changing its state."""
    due = frontier.next_due(now)
    sure = commit == 1 and (due is None or due > now)  # whether the best URLs of blocked hosts are exact
    return [due, *_counts(frontier, sure=sure)]


def _counts(frontier: Frontier, *, sure: bool) -> list[Any]:
    blocked = sorted(host if sure else host[:2] for host in frontier.blocked())
    return [len(frontier), frontier.leases(), frontier.hosts(), frontier.evicted(), frontier.best(), blocked]


class Pair:
    """Two frontiers that must answer alike to all steps.

    Only with a floor or classes may their ``next_due`` differ, as a host may wake for nothing. Even then both agree whether a
    URL may be taken now; and when a URL becomes available by time alone, both had predicted a time no later than that.
    """

    def __init__(self, one: Frontier, other: Frontier, commit: int = 1) -> None:
        self.one, self.other = Driver(one), Driver(other)
        self.now = 0.0
        self._commit = commit
        self._has_floor = self._has_classes = False
        self._foreseen: list[float | None] = []

    def do(self, step: Step) -> None:
        """Raises ``AssertionError`` when the frontiers differ."""
        if step.name == "next_due":
            self.now = step.arguments[0]
        answers = self.one.do(step), self.other.do(step)
        if step.name == "set_floor":
            self._has_floor = step.arguments[0] > -math.inf and self._commit == 1
        self._has_classes |= step.has_classes
        if not (self._has_floor or self._has_classes):
            assert answers[0] == answers[1], step
            one, other = (facts(driver.frontier, self.now, self._commit) for driver in (self.one, self.other))
            assert one == other, step
            self._foreseen = [one[0], other[0]]
            return
        assert step.name == "next_due" or answers[0] == answers[1], step
        dues = [driver.frontier.next_due(self.now) for driver in (self.one, self.other)]
        one, other = (_counts(driver.frontier, sure=False) for driver in (self.one, self.other))
        assert one == other, step
        ready = [due is not None and due <= self.now for due in dues]
        assert ready[0] == ready[1], (step, dues)
        if step.name == "next_due" and ready[0]:
            assert all(due is not None and due <= self.now for due in self._foreseen), (step, self._foreseen)
        self._foreseen = dues


def waiting(frontier: Frontier) -> list[CrawlUrl]:
    """The waiting URLs, sorted."""
    return sorted(frontier.waiting(), key=lambda record: record.url)
