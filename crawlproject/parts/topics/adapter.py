"""Several topics in a running Scrapy crawl: topics join and leave by their folder, and each has its own view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlproject.parts.topics.part import TopicsPart
from crawlproject.parts.topics.topics_folder import TopicsFolder
from crawlproject.parts.topics.views import TopicViews

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from crawlproject.core.crawl import Crawl


def connect(crawler: Crawler, crawl: Crawl, arguments: dict[str, Any]) -> None:
    """The spider of ``crawl`` was made with these ``arguments``."""
    part, folder = crawl.part(TopicsPart), _folder_of_topics(arguments)
    if part is not None and folder is not None:
        TopicsFolder(crawler, folder, part.topics).connect()
        TopicViews(crawler, crawl, part.topics).connect()


def _folder_of_topics(arguments: dict[str, Any]) -> Path | None:
    """The folder that topics may join from; None when they were given as objects."""
    asked = arguments.get("topics") or arguments.get("topic")
    return Path(asked) if isinstance(asked, str | Path) else None
