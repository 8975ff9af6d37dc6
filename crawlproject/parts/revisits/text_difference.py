"""What is new in a text, compared with the text before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

_SHINGLE = 5  # words in a row
_PASSAGES = 20  # that are shown of each text
_PASSAGE = 300  # characters that are shown of each
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
# Dates and counters change by themselves: they are all the same word.
_CHANGING = re.compile(
    r"\d|^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|am|pm|ago|today|yesterday)$"
)


def novelty(before: str, after: str) -> float:
    """The share of both texts that is in one of them only: the Jaccard distance of their sets of five words in a row, 0 to 1.

    Numbers and the names of months and days count as one word, so that a page that only states another date is not new.
    """
    old, new = set(shingles(before)), set(shingles(after))
    both = len(old & new)
    return 1.0 - both / (len(old) + len(new) - both) if old or new else 0.0


def passages(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines or sentences that are in ``after`` only, and those that are in ``before`` only, in their order; some of each."""
    old, new = list(_parts(before)), list(_parts(after))
    return _missing(new, old), _missing(old, new)


def shingles(text: str) -> Iterator[tuple[str, ...]]:
    """Each five words in a row, in lower case, with ``0`` for what changes by itself; fewer of a shorter text."""
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
    """The parts that ``others`` have not, as often as they have not."""
    left = Counter(others)
    found: list[str] = []
    for part in parts:
        if left[part] > 0:
            left[part] -= 1
        elif len(found) < _PASSAGES:
            found.append(part if len(part) <= _PASSAGE else part[: _PASSAGE - 1] + "\u2026")
    return tuple(found)
