"""Unpacks compressed bodies (RFC 9110 section 8.4.1) only as far as a page is read: a bomb costs no more than a page."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import brotli  # type: ignore[import-untyped]

from crawlproject.zstandard import zstd

BITE = 1024  # most bytes of input between two checks of the limit
PIECE = 2**16  # most bytes of output between two checks of the limit
BOMB_RATIO = 200  # a bomb unpacks to more than this many times its size
MAX_MEMBERS = 100  # concatenated gzip members or zstd frames in a body
MAX_WINDOW = 23  # bits: 8 MB, as much as RFC 9659 allows

_GZIP, _ZLIB, _RAW = 31, 15, -15  # window bits of zlib
_ERRORS = (zlib.error, brotli.error, zstd.ZstdError)

Pieces = Iterator[tuple[bytes, int]]  # unpacked bytes, and the number of packed bytes used so far


class Damaged(ValueError):
    """A body is not packed as its ``Content-Encoding`` says."""


class Unpacked:
    """An unpacked body: at most ``limit`` bytes in ``body``.

    ``is_cut``: the body is longer. ``is_bomb``: in addition, it is more than ``BOMB_RATIO`` times the bytes used; then ``body``
    may be empty. ``coding`` is gzip, x-gzip, deflate, br or zstd. A truncated or damaged body is unpacked up to the damage;
    raises ``Damaged`` if nothing comes before it.
    """

    def __init__(self, packed: bytes, coding: str, limit: int) -> None:
        if coding == "br" and announced_by_brotli(packed) > limit > BOMB_RATIO * len(packed):
            self.body, self.is_cut, self.is_bomb = b"", True, True
            return  # the decoder would fill a window of up to 16 MB first
        pieces: list[bytes] = []
        size = used = 0
        try:
            for piece, used in CODINGS[coding](packed):  # noqa: B007 used after the loop
                pieces.append(piece)
                size += len(piece)
                if size > limit:
                    break
        except _ERRORS as damage:
            if not size:
                raise Damaged(f"not {coding}: {damage}") from damage
        self.body = b"".join(pieces)[:limit]
        self.is_cut = size > limit
        self.is_bomb = self.is_cut and size > BOMB_RATIO * used


def announced_by_brotli(packed: bytes) -> int:
    """Return the size that the first meta-block announces, 1 to 2**24; 0 if it is empty (RFC 7932 sections 9.1, 9.2)."""
    bits = int.from_bytes(packed[:8], "little")
    window = 1 if not bits & 1 else 4 if bits >> 1 & 7 else 7  # number of bits that encode the window size
    bits >>= window
    is_last, is_empty = bits & 1, bits & 2
    bits >>= 1 + is_last
    nibbles = 4 + (bits & 3)
    if (is_last and is_empty) or nibbles == 7:
        return 0
    return (bits >> 2 & (1 << 4 * nibbles) - 1) + 1


def _bites(packed: bytes, start: int) -> Iterator[tuple[bytes, int]]:
    for at in range(start, len(packed), BITE):
        yield packed[at : at + BITE], min(at + BITE, len(packed))


def _unzipped(packed: bytes, window: int, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Unpack one member; the last number is its end."""
    zipped = zlib.decompressobj(window)
    for bite, used in _bites(packed, start):
        try:
            piece = zipped.decompress(bite, PIECE)
        except zlib.error:
            if window == _GZIP:
                yield from _before_damage(packed, start, used - len(bite))
            raise
        yield piece, used - len(zipped.unconsumed_tail)
        while not zipped.eof and (zipped.unconsumed_tail or len(piece) == PIECE):
            piece = zipped.decompress(zipped.unconsumed_tail, PIECE)
            yield piece, used - len(zipped.unconsumed_tail)
        if zipped.eof:
            yield b"", used - len(zipped.unused_data)
            return


def _before_damage(packed: bytes, start: int, at: int) -> Iterator[tuple[bytes, int]]:
    """Unpack the bite at ``at`` up to its damage, which is often just a wrong checksum behind all data."""
    zipped = zlib.decompressobj(_GZIP)
    zipped.decompress(packed[start:at])
    for used in range(at, min(at + BITE, len(packed))):
        yield zipped.decompress(packed[used : used + 1]), used + 1


def _gunzipped(packed: bytes) -> Pieces:
    used = 0
    for member in range(MAX_MEMBERS):
        if member and packed[used : used + 2] != b"\x1f\x8b":
            return
        start = used
        for piece, used in _unzipped(packed, _GZIP, start):
            yield piece, used


def _inflated(packed: bytes) -> Pieces:
    """Unpack deflate. Some servers send it without the zlib header."""
    try:
        zlib.decompressobj(_ZLIB).decompress(packed[:BITE], PIECE)
    except zlib.error:
        return _unzipped(packed, _RAW)
    return _unzipped(packed, _ZLIB)


def _unbrotlied(packed: bytes) -> Pieces:
    brotlied = brotli.Decompressor()
    for bite, used in _bites(packed, 0):
        yield brotlied.process(bite, output_buffer_limit=PIECE), used
        while not brotlied.can_accept_more_data():
            yield brotlied.process(b"", output_buffer_limit=PIECE), used
        if brotlied.is_finished():
            return


def _unzstded(packed: bytes) -> Pieces:
    used = 0
    for _ in range(MAX_MEMBERS):
        frame = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: MAX_WINDOW})
        start = used
        for bite, used in _bites(packed, start):
            yield frame.decompress(bite, PIECE), used
            while not frame.needs_input and not frame.eof:
                yield frame.decompress(b"", PIECE), used
            if frame.eof:
                used -= len(frame.unused_data)
                break
        if used >= len(packed):
            return


CODINGS = {"gzip": _gunzipped, "x-gzip": _gunzipped, "deflate": _inflated, "br": _unbrotlied, "zstd": _unzstded}
