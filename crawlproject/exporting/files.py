"""Exports a crawl to one file in any of the formats; the file appears under its name only once it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from crawlproject.errors import BadInput
from crawlproject.exporting.markdown import StoredTexts
from crawlproject.exporting.selection import Item, Selection, read_items, require_crawl
from crawlproject.exporting.tables import write_csv, write_graphml, write_jsonl, write_parquet, write_parquet_parts
from crawlproject.exporting.units import read_joined, read_units, unit_properties
from crawlproject.exporting.wacz import write_wacz
from crawlproject.exporting.warc import write_warc
from crawlproject.exporting.whole import folder_written_whole, written_whole
from crawlproject.pages.text.printable import counted
from crawlproject.storage.crawl_files import refuse_crawl_file
from crawlproject.storage.page_files import item_schema

if TYPE_CHECKING:
    from crawlproject.parts.verticals.site_template import SiteTemplates

_TABLES = ("csv", "jsonl", "parquet")
_MARKDOWN = "markdown"  # a field that is made from the page file


@dataclass(frozen=True, slots=True)
class Job:
    """An export: the selected pages of ``crawl_dir``, at ``now`` (seconds since 1970), into a file called ``name``."""

    crawl_dir: Path
    manifest: dict[str, Any]
    selection: Selection
    now: float
    name: str
    templates: SiteTemplates | None = None
    fields: tuple[str, ...] = ()


def export_file(
    crawl_dir: Path,
    target: Path,
    kind: str,
    selection: Selection,
    *,
    now: float,
    templates: SiteTemplates | None = None,
    fields: Sequence[str] = (),
    parts: bool = False,
) -> str:
    """Write ``target`` completely or not at all; return a sentence about its contents.

    ``kind`` is one of ``FORMATS``; with ``parts``, for Parquet only, ``target`` is a new folder of files. ``now`` is in seconds
    since 1970. ``templates`` are the user's templates of sites, for units. ``fields`` are the fields of a row, by default all of
    the item. Raises ``BadInput`` and ``StorageFailed``.
    """
    if target.is_dir() and not parts:
        raise BadInput(str(target), "expected the name of a file, not a folder")
    if fields and kind not in _TABLES:
        raise BadInput("--fields", f"is for csv, jsonl and parquet, not for {kind}")
    if selection.without_reserved and kind in ("warc", "wacz"):
        raise BadInput("--without-reserved", f"a {kind.upper()} always holds the whole crawl")
    if selection.join_series and kind not in _TABLES:
        raise BadInput("--join-series", f"is for csv, jsonl, parquet, markdown and chunks, not for {kind}")
    if selection.split_units and kind not in _TABLES:
        raise BadInput("--split-units", f"is for csv, jsonl and parquet, not for {kind}")
    if selection.split_units and selection.join_series:
        raise BadInput("--split-units", "names the series of each unit; use it without --join-series")
    refuse_crawl_file(target)
    job = Job(crawl_dir, dict(require_crawl(crawl_dir)), selection, now, target.name, templates, tuple(fields))
    _properties(job)
    if parts:
        with folder_written_whole(target) as folder:
            return f"{counted(write_parquet_parts(_items(job), folder, _properties(job)), _noun(job))} in {target}"
    with written_whole(target) as file:
        return f"{FORMATS[kind](job, file)} in {target}"


def _items(job: Job) -> Iterator[Item]:
    if job.selection.split_units:
        found = read_units(job.crawl_dir, job.selection, job.templates)
    else:
        found = (read_joined if job.selection.join_series else read_items)(job.crawl_dir, job.selection)
    return _with_fields(job, found) if job.fields else found


def _with_fields(job: Job, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items with only the requested fields; missing texts are made from the page files."""
    texts = StoredTexts(job.crawl_dir, job.selection)
    made: dict[str, Callable[[Item], str]] = {_MARKDOWN: lambda item: texts.markdown(item) or ""}
    if not job.selection.split_units:  # a unit has its own text
        made["text_main"] = texts.main_text
    for item in items:
        yield {name: made[name](item) if name in made else item[name] for name in job.fields}


def _properties(job: Job) -> Mapping[str, Any] | None:
    """Return the fields of a row; None for those of an item. Raises ``BadInput`` for an unknown field."""
    known = unit_properties() if job.selection.split_units else item_schema()["properties"]
    if not job.fields:
        return known if job.selection.split_units else None
    if not job.selection.split_units:
        known = {**known, _MARKDOWN: {"type": "string"}}
    for name in job.fields:
        if name not in known:
            raise BadInput("--fields", f"there is no field {name!r}; expected {', '.join(known)}")
    return {name: known[name] for name in job.fields}


def _noun(job: Job) -> str:
    return "item" if job.selection.split_units else "page"


def _jsonl(job: Job, file: BinaryIO) -> str:
    return counted(write_jsonl(_items(job), file), _noun(job))


def _csv(job: Job, file: BinaryIO) -> str:
    return counted(write_csv(_items(job), file, _properties(job)), _noun(job))


def _parquet(job: Job, file: BinaryIO) -> str:
    return counted(write_parquet(_items(job), file, _properties(job)), _noun(job))


def _graphml(job: Job, file: BinaryIO) -> str:
    nodes, edges = write_graphml(read_items(job.crawl_dir, job.selection), job.crawl_dir / "links.jsonl", file)
    return f"{counted(nodes, 'page')} and {counted(edges, 'link')}"


def _warc(job: Job, file: BinaryIO) -> str:
    if job.selection.min_relevance:
        raise BadInput(
            "--min-relevance", "a WARC always holds the whole crawl; in a WACZ the selected pages are listed first"
        )
    count = sum(1 for _ in write_warc(job.crawl_dir, job.manifest, file.write, name=job.name, now=job.now))
    return counted(count, "response")


def _wacz(job: Job, file: BinaryIO) -> str:
    return counted(write_wacz(job.crawl_dir, job.manifest, file, job.selection, now=job.now), "page")


FORMATS: dict[str, Callable[[Job, BinaryIO], str]] = {
    "csv": _csv,
    "graphml": _graphml,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "wacz": _wacz,
    "warc": _warc,
}
