"""A crawl written to one file, in any of the formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from crawlproject.errors import BadInput
from crawlproject.exporting.graphml import write_graphml
from crawlproject.exporting.output import written_whole
from crawlproject.exporting.selection import Selection, read_items, require_crawl
from crawlproject.exporting.tables import write_csv, write_jsonl, write_parquet
from crawlproject.exporting.wacz import write_wacz
from crawlproject.exporting.warc import write_warc

Manifest = dict[str, Any]
Writer = Callable[[Path, Manifest, BinaryIO, Selection, float, str], str]


def export_file(crawl_dir: Path, target: Path, kind: str, selection: Selection, *, now: float) -> str:
    """Write ``target`` whole or not at all; a sentence that tells what is in it. ``now``: seconds since 1970.

    Raises ``BadInput`` and ``StorageFailed``.
    """
    if target.is_dir():
        raise BadInput(str(target), "expected the name of a file, not a folder")
    manifest = dict(require_crawl(crawl_dir))
    with written_whole(target) as file:
        return f"{FORMATS[kind](crawl_dir, manifest, file, selection, now, target.name)} in {target}"


def _jsonl(crawl_dir: Path, _: Manifest, file: BinaryIO, selection: Selection, __: float, ___: str) -> str:
    return _pages(write_jsonl(read_items(crawl_dir, selection), file))


def _csv(crawl_dir: Path, _: Manifest, file: BinaryIO, selection: Selection, __: float, ___: str) -> str:
    return _pages(write_csv(read_items(crawl_dir, selection), file))


def _parquet(crawl_dir: Path, _: Manifest, file: BinaryIO, selection: Selection, __: float, ___: str) -> str:
    return _pages(write_parquet(read_items(crawl_dir, selection), file))


def _graphml(crawl_dir: Path, _: Manifest, file: BinaryIO, selection: Selection, __: float, ___: str) -> str:
    nodes, edges = write_graphml(read_items(crawl_dir, selection), crawl_dir / "links.jsonl", file)
    return f"{_pages(nodes)} and {edges:,} links"


def _warc(crawl_dir: Path, manifest: Manifest, file: BinaryIO, selection: Selection, now: float, name: str) -> str:
    if selection.min_relevance:
        raise BadInput(
            "--min-relevance", "a WARC holds the whole crawl; for WACZ it chooses the pages that are listed first"
        )
    count = sum(1 for _ in write_warc(crawl_dir, manifest, file.write, name=name, now=now))
    return f"{count:,} responses"


def _wacz(crawl_dir: Path, manifest: Manifest, file: BinaryIO, selection: Selection, now: float, _: str) -> str:
    return _pages(write_wacz(crawl_dir, manifest, file, selection, now=now))


def _pages(number: int) -> str:
    return f"{number:,} page" + "s" * (number != 1)


FORMATS: dict[str, Writer] = {
    "csv": _csv,
    "graphml": _graphml,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "wacz": _wacz,
    "warc": _warc,
}
