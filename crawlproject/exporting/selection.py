"""Selects the pages of a crawl, with all its workers, to export: the last version of each URL, unless the page was taken
back, and the best of several duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from crawlproject.errors import BadCrawlDir, BadInput, trying_to
from crawlproject.parts.registry import part_module
from crawlproject.storage.append_log import ITEMS, open_to_read, parse_line, read_lines
from crawlproject.storage.manifest import read_manifest
from crawlproject.storage.page_files import item_schema
from crawlproject.urls.hosts import is_name

Item = Mapping[str, Any]

_FIRST = b',"version":1,"state":""}\n'  # the end of the line of a first version
_REPLACES = b',"replaces":"h'  # cannot occur within a text, whose quotes are escaped


@dataclass(frozen=True, slots=True)
class Selection:
    """Pages with at least ``min_relevance``; duplicates only ``with_duplicates``.

    ``join_series``: the pages of a series are one item, ``split_units``: each unit of a page is an item, both in some formats
    only (``units.py``). ``without_reserved``: leave out pages that reserve uses (``noai``). Raises ``BadInput`` for a relevance
    outside 0 to 1.
    """

    min_relevance: float = 0.0
    with_duplicates: bool = False
    join_series: bool = False
    split_units: bool = False
    without_reserved: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.min_relevance <= 1.0:  # so that no number is, either
            raise BadInput(f"min_relevance {self.min_relevance}", "expected a number from 0 to 1")

    def takes(self, item: Item) -> bool:
        return (
            self.allows(item)
            and item["relevance"] >= self.min_relevance
            and (self.with_duplicates or not item.get("duplicate_of"))
        )

    def allows(self, item: Item) -> bool:
        """Whether the text of a page may be exported at all."""
        return not (self.without_reserved and item["reserved"])


EVERYTHING = Selection(with_duplicates=True)


def read_items(crawl_dir: Path, selection: Selection = EVERYTHING) -> Iterator[Item]:
    """Yield the selected items in the order of the crawl, each with every field. Raises ``BadCrawlDir``.

    A running crawl is read as it was at the start. Memory: 100 bytes for each page that has several lines.
    """
    require_crawl(crawl_dir)
    path = crawl_dir / ITEMS
    counting = _counting_lines(path)
    for number, line in enumerate(islice(read_lines(path), counting.lines), start=1):
        item = counting.with_original(whole(line, f"{path}, line {number}"), number)
        if not item["state"] and counting.last.get(item["md5"], number) == number and selection.takes(item):
            yield item


@dataclass(slots=True)
class _CountingLines:
    """The number of complete ``lines`` of the items. ``last`` maps the ``md5`` of each page with several lines to the number
    of its last line; ``replaced`` maps the URL of a replaced page to the URL that took its place, and the line.
    """

    lines: int = 0
    last: dict[str, int] = field(default_factory=dict)
    replaced: dict[str, tuple[str, int]] = field(default_factory=dict)

    def with_original(self, item: Item, number: int) -> Item:
        """Return the item of a line; ``duplicate_of`` of a page that was replaced later, and of its copies, is the kept page."""
        kept = item["duplicate_of"] or item["url"]
        after = 0 if item["duplicate_of"] else number  # a later version has another text
        while (found := self.replaced.get(kept)) and found[1] > after:
            kept, after = found
        return item if kept in (item["url"], item["duplicate_of"]) else {**item, "duplicate_of": kept}


def _counting_lines(path: Path) -> _CountingLines:
    """Scan the items. Most lines are of a first version, which is recognised by its end without parsing."""
    count, last = 0, {}
    replaced: dict[str, tuple[str, int]] = {}
    with open_to_read(path) as file, trying_to("read", path):
        for line in file:
            if not line.endswith(b"\n"):
                break
            count += 1
            if _REPLACES in line:
                found = parse_line(line, path, count)
                if isinstance(found, dict):
                    replaced[str(found.get("replaces"))] = str(found.get("url")), count
            if not line.endswith(_FIRST) and b'"version":' in line:
                found = parse_line(line, path, count)
                if isinstance(found, dict) and (found.get("version") != 1 or found.get("state")):
                    last[str(found.get("md5"))] = count
    return _CountingLines(count, last, replaced)


def whole(line: Any, place: str) -> Item:
    """Complete an item with the fields that older releases did not write. Raises ``BadCrawlDir``."""
    if not isinstance(line, dict) or not isinstance(line.get("relevance"), int | float) or not is_name(line.get("md5")):
        raise BadCrawlDir(place, "expected the fields of an item")
    return {name: line.get(name, default) for name, default in _defaults().items()}


def is_first(item: Item) -> bool:
    """Whether this is the first line of the page."""
    return item.get("version", 1) == 1 and not item.get("state")


def require_crawl(crawl_dir: Path) -> Mapping[str, Any]:
    """Check that a crawl folder has items, and return its manifest. Raises ``BadCrawlDir``."""
    manifest = read_manifest(crawl_dir)
    if not manifest:
        raise BadCrawlDir(str(crawl_dir), "expected a crawl folder, but it has no crawl.json")
    if not (crawl_dir / ITEMS).exists():
        raise BadCrawlDir(
            str(crawl_dir), f"has no {ITEMS}: it is a rehearsal, which stores no pages, or an empty crawl"
        )
    return manifest


_BY_TYPE: Mapping[str, object] = {"string": "", "number": 0.0, "integer": 0, "boolean": False, "object": {}}
_KNOWN: dict[str, object] = {}


def _defaults() -> Mapping[str, object]:
    if not _KNOWN:
        for name, said in item_schema()["properties"].items():
            default = _BY_TYPE[said["type"]] if isinstance(said["type"], str) else None
            _KNOWN[name] = said["minimum"] if said.get("minimum") else default  # the first version is 1
    return _KNOWN


def whole_folder(folder: Path) -> Path:
    """Merge the folders of workers, if there are any, and return ``folder``. Raises ``BadCrawlDir`` and ``StorageFailed``."""
    if (found := part_module("workers", "merge_workers")) is not None:
        found.whole_folder(folder)
    return folder


def workers_of(folder: Path) -> list[Path]:
    """Return the folders of the workers in a crawl folder, by name; none if a single process crawled."""
    found = part_module("workers", "merge_workers")
    return list(found.workers_of(folder)) if found is not None else []
