"""Random operations on a frontier: the same sequence for the same seed, whatever frontier they are done to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from crawlproject.frontier.base import Frontier
from crawlproject.records import CrawlUrl


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


def random_steps(seed: int, *, hosts: int = 40, pages: int = 60) -> Iterator[Step]:
    """Operations without end; scores and URLs are few, so that everything meets everything."""
    random = Random(seed)
    now = 0.0

    def some_url() -> str:
        return f"http://h{int(random.paretovariate(0.6)) % hosts}.test/{random.randrange(pages)}"

    while True:
        kind = random.random()
        if kind < 0.35:
            hold_until = random.choice([0.0, 0.0, 0.0, 0.0, now + 5 * random.random()])
            inherited = (random.random(), *map(float, range(random.randrange(3))))
            score, depth = round(random.random(), 1), random.randrange(4)
            record = CrawlUrl(some_url(), score, depth, not_before=hold_until, inherited=inherited)
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
        elif kind < 0.93:
            yield Step("withdraw", (some_url(),))
        elif kind < 0.94:
            yield Step("done", (some_url(), now, 0.1))
        elif kind < 0.95:
            yield Step("crawl_delay", (f"h{random.randrange(5)}.test", random.choice([0.0, 2.0])))
        else:
            now += random.random()
            yield Step("next_due", (now,))


class Driver:
    """Does steps to a frontier and keeps its open leases."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.leases: list[str] = []

    def do(self, step: Step) -> Any:
        """What the operation answered; nothing happens when a lease is wanted and none is open."""
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
    """What can be asked without changing anything."""
    due = frontier.next_due(now)
    sure = commit == 1 and (due is None or due > now)  # about the best URLs of blocked hosts
    blocked = sorted(host if sure else host[:2] for host in frontier.blocked())
    counts = [len(frontier), frontier.leases(), frontier.hosts(), frontier.evicted()]
    return [*counts, frontier.best(), due, blocked]


def waiting(frontier: Frontier) -> list[CrawlUrl]:
    """The waiting URLs, sorted."""
    return sorted(frontier.waiting(), key=lambda record: record.url)
