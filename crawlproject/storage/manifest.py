"""``crawl.json``: describes the crawl in a folder, so that it is not confused with another crawl."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Topic
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.read import REMEDY, read_visits

NAME = "crawl.json"
VERSION = 1
PART_OF = "part_of"  # key of the folder of the whole crawl, in the manifest of a folder that shows one of its topics
SET_BACK = "set_back"  # lines of the history, and start, of the last run before which the clock was set back
DAMAGED = f"{NAME}.damaged"
_BEGINNING = 1000  # first fetches among which the seeds are looked for
_NOT_IN_MANIFEST = frozenset(("settings", "members", "weight", "pages"))


class DamagedManifest(BadCrawlDir):
    """A manifest that cannot be read; ``why`` is the reason."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(str(path), f"expected the manifest of a crawl ({why}); {REMEDY}")
        self.why = why


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
        self.warnings: list[str] = []
        try:
            self.found = read_manifest(folder)
        except DamagedManifest as damage:
            self.found = self._made_again(folder, damage)
        else:
            if self.found:
                self._refuse_another_crawl()

        ended = self.found.get("finished")
        self._ended: float | None = float(ended) if isinstance(ended, int | float) else None  # None: it was killed

    @property
    def resumed(self) -> bool:
        """Whether the folder already held this crawl."""
        return bool(self.found)

    def last_ended(self, lines: int) -> float | None:
        """When the last run ended; None: it was killed. ``lines``: of the history.

        If the clock was set back before that run, and it was killed before its first fetch, this is when it began.
        """
        match self.found.get(SET_BACK):
            case [known, float() | int() as began] if self._ended is None and known == lines:
                return float(began)
        return self._ended

    def note_set_back(self, lines: int, now: float) -> None:
        """Note that the clock was set back before this run, and the frontier has allowed for that. Raises ``StorageFailed``."""
        self.found[SET_BACK] = [lines, now]
        self._write()

    def begin(self, settings: Mapping[str, Any], web: str, now: float) -> None:
        """Write the manifest of a running crawl. Raises ``StorageFailed``."""
        if self.warnings:
            write_atomically(self._path.with_name(DAMAGED), [self._path.read_bytes()])
        self.found = {
            "version": VERSION,
            **self.asked,
            "settings": dict(settings),
            "web": web,
            "started": self.found.get("started", now),
            "resumes": [*self.found.get("resumes", []), now] if self.found else [],
            "reason": "",
            "finished": None,
            SET_BACK: self.found.get(SET_BACK),
            "stats": self.found.get("stats", {}),
        }
        self._write()

    def note_topic(self, topic: Topic) -> None:
        """Replace the topics of a crawl of several topics."""
        self.asked["topic"] = self.found["topic"] = topic_fields(topic)
        self._write()

    def note_setting(self, name: str, value: object) -> None:
        """Add a setting that is not one of ours. It is written when the crawl ends."""
        self.found["settings"][name] = value

    def finish(self, reason: str, now: float, stats: Mapping[str, Any]) -> None:
        """Record how the crawl ended."""
        self.found.update(reason=reason, finished=now, stats=dict(stats))
        self._write()

    def _made_again(self, folder: Path, damage: DamagedManifest) -> dict[str, Any]:
        """Rebuild the manifest from the present topic and ordering, if the first fetches include the topic's seeds.

        The damaged file is kept beside it. Raises ``BadCrawlDir`` if nothing shows that it is this crawl.
        """
        beginning = list(islice(read_visits(folder), _BEGINNING))
        if not beginning:
            raise BadCrawlDir(
                damage.place, f"{damage.wish}; nothing was fetched into this folder: move the file away to begin"
            )
        seeds = {visit.url for visit in beginning if visit.parent is None}
        if seeds and not seeds & set(self.asked["topic"]["seeds"]):
            wish = f"{damage.wish}; the first fetches in this folder were of seeds of another topic"
            raise BadCrawlDir(damage.place, wish)
        self.warnings.append(
            f"{self._path} was damaged ({damage.why}): it is rewritten from this topic and these settings, and the "
            f"damaged file is kept as {DAMAGED}. Nothing else is lost"
        )
        return {**self.asked, "started": beginning[0].at - beginning[0].seconds}

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
        _write(self._path, self.found)


def keep_settings(folder: Path, settings: Mapping[str, Any], names: Container[str]) -> None:
    """Give the recorded settings of these names, in capitals, the values in ``settings``: the last run was an exception.

    Raises ``BadCrawlDir`` and ``StorageFailed``.
    """
    found = read_manifest(folder)
    recorded = found.get("settings") or {}
    kept = {name: settings[name.upper()] for name in recorded if name.upper() in names and name.upper() in settings}
    if kept:
        _write(folder / NAME, {**found, "settings": {**recorded, **kept}})


def _write(path: Path, manifest: Mapping[str, Any]) -> None:
    write_atomically(path, [orjson.dumps(manifest, option=orjson.OPT_INDENT_2, default=str)])


def topic_fields(topic: Topic) -> dict[str, Any]:
    """A topic as the manifest stores it; of several topics, it stores the names."""
    fields = {key: value for key, value in dataclasses.asdict(topic).items() if key not in _NOT_IN_MANIFEST}
    return fields | ({"members": [member.name for member in topic.members]} if topic.members else {})


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest in a crawl folder; empty without one. Raises ``BadCrawlDir`` for a damaged file."""
    path = folder / NAME
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except orjson.JSONDecodeError as damage:
        raise DamagedManifest(path, str(damage)) from None
    except OSError as error:
        raise BadCrawlDir(str(path), f"expected the manifest of a crawl ({error})") from None
    if not isinstance(found, dict) or not isinstance(found.get("version", VERSION), int):
        raise DamagedManifest(path, "it is not a JSON object of this crawler")
    if found.get("version", VERSION) != VERSION:
        raise BadCrawlDir(str(path), f"expected the manifest of a crawl, version {VERSION}")
    if "version" not in found or not isinstance(found.get("topic"), dict):
        raise DamagedManifest(path, "it names no topic")
    return found
