"""CDXJ, the index of an archive: one line per capture, sorted, in separately compressed blocks (ZipNum)."""

from __future__ import annotations

import heapq
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from itertools import islice
from urllib.parse import unquote_plus

import orjson

from crawlproject.storage.warc.capture import IndexEntry
from crawlproject.storage.warc.record import stamp_of
from crawlproject.urls.post import POST, post_of

_RUN = 100_000  # lines sorted in memory
_BLOCK = 1024  # lines per compressed block


def cdxj_line(entry: IndexEntry) -> bytes:
    """``SURT timestamp {json}``; the SURT is the URL with its host labels reversed, so that sites sort together.

    A POST has its method and its decoded body in the SURT and in fields of their own, as cdxj-indexer and pywb have it.
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
