"""Serialises WARC records: header and block in one gzip member per record (ISO 28500:2017)."""

from __future__ import annotations

import zlib
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import md5, sha1
from typing import NamedTuple
from uuid import UUID

import orjson

VERSION = "WARC/1.1"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_LEVEL = 3  # gzip level: 10 % larger than level 6, but 0.3 instead of 0.5 ms per page


class FirstCapture(NamedTuple):
    """URL and date of the first capture of a payload."""

    url: str
    date: str


class WrittenRecord(NamedTuple):
    """A serialised record, with the facts that an index needs."""

    data: bytes
    identity: str


def record(kind: str, fields: Mapping[str, str], block: bytes, *, identity: str) -> WrittenRecord:
    """Serialise a record of type ``kind``. ``identity`` is its URN; ``fields`` are the headers specific to the type."""
    lines = [VERSION, f"WARC-Type: {kind}", f"WARC-Record-ID: <{identity}>"]
    lines += [f"{name}: {_one_line(value)}" for name, value in fields.items() if value]
    lines += [f"WARC-Block-Digest: {digest_of(block)}", f"Content-Length: {len(block)}"]
    head = "\r\n".join(lines).encode("utf-8", "replace")
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)  # 31: gzip format, without a time stamp
    data = packer.compress(head + b"\r\n\r\n" + block + b"\r\n\r\n") + packer.flush()
    return WrittenRecord(data, identity)


def warcinfo(fields: Mapping[str, object], *, name: str, at: float, identity: str) -> WrittenRecord:
    """The first record of a file, which describes it. Values that are not strings are written as JSON."""
    block = warc_fields(
        (key, value if isinstance(value, str) else orjson.dumps(value, default=str).decode())
        for key, value in fields.items()
    )
    headers = {"WARC-Date": date_of(at), "WARC-Filename": name, "Content-Type": "application/warc-fields"}
    return record("warcinfo", headers, block, identity=identity)


def warc_fields(fields: Iterable[tuple[str, str]]) -> bytes:
    """A block of type ``application/warc-fields``."""
    return "".join([f"{name}: {_one_line(value)}\r\n" for name, value in fields]).encode("utf-8", "replace")


def identity_of(*parts: object) -> str:
    """A URN that is a function of ``parts``."""
    digest = md5("\n".join(map(str, parts)).encode("utf-8", "replace"), usedforsecurity=False).digest()
    return UUID(bytes=digest, version=4).urn


def digest_of(payload: bytes) -> str:
    """The SHA-1 digest in base 32, prefixed with ``sha1:``, as used in WARC files and their indexes."""
    return "sha1:" + b32encode(sha1(payload, usedforsecurity=False).digest()).decode()


def date_of(at: float) -> str:
    """``2024-03-09T08:00:00Z`` of seconds since 1970."""
    return datetime.fromtimestamp(max(0.0, at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp_of(date: str) -> str:
    """``20240309080000`` of ``2024-03-09T08:00:00Z``."""
    return "".join(character for character in date if character.isdigit())[:14]


def _one_line(value: str) -> str:
    return " ".join(value.split()) if not value.isprintable() else value


def joined(records: Sequence[WrittenRecord]) -> bytes:
    """The bytes of several records."""
    return b"".join([each.data for each in records])
