"""The index of the WARC files of a crawl: ``records.jsonl``, one line for each response.

As CDXJ, the index has one line per capture, sorted, in separately compressed blocks (ZipNum). If bytes, whole files or their
index were lost since they were written, the index is brought in line with the files, so that the lost pages are archived
again.
"""

from __future__ import annotations

import heapq
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from itertools import islice
from pathlib import Path
from urllib.parse import unquote_plus

import orjson

from crawlproject.errors import trying_to
from crawlproject.storage.append_log import read_lines, unexpected, write_atomically
from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.storage.warc.record import stamp_of
from crawlproject.urls.post import POST, post_of

INDEX = "records.jsonl"
REVISIT = "warc/revisit"
ARCHIVE = ".warc.gz"  # the end of the names of archives

_RUN = 100_000  # lines sorted in memory
_BLOCK = 1024  # lines per compressed block


def read_entries(folder: Path) -> Iterator[IndexEntry]:
    """The lines of ``records.jsonl``, in the order in which they were written. Raises ``BadCrawlDir``."""
    path = folder / INDEX
    for number, line in enumerate(read_lines(path), start=1):
        try:
            entry = IndexEntry(**line)
            _refuse_strange(entry)
        except (TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None
        yield entry


def _refuse_strange(entry: IndexEntry) -> None:
    """Raise ``ValueError`` for a file that is not in the folder, which a folder from elsewhere may name, or an odd place."""
    if not isinstance(entry.file, str) or "/" in entry.file or not entry.file.endswith(ARCHIVE):
        raise ValueError(f"the file {entry.file}")
    if not all(isinstance(place, int) and place >= 0 for place in (entry.offset, entry.length, entry.end)):
        raise ValueError("expected whole numbers from 0 up")


def cdxj_line(entry: IndexEntry) -> bytes:
    """``SURT timestamp {json}``; the SURT is the URL with its host labels reversed, so that sites sort together.

    A POST has its method and its decoded body in the SURT and in separate fields, as in cdxj-indexer and pywb.
    """
    from surt import surt

    post = post_of(entry.url)
    fields = {
        "url": post.url if post else entry.url,
        "mime": entry.mime,
        "status": str(entry.status),
        "digest": entry.digest,
        "length": str(entry.length),
        "offset": str(entry.offset),
        "filename": entry.file,
    }
    key = entry.url
    if post:
        sent = unquote_plus(post.body)
        fields |= {"requestBody": sent, "method": POST}
        key = f"{post.url}{'&' if '?' in post.url else '?'}__wb_method={POST}&{sent}"
    return b"%s %s %s\n" % (
        surt(key).replace(" ", "%20").encode("utf-8", "replace"),
        stamp_of(entry.date).encode(),
        orjson.dumps(fields),
    )


def sorted_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Sort lines with bounded memory: merge sorted runs in temporary files."""
    iterator = iter(lines)
    with ExitStack() as files:
        runs: list[Iterable[bytes]] = []
        while run := sorted(islice(iterator, _RUN)):
            if len(run) < _RUN and not runs:
                yield from run
                return
            file = files.enter_context(tempfile.TemporaryFile())
            file.writelines(run)
            file.seek(0)
            runs.append(file)
        yield from heapq.merge(*runs)


def zipnum(lines: Iterable[bytes], name: str) -> Iterator[tuple[bytes, bytes]]:
    """The sorted lines as compressed blocks of the file ``name``, each with its line of the secondary index."""
    iterator = iter(lines)
    offset = 0
    while block := list(islice(iterator, _BLOCK)):
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        packed = packer.compress(b"".join(block)) + packer.flush()
        said = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{sha256(packed).hexdigest()}",
            "filename": name,
        }
        key = b" ".join(block[0].split(b" ", 2)[:2])
        yield packed, key + b" " + orjson.dumps(said) + b"\n"
        offset += len(packed)


def idx_head(name: str) -> bytes:
    """The first line of the secondary index."""
    return b"!meta 0 " + orjson.dumps({"format": "cdxj-gzip-1.0", "filename": name}) + b"\n"


def mend_index(folder: Path) -> list[str]:
    """Remove incomplete exchanges from the index and from the files; return descriptions of them.

    A revisit whose original is lost is removed, too. Raises ``StorageFailed`` and ``BadCrawlDir``.
    """
    if not (folder / INDEX).exists():
        found = sorted(path.name for path in folder.glob("*.warc.gz"))
        wish = "is missing: the content of the archive is unknown, so stored pages are archived again in a new file"
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
    """The sizes of the files in bytes, by name; 0 for a missing one."""

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
    """Keep only the complete exchanges of a file."""
    what = f"{path} was cut at byte {size}" if path.exists() else f"{path} is missing"
    with trying_to("write to", path):
        if end:
            os.truncate(path, end)
        else:
            path.unlink(missing_ok=True)
    return f"{what}: {count} exchanges from byte {end} on are lost; stored pages among them are archived again"
