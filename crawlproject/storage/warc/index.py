"""``records.jsonl``: a line for each response in the WARC files of a crawl."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crawlproject.storage.append_log import read_lines, unexpected
from crawlproject.storage.warc.capture import IndexEntry

INDEX = "records.jsonl"


def read_entries(folder: Path) -> Iterator[IndexEntry]:
    """The lines of ``records.jsonl``, in the order in which they were written. Raises ``BadCrawlDir``."""
    path = folder / INDEX
    for number, line in enumerate(read_lines(path), start=1):
        try:
            yield IndexEntry.from_json(line)
        except TypeError as damage:
            raise unexpected(path, number, damage) from None
