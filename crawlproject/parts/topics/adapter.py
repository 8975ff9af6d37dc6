"""Several topics in a running Scrapy crawl: a topic joins when its file is added to the folder, and leaves when it is removed.
Each topic has its own folder, which is updated while the crawl runs, with a report at its end.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawlproject.adapters.running import repeated, safety_of, stopped, stopping, time
from crawlproject.errors import BadInput, BadTopic
from crawlproject.parts.topics.part import TopicsPart
from crawlproject.parts.topics.topic_view import FOLDER
from crawlproject.reports.report import write_report
from crawlproject.topic.folder import topic_files
from crawlproject.topic.parse import load_topic

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl

logger = logging.getLogger(__name__)
LOOK_EVERY = 2.0  # seconds between two looks at the folder
Stamp = tuple[int, int]  # time of the last change in nanoseconds, size in bytes
CATCH_UP_EVERY = 0.25  # seconds between two slices of work
SLICE = 0.025  # seconds that a slice may take: a tenth of the time, while pages are judged for a topic that joined


def connect(crawler: Crawler, crawl: Crawl, arguments: dict[str, Any]) -> None:
    """Watch the topics of ``crawl``, whose spider was made with these ``arguments``."""
    part, folder = crawl.part(TopicsPart), _folder_of_topics(arguments)
    if part is not None and folder is not None:
        TopicsFolder(crawler, folder, part).connect()
        TopicViews(crawler, crawl, part).connect()


def _folder_of_topics(arguments: dict[str, Any]) -> Path | None:
    """The folder from which topics may join; None when they were given as objects."""
    asked = arguments.get("topics") or arguments.get("topic")
    return Path(asked) if isinstance(asked, str | Path) else None


class TopicsFolder:
    """Watches ``folder`` while ``crawler`` crawls its topics.

    A file that is wrong or does not fit is reported once, and the crawl continues without it; a changed file is reported, too.
    """

    def __init__(self, crawler: Crawler, folder: Path, topics: TopicsPart) -> None:
        self._crawler = crawler
        self._folder = folder
        self._topics = topics
        self._names: dict[Path, str] = {}  # file -> name of its topic in the crawl
        self._seen: dict[Path, Stamp] = {}
        for path in topic_files(folder):
            self._names[path] = load_topic(path).name
            self._seen[path] = _stamp(path)

    def connect(self) -> None:
        """Watch from the beginning of the crawl to its end."""
        repeated(self._crawler, self.look, LOOK_EVERY)

    def look(self) -> None:
        """Let topics join and leave as their files have changed."""
        if stopped(self._crawler):
            return
        try:
            files = {path: _stamp(path) for path in topic_files(self._folder)}
        except (BadTopic, OSError):  # the folder is being moved, or a file was removed just now: try again later
            return
        with stopping(self._crawler):
            for path in sorted(files.keys() - self._names.keys()):
                if self._seen.get(path) != files[path]:
                    self._seen[path] = files[path]
                    self._join(path, files)
            for path in [path for path in self._names if path not in files]:
                self._leave(path)
        for path in self._names.keys() & files.keys():
            if self._seen.setdefault(path, files[path]) != files[path]:
                self._seen[path] = files[path]
                logger.warning("%s has changed: this takes effect when the crawl is restarted", path)

    def _join(self, path: Path, files: dict[Path, Stamp]) -> None:
        try:
            topic = load_topic(path)
            before = next((old for old, name in self._names.items() if name == topic.name and old not in files), None)
            if before is not None:  # the file was renamed
                del self._names[before]
            else:
                self._topics.join(topic, str(path), time())
                safety = safety_of(self._crawler)
                for seed in topic.seeds:
                    safety.allow_seed(seed)
                logger.info("The topic %s has joined the crawl", topic.name)
            self._names[path] = topic.name
        except BadInput as wrong:
            logger.warning("A topic cannot join: %s", wrong)

    def _leave(self, path: Path) -> None:
        """Let a topic leave. The last one stays until another has joined, or its file is back."""
        told = self._seen.pop(path, None) is None  # a file that comes back, even unchanged, joins again
        try:
            self._topics.leave(self._names[path], time())
        except BadTopic as wrong:
            if not told:
                logger.warning("%s", wrong)
            return
        logger.info("The topic %s has left the crawl", self._names[path])
        del self._names[path]


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


class TopicViews:
    """Updates the views of the topics of ``crawl``, which ``crawler`` runs."""

    def __init__(self, crawler: Crawler, crawl: Crawl, topics: TopicsPart) -> None:
        self._crawler = crawler
        self._crawl = crawl
        self._topics = topics

    def connect(self) -> None:
        """Work from the beginning of the crawl to its end."""
        repeated(self._crawler, self.catch_up, CATCH_UP_EVERY)
        self._crawler.signals.connect(self.write_reports, signals.spider_closed, weak=False)

    def catch_up(self) -> None:
        """Do one slice of work."""
        if not stopped(self._crawler):
            until = perf_counter() + SLICE
            with stopping(self._crawler):
                self._topics.catch_up(lambda: perf_counter() < until)

    def write_reports(self) -> None:
        """Write a report for each topic; called when the crawl is closed."""
        for name in self._topics.members:
            try:
                with stopping(self._crawler):
                    write_report(self._crawl.folder.path / FOLDER / name)
            except BadInput as wrong:
                logger.error("No report of the topic %s was written: %s", name, wrong)
