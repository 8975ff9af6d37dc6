"""The crawlers of a race over sockets: other projects' crawlers, and our own orderings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from crawlproject.orderings.registry import ordering_class
from crawlproject.records import Topic

# No crawler is polite here: only the order of the links differs.
IMPOLITE = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
LIVE = {**IMPOLITE, "RETRY_ENABLED": False, "CRAWL_PROGRESS_SECONDS": 0, "LOG_LEVEL": "ERROR"}
LOG = "pages.jsonl"


@dataclass(frozen=True, slots=True)
class Task:
    """One crawl: a topic and its file, the number of pages, the proxy, and a folder for files."""

    topic: Topic
    file: Path
    pages: int
    proxy: str
    folder: Path


class Contender(Protocol):
    """A crawler that can run a task; ``endless`` if it does not stop on its own at the number of pages."""

    @property
    def title(self) -> str: ...

    @property
    def endless(self) -> bool: ...

    def command(self, task: Task) -> list[str]:
        """Write the input files to the task's folder; return the command, to be run in the project's folder."""
        ...


@dataclass(frozen=True, slots=True)
class Rival:
    """Another crawler: ``module`` runs it; ``package`` has to be installed for ``python`` (empty: the project's own).

    ``extras`` are added to its job file.
    """

    title: str
    module: str
    package: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    endless = True

    def command(self, task: Task) -> list[str]:
        job = task.folder / "job.json"
        asked = {"seeds": task.topic.seeds, "keywords": task.topic.keywords, "proxy": task.proxy}
        job.write_text(json.dumps({**asked, "log": str(task.folder / LOG), "folder": str(task.folder), **self.extras}))
        return [self.python if self.package else sys.executable, "-m", self.module, str(job)]


@dataclass(frozen=True, slots=True)
class Live:
    """A live crawl of ours with these settings; it writes everything that a crawl writes, and ends on its own."""

    ordering: str
    settings: Mapping[str, str] = field(default_factory=dict)
    endless = False

    @classmethod
    def spelled(cls, text: str) -> Live:
        """Parse ``dom`` or ``dom,NAME=VALUE,...``. Raises ``BadSetting`` for an unknown ordering."""
        ordering, *settings = text.split(",")
        ordering_class(ordering)
        return cls(ordering, dict(setting.partition("=")[::2] for setting in settings))

    @property
    def title(self) -> str:
        return ", ".join([self.ordering, "live", *(f"{name}={value}" for name, value in self.settings.items())])

    def command(self, task: Task) -> list[str]:
        settings = {**LIVE, **self.settings, "CRAWL_DIR": task.folder / "crawl", "CRAWL_MAX_PAGES": task.pages}
        asked = ["-a", f"topic={task.file}", "-a", f"ordering={self.ordering}"]
        return [sys.executable, "-m", "scrapy", "crawl", "topical", *asked, *options(settings)]


RIVALS = {
    "crawl4ai": Rival("crawl4ai best-first", "benchmarks.rivals.crawl4ai_best_first", "crawl4ai"),
    "crawl4ai-prefetch": Rival(
        "crawl4ai best-first, links only", "benchmarks.rivals.crawl4ai_best_first", "crawl4ai", {"prefetch": True}
    ),
    "scrapy": Rival("plain Scrapy breadth-first", "benchmarks.rivals.plain_scrapy"),
    "trafilatura": Rival("trafilatura focused", "benchmarks.rivals.trafilatura_focused", "trafilatura"),
}


def why_not(rival: Rival) -> str:
    """The reason why a rival cannot run with its interpreter, and the remedy; empty if it can."""
    if not rival.package:
        return ""
    try:
        tried = subprocess.run([rival.python, "-c", f"import {rival.package}"], capture_output=True, text=True)
    except OSError as refused:
        return f"{rival.title} is left out: cannot run {rival.python} ({refused.strerror})"
    if tried.returncode == 0:
        return ""
    reason = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
    return (
        f"{rival.title} is left out: {rival.python} cannot import {rival.package} ({reason}). Install it there with "
        f"`pip install {rival.package}`, or name another interpreter with --rival-python."
    )


def titled(rival: Rival) -> str:
    """The rival's title with the version of its package, if it is not part of the project."""
    if not rival.package:
        return rival.title
    code = f"from importlib.metadata import version; print(version({rival.package!r}))"
    version = subprocess.run([rival.python, "-c", code], capture_output=True, text=True).stdout.strip()
    return rival.title.replace(rival.package, f"{rival.package} {version}")


def options(settings: Mapping[str, Any]) -> list[str]:
    """Settings as options of the command line."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
