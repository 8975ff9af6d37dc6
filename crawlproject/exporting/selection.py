"""Which pages of a crawl are exported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.items import item_schema
from crawlproject.storage.manifest import read_manifest
from crawlproject.storage.tail import ITEMS

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """Pages with at least ``min_relevance``; duplicates only ``with_duplicates``."""

    min_relevance: float = 0.0
    with_duplicates: bool = False

    def takes(self, item: Item) -> bool:
        return item["relevance"] >= self.min_relevance and (self.with_duplicates or not item.get("duplicate_of"))


EVERYTHING = Selection(with_duplicates=True)


def read_items(crawl_dir: Path, selection: Selection = EVERYTHING) -> Iterator[Item]:
    """The selected items in the order of the crawl, each with every field. Raises ``BadCrawlDir``."""
    require_crawl(crawl_dir)
    path = crawl_dir / ITEMS
    for number, line in enumerate(read_lines(path), start=1):
        item = whole(line, f"{path}, line {number}")
        if selection.takes(item):
            yield item


def whole(line: Any, place: str) -> Item:
    """Complete an item with the fields that older versions did not write. Raises ``BadCrawlDir``."""
    if not isinstance(line, dict) or not isinstance(line.get("relevance"), int | float) or not line.get("md5"):
        raise BadCrawlDir(place, "expected the fields of an item")
    return {name: line.get(name, default) for name, default in _defaults().items()}


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


_BY_TYPE: Mapping[str, object] = {"string": "", "number": 0.0, "integer": 0, "object": {}}
_KNOWN: dict[str, object] = {}


def _defaults() -> Mapping[str, object]:
    if not _KNOWN:
        for name, said in item_schema()["properties"].items():
            _KNOWN[name] = _BY_TYPE[said["type"]] if isinstance(said["type"], str) else None
    return _KNOWN
