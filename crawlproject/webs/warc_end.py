"""Finds where a WARC stops being intact: where it was cut off, or from which record on it is damaged.

The reader of records skips what it cannot parse, so an archive that was cut off may look like a shorter one. Here the bytes
after the last record that was read are checked strictly: each record must be complete to its last byte (ISO 28500:2017
section 4, and annex D for records that are compressed one by one).
"""

from __future__ import annotations

import os
import re
import zlib
from typing import BinaryIO, NamedTuple

_BLOCK = 1 << 16
_LONGEST_HEAD = 1 << 20  # largest size of the headers of a record, in bytes
_GZIP = b"\x1f\x8b"
_PLAIN = b"WARC/"
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_BETWEEN = b"\r\n\r\n"  # ends both the headers of a record and the record


class Break(NamedTuple):
    """The record at byte ``start`` is not intact: it is ``cut`` off by the end of the file, or else cannot be read."""

    start: int
    cut: bool


class _Damaged(Exception):
    """The bytes cannot belong to a record."""


def first_break(file: BinaryIO, start: int) -> Break | None:
    """The first record at or after byte ``start`` that is not intact; None if all are. A record must begin at ``start``.

    Records may be compressed with gzip, each separately, or not at all. Raises ``OSError``.
    """
    size = file.seek(0, os.SEEK_END)
    while start < size:
        file.seek(start)
        magic = file.read(len(_PLAIN))
        try:
            if _PLAIN.startswith(magic):
                end = _end_of_plain(file, start, size)
            elif magic.startswith(_GZIP) or _GZIP.startswith(magic):
                end = _end_of_member(file, start)
            else:
                raise _Damaged
        except _Damaged:
            return Break(start, cut=False)
        if end is None or end > size:
            return Break(start, cut=True)
        start = end
    return None


def _end_of_member(file: BinaryIO, start: int) -> int | None:
    """The end of the gzip member that begins at ``start``; None if the file ends earlier."""
    file.seek(start)
    unpacker = zlib.decompressobj(31)
    head = b""
    try:
        while chunk := file.read(_BLOCK):
            while chunk and not unpacker.eof:
                unpacked = unpacker.decompress(chunk, _BLOCK)  # a bounded part at a time: it may be a gzip bomb
                chunk = unpacker.unconsumed_tail
                if len(head) < len(_PLAIN):
                    head = (head + unpacked)[: len(_PLAIN)]
                    if not _PLAIN.startswith(head):
                        raise _Damaged
            if unpacker.eof:
                return file.tell() - len(unpacker.unused_data)
    except zlib.error as damage:
        raise _Damaged from damage
    return None


def _end_of_plain(file: BinaryIO, start: int, size: int) -> int | None:
    """The end of the uncompressed record that begins at ``start``; None, or beyond ``size``, if the file ends earlier."""
    file.seek(start)
    head = b""
    while (at := head.find(_BETWEEN)) < 0:
        chunk = file.read(_BLOCK)
        if not chunk:
            return None
        head += chunk
        if len(head) > _LONGEST_HEAD:
            raise _Damaged
    length = _LENGTH.search(head, 0, at)
    if length is None:
        raise _Damaged
    end = start + at + len(_BETWEEN) + int(length[1])
    if end + len(_BETWEEN) <= size:
        file.seek(end)
        if file.read(len(_BETWEEN)) != _BETWEEN:
            raise _Damaged
    return end + len(_BETWEEN)
