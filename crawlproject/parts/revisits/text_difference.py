"""What is new in a text, compared with the text before, or with a sketch of it in 140 bytes.

The sketch holds a digest of the set of shingles (five words in a row), their number, and the least of their hashes (Cohen and
Kaplan, PODC 2007). Two digests are equal exactly when the ``novelty`` of the texts is 0.
"""

from __future__ import annotations

import re
import struct
from binascii import Error as BadBase64
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

LEAST = 32  # hashes of a sketch: the standard error of a novelty of a half is 0.09

_SHINGLE = 5  # words in a row
_PASSAGES = 20  # shown of each text
_PASSAGE = 300  # characters shown of each passage
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
# Dates and counters change all the time: they all count as the same word.
_CHANGING = re.compile(
    r"\d|^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|am|pm|ago|today|yesterday)$"
)
_HEAD = struct.Struct("<QI")


def novelty(before: str, after: str) -> float:
    """The share of both texts that only one of them has: the Jaccard distance of their sets of five words in a row, 0 to 1.

    Numbers and the names of months and days count as one word, so that a page that only states another date is not new.
    """
    old, new = set(shingles(before)), set(shingles(after))
    both = len(old & new)
    return 1.0 - both / (len(old) + len(new) - both) if old or new else 0.0


def passages(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines or sentences that only ``after`` has, and those that only ``before`` has, in their order; some of each."""
    old, new = list(_parts(before)), list(_parts(after))
    return _missing(new, old), _missing(old, new)


def shingles(text: str) -> Iterator[tuple[str, ...]]:
    """All sequences of five words, in lower case, with ``0`` for dates and counters; a shorter text is one sequence."""
    words = ["0" if _CHANGING.search(word) else word for word in _WORD.findall(text.lower())]
    if len(words) < _SHINGLE:
        yield tuple(words)
        return
    yield from zip(*(words[start:] for start in range(_SHINGLE)), strict=False)


def _parts(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        for part in _SENTENCE.split(line):
            if shown := " ".join(part.split()):
                yield shown


def _missing(parts: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """The parts that ``others`` lack, counted as often as they lack them."""
    left = Counter(others)
    found: list[str] = []
    for part in parts:
        if left[part] > 0:
            left[part] -= 1
        elif len(found) < _PASSAGES:
            found.append(part if len(part) <= _PASSAGE else part[: _PASSAGE - 1] + "\u2026")
    return tuple(found)


class TextSketch(NamedTuple):
    """``digest``: 0 to 2^64 - 1; ``size``: different shingles; ``least``: rising hashes, 0 to 2^32 - 1, at most ``LEAST``."""

    digest: int
    size: int
    least: tuple[int, ...]

    def written(self) -> str:
        """The sketch as text."""
        packed = _HEAD.pack(self.digest, min(self.size, 2**32 - 1)) + struct.pack(f"<{len(self.least)}I", *self.least)
        return b2a_base64(packed, newline=False).decode("ascii")


def sketch_of(text: str) -> TextSketch:
    """The sketch of a text. O(n)."""
    hashes = {xxh3_64_intdigest(" ".join(shingle).encode("utf-8", "replace")) for shingle in shingles(text)}
    digest = sum(hashes) & (2**64 - 1)  # independent of their order
    return TextSketch(digest, len(hashes), tuple(nsmallest(LEAST, {each >> 32 for each in hashes})))


def read_sketch(written: str) -> TextSketch | None:
    """The sketch that was written as this text; None for any other text."""
    try:
        packed = a2b_base64(written)
        digest, size = _HEAD.unpack_from(packed)
        return TextSketch(digest, size, struct.unpack(f"<{(len(packed) - _HEAD.size) // 4}I", packed[_HEAD.size :]))
    except (BadBase64, ValueError, struct.error):
        return None


def estimated_novelty(before: TextSketch, after: TextSketch) -> float:
    """An estimate of ``novelty``: 0 if the texts are the same, else more than 0, at most 1."""
    if before.digest == after.digest:
        return 0.0
    both = set(before.least) & set(after.least)
    least = nsmallest(LEAST, {*before.least, *after.least})
    share = sum(each in both for each in least) / len(least) if least else 0.0
    return max(1.0 - share, 1.0 / max(1, before.size + after.size))
