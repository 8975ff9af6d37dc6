"""What to rehearse (``Plan``), and how to execute it in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from crawlproject.core.crawl import Crawl
from crawlproject.errors import BadInput
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.records import Topic
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCacheFolder

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """Every topic with every ordering, ``repeats`` times, ``pages`` pages a run, on the web called ``web``, with
    ``concurrency`` fetches at a time.

    ``settings`` are the settings of each topic, in the order of ``topics``. Runs are written below ``out``; indexes and
    parsed pages are cached in ``cache_dir``. A plan can be pickled.
    """

    web: str
    topics: tuple[Topic, ...]
    settings: tuple[Mapping[str, Any], ...]
    orderings: tuple[str, ...]
    pages: int
    out: Path
    cache_dir: Path
    agent: str
    repeats: int = 1
    concurrency: int = 1

    @property
    def runs(self) -> int:
        """The number of runs, including finished ones that are kept."""
        return len(self.topics) * len(self.orderings) * self.repeats


def split(plan: Plan) -> tuple[Plan, Plan]:
    """Two plans, in the folders ``half-1`` and ``half-2``, each with every second seed of each topic.

    The overlap of the two crawls shows how much an ordering depends on its seeds (paper 000 section 4.2). Raises
    ``BadInput`` for a topic with a single seed.
    """
    for topic in plan.topics:
        if len(topic.seeds) < 2:
            raise BadInput(f"topic {topic.name}", "expected at least two seeds to split")
    first, second = (
        replace(
            plan,
            topics=tuple(replace(topic, seeds=topic.seeds[half::2]) for topic in plan.topics),
            out=plan.out / f"half-{half + 1}",
        )
        for half in (0, 1)
    )
    return first, second


class Rehearser:
    """Executes a plan topic by topic; shared data stay in memory. ``warnings`` are those of the web."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._web = open_web(plan.web, cache_dir=plan.cache_dir)
        self.warnings = self._web.warnings
        settings = dict(zip(map(id, plan.topics), plan.settings, strict=True))
        shelf = PageCacheFolder(plan.cache_dir, plan.web)
        self._stage = Runner(
            self._web,
            lambda topic: settings[id(topic)],
            pages=plan.pages,
            agent=plan.agent,
            concurrency=plan.concurrency,
            shelf=shelf,
            cache_dir=plan.cache_dir,
            web_name=plan.web if plan.web == "sample" else str(Path(plan.web).resolve()),
        )

    def rehearse(self, number: int) -> Iterator[Line]:
        """Execute every run of the topic with this number; yield the line of each when it ends."""
        plan, topic = self._plan, self._plan.topics[number]
        for repeat in range(1, plan.repeats + 1):
            started = perf_counter()
            for name, folder, crawl in self._stage.rehearse(topic, plan.orderings, plan.out, repeat=repeat):
                line: Line = {"topic": topic.name, "ordering": name}
                if plan.repeats > 1:
                    line["repeat"] = repeat
                yield {**line, **outcome(crawl, perf_counter() - started), "folder": str(folder)}
                started = perf_counter()

    def close(self) -> None:
        """Save the parsed pages and close the web."""
        self._stage.close()
        self._web.close()


def rehearse_here(plan: Plan, warn: Callable[[str], None]) -> Generator[Line]:
    """Execute a plan in this process; yield a line for each finished run."""
    rehearser = Rehearser(plan)
    for warning in rehearser.warnings:
        warn(warning)
    try:
        for number in range(len(plan.topics)):
            yield from rehearser.rehearse(number)
    finally:
        rehearser.close()


def outcome(crawl: Crawl | None, seconds: float) -> Line:
    """The fields of the line of a run."""
    if crawl is None:
        return {"kept": True}
    rate = round(crawl.stats.pages / seconds) if seconds else None
    return {
        "pages": crawl.stats.pages,
        "fetches": crawl.stats.fetches,
        "seconds": round(seconds, 2),
        "pages_per_second": rate,
    }
