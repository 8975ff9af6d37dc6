"""``topics.jsonl``: the topics of a crawl of several, with a line for each time that one joined or left; and the topic of such a
crawl folder, with its members.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from crawlproject.records import Topic
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected
from crawlproject.storage.read import read_info, topic_of
from crawlproject.topic.fields import checked_name, checked_pages, checked_weight

NAME = "topics.jsonl"
JOINED = "joined"
LEFT = "left"

_FIELDS = frozenset(field.name for field in dataclasses.fields(Topic)) - {"settings", "members"}


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """``topic`` joined or left ``at`` this time, in seconds since the epoch, when the crawl had stored ``pages`` pages."""

    topic: Topic
    event: str
    at: float
    pages: int


_EVENT = TypeAdapter(TopicEvent)


@dataclass(slots=True)
class TopicState:
    """A topic according to the log: its fields when it last joined, its ``place`` among all that ever joined, from 0, when it
    first joined and, unless it is in the crawl now, when it left."""

    topic: Topic
    place: int
    joined: float
    joined_at_page: int
    left: float | None = None


class TopicsLog:
    """Appends events. Raises ``StorageFailed``."""

    def __init__(self, folder: Path) -> None:
        self._log = AppendLog(folder / NAME)

    def append(self, event: TopicEvent) -> None:
        fields = dataclasses.asdict(event.topic)
        topic = {name: value for name, value in fields.items() if name in _FIELDS}
        self._log.append({"event": event.event, "at": event.at, "pages": event.pages, "topic": topic})
        self._log.sync()

    def close(self) -> None:
        self._log.close()


def read_topics(folder: Path) -> dict[str, TopicState]:
    """The topics of a crawl by name, in the order in which they first joined; none in a crawl of one topic.

    Raises ``BadCrawlDir`` for a damaged line.
    """
    found: dict[str, TopicState] = {}
    for event in _events(folder):
        name, known = event.topic.name, found.get(event.topic.name)
        if event.event == LEFT:
            if known:
                known.left = event.at
        elif known:
            known.topic, known.left = event.topic, None
        else:
            found[name] = TopicState(event.topic, len(found), event.at, event.pages)
    return found


def _events(folder: Path) -> Iterator[TopicEvent]:
    path = folder / NAME
    for number, line in enumerate(read_lines(path), start=1):
        try:
            fields = {name: value for name, value in line["topic"].items() if name in _FIELDS}
            event = _EVENT.validate_python({**line, "topic": fields})  # the crawl folder may come from a stranger
            checked_name(event.topic.name)  # it names a folder
            checked_weight(event.topic.weight)
            checked_pages(event.topic.pages)
            yield event
        except ValidationError as damage:
            first = damage.errors()[0]
            raise unexpected(path, number, ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")) from None
        except (AttributeError, KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from damage


def stored_topic(folder: Path, settings: Mapping[str, Any] | None = None) -> Topic:
    """The topic that is crawled in ``folder``, with these ``settings`` (it has none of topic files). Raises ``BadCrawlDir``."""
    members = tuple(state.topic for state in read_topics(folder).values() if state.left is None)
    return replace(topic_of(read_info(folder), settings), members=members)
