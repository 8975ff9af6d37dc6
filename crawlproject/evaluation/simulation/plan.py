"""What to rehearse (``Plan``), and how to execute it: in this process, or in several workers, one topic at a time each.

The parent assigns topics and forwards the line of each finished run. Each worker opens the web itself; workers share only
the files of the cache folder. If a worker fails, the others are stopped; the next start repeats unfinished runs.
"""

from __future__ import annotations

import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter
from typing import Any

from crawlproject.core.crawl import Crawl
from crawlproject.core.process_tuning import tune_process
from crawlproject.errors import BadInput, StorageFailed, TopicalError
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.records import Topic
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCacheFolder

Line = dict[str, Any]

_READY, _LINE, _WARNING, _BAD_INPUT, _STORAGE, _UNFORESEEN = "ready", "line", "warning", "bad input", "storage", "error"


@dataclass(frozen=True, slots=True)
class Plan:
    """Every topic with every ordering, ``repeats`` times, on the web named ``web``.

    A run has up to ``pages`` pages and ``concurrency`` fetches at a time. ``settings`` are the settings of each topic, in
    the order of ``topics``. Runs are written below ``out``; indexes and parsed pages are cached in ``cache_dir``. A plan can
    be pickled. Raises ``BadInput`` for one that cannot be executed.
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

    def __post_init__(self) -> None:
        for name in ("pages", "repeats", "concurrency"):
            number = getattr(self, name)
            if not isinstance(number, int) or number < 1:
                raise BadInput(f"{name} {number!r}", "expected a whole number of at least 1")
        if not self.topics:
            raise BadInput("topics", "expected at least one topic")
        if self.out.exists() and not self.out.is_dir():
            raise BadInput(str(self.out), "expected a folder for the runs, but this is a file")

    @property
    def runs(self) -> int:
        """The number of runs, including finished ones that are kept."""
        return len(self.topics) * len(self.orderings) * self.repeats


def split(plan: Plan) -> tuple[Plan, Plan]:
    """Two plans, in the folders ``half-1`` and ``half-2``, each with every second seed of each topic.

    The overlap of the two crawls shows how much an ordering depends on the seeds (paper 000 section 4.2). Raises
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
    """Executes a plan topic by topic, with shared data in memory. ``warnings`` are those of the web."""

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
        """Execute every run of topic ``number``; yield the line of each run when it ends."""
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
    if crawl is None:
        return {"kept": True}
    rate = round(crawl.stats.pages / seconds) if seconds else None
    return {
        "pages": crawl.stats.pages,
        "fetches": crawl.stats.fetches,
        "seconds": round(seconds, 2),
        "pages_per_second": rate,
    }


class WorkerFailed(TopicalError):
    """A worker process failed; the message names the topic and the reason."""


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    topic: int | None = None  # the number of the current topic in the plan


def rehearse_with_workers(plan: Plan, jobs: int, warn: Callable[[str], None]) -> Generator[Line]:
    """Execute a plan in ``jobs`` processes; yield a line for each finished run, in the order in which they end.

    ``warn`` is called once with each warning of the web. Raises the error of a worker: ``BadInput``, ``StorageFailed``, or
    ``WorkerFailed`` for any other failure, such as a process that was killed because memory ran out.
    """
    waiting = deque(range(len(plan.topics)))
    workers = [_start(plan) for _ in range(min(jobs, len(plan.topics)))]
    warned: set[str] = set()
    try:
        busy = {worker.connection: worker for worker in workers}
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker = busy[connection]
                kind, message = _received(worker, plan)
                if kind == _LINE:
                    yield message
                elif kind == _WARNING and message not in warned:
                    warned.add(message)
                    warn(message)
                elif kind == _READY:
                    worker.topic = waiting.popleft() if waiting else None
                    worker.connection.send(worker.topic)
                    if worker.topic is None:
                        del busy[connection]
    finally:
        _stop(workers)


def _start(plan: Plan) -> _Worker:
    # A fresh interpreter: a fork would copy the locks of threads and the open files of the caller.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(plan, theirs), daemon=True)
    process.start()
    theirs.close()  # so that the connection ends when the worker does
    return _Worker(process, ours)


def _received(worker: _Worker, plan: Plan) -> tuple[str, Any]:
    """The next message of a worker. Raises the error of the worker."""
    try:
        kind, message = worker.connection.recv()
    except (EOFError, OSError):
        worker.process.join(5)
        raise WorkerFailed(_broken_off(worker, plan, f"exit code {worker.process.exitcode}")) from None
    if kind == _BAD_INPUT:
        raise BadInput(*message)
    if kind == _STORAGE:
        raise StorageFailed(message)
    if kind == _UNFORESEEN:
        raise WorkerFailed(_broken_off(worker, plan, message))
    return kind, message


def _broken_off(worker: _Worker, plan: Plan, why: str) -> str:
    where = "before its first topic" if worker.topic is None else f"at the topic {plan.topics[worker.topic].name}"
    return f"a process of the rehearsal failed {where} ({why}); finished runs are kept"


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.process.join(0.5)
        if worker.process.is_alive():
            worker.process.terminate()
            worker.process.join()


def _work(plan: Plan, connection: Connection) -> None:
    """The main function of a worker process: runs each topic it receives, until it receives None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the parent handles it
    tune_process()
    try:
        _topics(plan, connection)
    except (EOFError, BrokenPipeError):
        return  # the parent has ended or given up
    except BadInput as wrong:
        connection.send((_BAD_INPUT, (wrong.place, wrong.wish)))
    except StorageFailed as failure:
        connection.send((_STORAGE, str(failure)))
    except Exception:
        connection.send((_UNFORESEEN, traceback.format_exc()))


def _topics(plan: Plan, connection: Connection) -> None:
    rehearser = Rehearser(plan)
    for warning in rehearser.warnings:
        connection.send((_WARNING, warning))
    try:
        while True:
            connection.send((_READY, None))
            number = connection.recv()
            if number is None:
                return
            for line in rehearser.rehearse(number):
                connection.send((_LINE, line))
    finally:
        rehearser.close()
