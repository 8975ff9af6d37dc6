"""What each topic of a crawl of several topics has found, for the report of the whole crawl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.options import Options
from crawlproject.parts.topics.topic_view import FOLDER
from crawlproject.parts.topics.topics_log import read_topics
from crawlproject.storage.read import first_visits


@dataclass(frozen=True, slots=True)
class TopicRow:
    """One topic. ``pages`` counts the relevant ones, without duplicates, and ``best`` is the highest relevance.

    ``wanted`` is the number of pages that it wanted (0: all), ``joined_at`` the number that the crawl had when it joined,
    ``left`` the time when it left, in seconds since the epoch. ``report`` is the path from the crawl's report to its own; empty:
    none.
    """

    name: str
    keywords: tuple[str, ...]
    pages: int
    best: float
    weight: float
    wanted: int
    joined_at: int
    left: float | None
    report: str


def report(folder: Path, options: Options, threshold: float) -> dict[str, Any]:
    """``topics``: none for a crawl of one topic. Raises ``BadCrawlDir``."""
    return {"topics": read_topic_rows(folder, threshold)}


def read_topic_rows(crawl_dir: Path, threshold: float) -> list[TopicRow]:
    """The topics in the order in which they joined; none for a crawl of one topic. Raises ``BadCrawlDir``."""
    rows = []
    for name, state in read_topics(crawl_dir).items():
        folder = crawl_dir / FOLDER / name
        pages, best = _found(folder, threshold)
        report = f"{FOLDER}/{name}/report.html" if folder.is_dir() else ""
        topic = state.topic
        rows.append(
            TopicRow(
                name, topic.keywords, pages, best, topic.weight, topic.pages, state.joined_at_page, state.left, report
            )
        )
    return rows


def _found(folder: Path, threshold: float) -> tuple[int, float]:
    """The number of relevant pages of a topic, and the highest relevance."""
    pages, best = 0, 0.0
    for visit in first_visits(folder):
        if visit.md5 and not visit.duplicate_of:
            pages += visit.relevance >= threshold
            best = max(best, visit.relevance)
    return pages, best
