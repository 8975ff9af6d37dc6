"""What the WARC files of a crawl have lost since they were written: bytes, whole files, or their index.

The index is brought in line with the files, so that the pages that were lost are archived again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from crawlproject.errors import StorageFailed
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.storage.warc.index import INDEX, read_entries

REVISIT = "warc/revisit"


def mend_index(folder: Path) -> list[str]:
    """Remove from the index, and from the files, what is no longer whole; say what that was.

    A revisit whose original is lost goes with it. Raises ``StorageFailed`` and ``BadCrawlDir``.
    """
    if not (folder / INDEX).exists():
        found = sorted(path.name for path in folder.glob("*.warc.gz"))
        wish = "is missing: what is in the archive is not known, and stored pages are archived again in a new file"
        return [f"{folder / INDEX} {wish}"] if found else []
    sizes, lost = _Sizes(folder), Counter[str]()
    for entry in read_entries(folder):
        lost[entry.file] += entry.end > sizes[entry.file]
    lost = +lost
    if not lost:
        return []
    write_atomically(folder / INDEX, (orjson.dumps(entry) + b"\n" for entry in _whole(read_entries(folder), sizes)))
    ends: Counter[str] = Counter()
    for entry in read_entries(folder):
        ends[entry.file] = max(ends[entry.file], entry.end)
    return [_cut(folder / name, sizes[name], ends[name], count) for name, count in lost.items()]


class _Sizes(dict[str, int]):
    """Bytes of the files by name; 0 of a missing one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> int:
        path = self._folder / name
        size = self[name] = path.stat().st_size if path.exists() else 0
        return size


def _whole(entries: Iterable[IndexEntry], sizes: _Sizes) -> Iterator[IndexEntry]:
    payloads: set[str] = set()
    for entry in entries:
        if entry.end > sizes[entry.file]:
            continue
        if entry.mime != REVISIT:
            payloads.add(entry.digest)
        elif entry.digest not in payloads:
            continue
        yield entry


def _cut(path: Path, size: int, end: int, count: int) -> str:
    """Leave only whole exchanges in a file."""
    what = f"{path} was cut at byte {size}" if path.exists() else f"{path} is missing"
    try:
        if end:
            os.truncate(path, end)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageFailed(f"cannot write to {path}: {error}") from error
    return f"{what}: {count} exchanges from byte {end} on are lost; stored pages among them are archived again"
