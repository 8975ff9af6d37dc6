"""Crawls over the same sockets, each in a measured process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.contenders import LOG, Contender, Task
from benchmarks.cost import ALMOST_NONE, EMPTY_RUNS, Cost, Crawled, cost_of, typical
from benchmarks.measured_process import MeasuredProcess, Usage
from benchmarks.rivals.joblog import processed_pages
from benchmarks.watched_web import WatchedWeb, write_run
from crawlproject.http.virtual_web_server import running
from crawlproject.options import Options
from crawlproject.records import Topic
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer
from crawlproject.webs.base import Web


class Race:
    """Runs crawlers on ``web``, one after the other, for at most ``seconds`` of wall time each.

    A crawler that does not stop on its own is killed when the server has sent the last page of its budget; ``notes`` say
    which crawls ended before that, and why. Crawl folders go to ``out/<topic>/<crawler>``; the standard error of the
    processes goes to a file beside ``out`` with the ending ``.errors``.
    """

    def __init__(self, web: Web, options: Options, out: Path, *, seconds: float, say: Callable[[str], None]) -> None:
        self._web = web
        self._options = options
        self._out = out
        self._seconds = seconds
        self._say = say
        self.notes: list[str] = []
        canonicalize = make_canonicalizer(options)
        self._canonical: Callable[[str], str | None] = lambda url: canonical_or_none(canonicalize, url)

    def run(self, name: str, contender: Contender, topics: Sequence[tuple[Topic, Path]], pages: int) -> Cost:
        """Crawl each topic, given with its file, as the crawler ``name``; return the cost."""
        empty = typical([self._crawl(contender, *topics[0], ALMOST_NONE)[0] for _ in range(EMPTY_RUNS)])
        runs = []
        for topic, file in topics:
            run, web, reason = self._crawl(contender, topic, file, pages)
            write_run(self._out / topic.name / name, topic, name, web, self._options, reason)
            line = f"{contender.title} on {topic.name}: {len(web.pages)} pages, {reason}"
            self._say(f"{line}, {run.usage.cpu_seconds:.1f} s CPU")
            if len(web.pages) < pages:
                self.notes.append(line)
            runs.append(run)
        return cost_of(runs, empty)

    def _crawl(self, contender: Contender, topic: Topic, file: Path, pages: int) -> tuple[Crawled, WatchedWeb, str]:
        started: list[MeasuredProcess] = []
        web = WatchedWeb(self._web, self._options, pages, lambda: _stop(contender, started))
        with TemporaryDirectory() as folder, running(web) as server:
            task = Task(topic, file.resolve(), pages, server.url, Path(folder))
            command = contender.command(task)
            errors = self._out.with_name(f"{self._out.name}.errors")
            started.append(MeasuredProcess(command, environment=_environment(server.url), errors=errors))
            usage = started[0].wait(self._seconds)
            logged = processed_pages(task.folder / LOG, self._canonical)
        processed = min(logged, len(web.pages)) if contender.endless else len(web.pages)
        return Crawled(processed, usage), web, _reason(web, pages, usage)


def _stop(contender: Contender, started: Sequence[MeasuredProcess]) -> None:
    if contender.endless:
        for process in started:
            process.stop()


def _environment(proxy: str) -> Mapping[str, str]:
    """Set the same proxy for every scheme; it refuses https, so nothing leaves this machine."""
    names = ("http_proxy", "https_proxy", "all_proxy")
    return {**os.environ, **dict.fromkeys((*names, *map(str.upper, names)), proxy), "NO_PROXY": "", "no_proxy": ""}


def _reason(web: WatchedWeb, pages: int, usage: Usage) -> str:
    if len(web.pages) >= pages:
        return "page budget"
    return "stopped for its time" if usage.overdue else f"ended by itself with exit code {usage.code}"
