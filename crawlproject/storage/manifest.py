"""``crawl.json``: describes the crawl in a folder, so that it is not confused with another crawl."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Topic
from crawlproject.storage.append_log import write_atomically

NAME = "crawl.json"
VERSION = 1
PART_OF = "part_of"  # key of the folder of the whole crawl, in what shows one of its topics
_NOT_IN_MANIFEST = frozenset(("settings", "members", "weight", "pages"))


class Manifest:
    """Topic, ordering, parameters, settings, start and end of a crawl.

    Opening a folder of another topic (name, keywords or seeds differ) or another ordering raises ``BadCrawlDir``.
    """

    def __init__(self, folder: Path, topic: Topic, ordering: str, parameters: Mapping[str, Any]) -> None:
        self._path = folder / NAME
        self.asked: dict[str, Any] = {
            "topic": topic_fields(topic),
            "ordering": ordering,
            "parameters": dict(parameters),
        }
        self.found = read_manifest(folder)
        if self.found:
            self._refuse_another_crawl()

    @property
    def resumed(self) -> bool:
        """Whether the folder already held this crawl."""
        return bool(self.found)

    def begin(self, settings: Mapping[str, Any], web: str, now: float) -> None:
        """Write the manifest of a running crawl."""
        self.found = {
            "version": VERSION,
            **self.asked,
            "settings": dict(settings),
            "web": web,
            "started": self.found.get("started", now),
            "resumes": [*self.found.get("resumes", []), now] if self.found else [],
            "reason": "",
            "finished": None,
            "stats": self.found.get("stats", {}),
        }
        self._write()

    def note_topic(self, topic: Topic) -> None:
        """The topics of a crawl of several are these from now on."""
        self.asked["topic"] = self.found["topic"] = topic_fields(topic)
        self._write()

    def note_setting(self, name: str, value: object) -> None:
        """Add a setting that is not one of ours; it is written when the crawl ends."""
        self.found["settings"][name] = value

    def finish(self, reason: str, now: float, stats: Mapping[str, Any]) -> None:
        """Record how the crawl ended."""
        self.found.update(reason=reason, finished=now, stats=dict(stats))
        self._write()

    def _refuse_another_crawl(self) -> None:
        wish = "choose another CRAWL_DIR, or remove this folder to start over"
        if PART_OF in self.found:
            whole = self._path.parent / str(self.found[PART_OF])
            raise BadCrawlDir(
                str(self._path.parent), f"shows one topic of the crawl in {whole.resolve()}; resume that one"
            )
        several = "members" in self.asked["topic"]
        if several != ("members" in self.found["topic"]):
            what = "one topic, not of several" if several else "several topics, not of one"
            raise BadCrawlDir(str(self._path.parent), f"holds a crawl of {what}; {wish}")
        for key in ("name",) if several else ("name", "keywords", "seeds"):  # topics join and leave
            found, asked = self.found["topic"].get(key), self.asked["topic"][key]
            if found != (list(asked) if isinstance(asked, tuple) else asked):
                raise BadCrawlDir(str(self._path.parent), f"holds a crawl of another topic ({key} differs); {wish}")
        held, name = self.found.get("ordering"), self.asked["ordering"]
        if held != name:
            raise BadCrawlDir(str(self._path.parent), f"holds a crawl ordered by {held}, not {name}; {wish}")

    def _write(self) -> None:
        document = orjson.dumps(self.found, option=orjson.OPT_INDENT_2, default=str)
        write_atomically(self._path, [document])


def topic_fields(topic: Topic) -> dict[str, Any]:
    """A topic as the manifest has it; of several topics there are the names."""
    fields = {key: value for key, value in dataclasses.asdict(topic).items() if key not in _NOT_IN_MANIFEST}
    return fields | ({"members": [member.name for member in topic.members]} if topic.members else {})


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest in a crawl folder; empty without one. Raises ``BadCrawlDir`` for a damaged file."""
    path = folder / NAME
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (orjson.JSONDecodeError, OSError) as damage:
        raise BadCrawlDir(str(path), f"expected the manifest of a crawl ({damage})") from None
    if not isinstance(found, dict) or found.get("version") != VERSION or not isinstance(found.get("topic"), dict):
        raise BadCrawlDir(str(path), f"expected the manifest of a crawl, version {VERSION}")
    return found
