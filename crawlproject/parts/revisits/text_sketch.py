"""A text in 150 bytes: whether another one is the same, and about how much of it is new, can be told without the text.

The sketch has a digest of the set of five words in a row, their number, and the least of their hashes (Cohen and Kaplan,
PODC 2007). It calls two texts the same when ``difference.novelty`` is 0.
"""

from __future__ import annotations

import struct
from binascii import Error as BadBase64
from binascii import a2b_base64, b2a_base64
from heapq import nsmallest
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from crawlproject.parts.revisits.text_difference import shingles

LEAST = 32  # hashes of a sketch: the standard error of a novelty of a half is 0.09
_HEAD = struct.Struct("<QI")


class TextSketch(NamedTuple):
    """``digest``: 0 to 2^64 - 1; ``size``: different shingles; ``least``: rising hashes, 0 to 2^32 - 1, at most ``LEAST``."""

    digest: int
    size: int
    least: tuple[int, ...]

    def written(self) -> str:
        """As text."""
        packed = _HEAD.pack(self.digest, min(self.size, 2**32 - 1)) + struct.pack(f"<{len(self.least)}I", *self.least)
        return b2a_base64(packed, newline=False).decode("ascii")


def sketch_of(text: str) -> TextSketch:
    """The sketch of a text. O(n)."""
    hashes = {xxh3_64_intdigest(" ".join(shingle).encode("utf-8", "replace")) for shingle in shingles(text)}
    digest = sum(hashes) & (2**64 - 1)  # whatever their order
    return TextSketch(digest, len(hashes), tuple(nsmallest(LEAST, {each >> 32 for each in hashes})))


def read_sketch(written: str) -> TextSketch | None:
    """The sketch that was written so; None for another text."""
    try:
        packed = a2b_base64(written)
        digest, size = _HEAD.unpack_from(packed)
        return TextSketch(digest, size, struct.unpack(f"<{(len(packed) - _HEAD.size) // 4}I", packed[_HEAD.size :]))
    except (BadBase64, ValueError, struct.error):
        return None


def estimated_novelty(before: TextSketch, after: TextSketch) -> float:
    """About ``difference.novelty`` of the texts: 0 if they are the same, else more than 0, at most 1."""
    if before.digest == after.digest:
        return 0.0
    both = set(before.least) & set(after.least)
    least = nsmallest(LEAST, {*before.least, *after.least})
    share = sum(each in both for each in least) / len(least) if least else 0.0
    return max(1.0 - share, 1.0 / max(1, before.size + after.size))
