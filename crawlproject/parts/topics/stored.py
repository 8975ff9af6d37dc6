"""The topic of a crawl folder, with its members if it is a crawl of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawlproject.parts.topics.topics_log import read_topics
from crawlproject.records import Topic
from crawlproject.storage.read import read_info, topic_of


def stored_topic(folder: Path, settings: Mapping[str, Any] | None = None) -> Topic:
    """What is crawled in ``folder``, with these ``settings``: those of topic files are not in it. Raises ``BadCrawlDir``."""
    members = tuple(state.topic for state in read_topics(folder).values() if state.left is None)
    return replace(topic_of(read_info(folder), settings), members=members)
