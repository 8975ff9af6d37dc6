"""``topics/NAME/`` in a crawl of several topics: the crawl as one of its topics sees it, as a crawl folder.

Its ``history.jsonl`` has the fetches of the crawl with their relevance to this topic, its ``items.jsonl`` the pages that are
relevant to it. Pages, links and the frontier are symbolic links to those of the crawl. The view follows from the files of the
crawl, and catches up with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.records import Topic, Visit
from crawlproject.storage.append_log import (
    ITEMS,
    START,
    AppendLog,
    TailPosition,
    TailReader,
    parse_line,
    write_atomically,
)
from crawlproject.storage.manifest import NAME as MANIFEST
from crawlproject.storage.manifest import PART_OF, topic_fields
from crawlproject.storage.read import HISTORY, visit_from

FOLDER = "topics"
PLACE = "view.json"
_LINKED = ("pages", "links.jsonl", "frontier", "refused.json", "robots.jsonl", "sitemaps.jsonl")
_SAVE_EVERY = 500  # lines of the history

Judge = Callable[[Visit], float | None]


class TopicView:
    """The view of one ``topic`` of the crawl in ``folder``.

    It includes pages from the relevance ``relevant`` on. ``judge`` returns the relevance of a page that was stored before the
    topic joined; None: its file is gone. Raises ``StorageFailed``, and ``BadCrawlDir`` for damaged files of the crawl.
    """

    def __init__(self, folder: Path, topic: Topic, *, relevant: float, judge: Judge) -> None:
        self.topic = topic
        self.path = folder / FOLDER / topic.name
        self._whole = folder
        self._relevant = relevant
        self._judge = judge
        self._refuse_links()
        with trying_to("make", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            for name in _LINKED:
                with suppress(FileExistsError):
                    (self.path / name).symlink_to(Path("..", "..", name))
        self._open()

    def _refuse_links(self) -> None:
        """Raise ``BadCrawlDir`` if what is written here is elsewhere: a crawl folder may come from a stranger."""
        for path in (self.path.parent, self.path, self.path / HISTORY, self.path / ITEMS):
            if path.is_symlink():
                raise BadCrawlDir(str(path), "is a symbolic link, which could lead into another crawl: remove it")

    def _open(self) -> None:
        found = _read_place(self.path / PLACE)
        places = [TailPosition.from_json(found.get(name)) for name in (HISTORY, ITEMS)]
        self._history, self._items = (
            TailReader(self._whole / name, place) for name, place in zip((HISTORY, ITEMS), places, strict=True)
        )
        self._own_history, self._own_items = logs = AppendLog(self.path / HISTORY), AppendLog(self.path / ITEMS)
        sizes: Any = found.get("sizes")
        if self._history.restarted or self._items.restarted or START in places or not _are_there(sizes, logs):
            self._history, self._items = TailReader(self._whole / HISTORY), TailReader(self._whole / ITEMS)
            sizes = [0, 0]
        for log, size in zip(logs, sizes, strict=True):
            log.cut(size)  # drop what was written after the place was noted
        self._waiting: bytes | None = None  # a line of the items whose visit has not been read yet
        self._before_waiting = self._items.place
        self._since_save = 0

    # ------------------------------------------------------------ following the crawl

    def catch_up(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Read what is new in the crawl, a page at a time while ``goes_on()``. Returns whether nothing is left."""
        items = self._items.raw()
        for line in self._history:
            self._add(dict(line), items)
            self._since_save += 1
            if self._since_save >= _SAVE_EVERY:
                self.save()
            if not goes_on():
                return False
        return True

    def _add(self, line: dict[str, Any], items: Iterator[bytes]) -> None:
        """Add a line of the history; most are rewritten without making a ``Visit``."""
        relevance = (line.get("topics") or {}).get(self.topic.name)
        if relevance is None and line["md5"] and line.get("number", 1) == 1:
            relevance = self._judge(visit_from(line, self._history.here))
        line["relevance"] = relevance or 0.0
        line["topics"] = {}
        if line["md5"]:
            self._add_item(line["url"], line["relevance"], items)
        self._own_history.append(line)

    def _add_item(self, url: str, relevance: float, items: Iterator[bytes]) -> None:
        """Add the item of a visit, if its page is relevant, and the withdrawals before it, of pages of any topic."""
        start = b'{"url":' + orjson.dumps(url) + b","
        while (line := self._next_item(items)) is not None:
            if not line.endswith(b'"state":""}\n'):
                self._own_items.append_lines(line)
            elif line.startswith(start):
                if relevance >= self._relevant:
                    fields = parse_line(line, self._whole / ITEMS)
                    self._own_items.append({**fields, "relevance": relevance})
            else:
                self._waiting = line
                return

    def _next_item(self, items: Iterator[bytes]) -> bytes | None:
        if self._waiting is not None:
            line, self._waiting = self._waiting, None
            return line
        self._before_waiting = self._items.place
        return next(items, None)

    # ------------------------------------------------------------ what is noted

    def save(self) -> None:
        """Note how far the view has come."""
        self._since_save = 0
        items = self._before_waiting if self._waiting is not None else self._items.place
        sizes = [(self.path / name).stat().st_size for name in (HISTORY, ITEMS)]
        place = {HISTORY: self._history.place.as_json(), ITEMS: items.as_json(), "sizes": sizes}
        write_atomically(self.path / PLACE, [orjson.dumps(place)], sync=False)

    def describe(self, manifest: Mapping[str, Any], reason: str = "") -> None:
        """Write the ``crawl.json`` of the crawl for this topic; ``reason``: why the view ended before the crawl, if it did."""
        fields = {**manifest, "topic": topic_fields(self.topic), PART_OF: "../.."}
        if reason:
            fields["reason"] = reason
        write_atomically(
            self.path / MANIFEST, [orjson.dumps(fields, option=orjson.OPT_INDENT_2, default=str)], sync=False
        )

    def close(self) -> None:
        self.save()
        self._own_history.close()
        self._own_items.close()


def _are_there(sizes: Any, logs: Sequence[AppendLog]) -> bool:
    """Whether the logs are as long as noted, or longer; a power failure may have taken some of it."""
    if not isinstance(sizes, list) or len(sizes) != len(logs):
        return False
    return all(
        isinstance(size, int) and 0 <= size <= log.path.stat().st_size for size, log in zip(sizes, logs, strict=True)
    )


def _read_place(path: Path) -> dict[str, Any]:
    """What was noted; empty if it cannot be read, so that all is read again."""
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}
