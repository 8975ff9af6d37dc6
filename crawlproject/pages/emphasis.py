"""Emphasis in Markdown: whether CommonMark reads an asterisk as a mark depends on the characters beside it (section 6.2)."""

from __future__ import annotations

import re
from itertools import accumulate
from string import punctuation
from unicodedata import category

# Placeholders before and after emphasis and code until their neighbours are known; no text of a page contains them.
STRONG = "\x02", "\x03"
EMPHASIS = "\x04", "\x05"
CODE = "\x06", "\x07"

_MARKS = {"\x02": "**", "\x04": "*"}
_EDGE = re.compile("([\x02-\x05])")


def emphasised(text: str) -> str:
    """Replace the placeholders of emphasis by marks, except where CommonMark would read plain asterisks (section 6.2)."""
    for opening, closing in (STRONG, EMPHASIS, STRONG):
        text = text.replace(closing + opening, "")  # merge adjacent emphasis of the same kind
    pieces = _EDGE.split(text)  # texts, and an edge between any two
    before = [*accumulate(pieces[::2], lambda last, piece: piece[-1:] or last, initial="")][1:]
    after = [*accumulate(pieces[::-2], lambda last, piece: piece[:1] or last, initial="")][:0:-1]
    open_edges: list[int] = []
    ends: dict[int, int] = {}
    for edge in range(1, len(pieces), 2):
        if pieces[edge] in _MARKS:
            open_edges.append(edge)
        else:
            ends[open_edges.pop()] = edge
    around: list[str] = []
    touches = False  # whether the end of another emphasis, with its mark, is directly before
    for edge in range(1, len(pieces), 2):
        touches = touches and not pieces[edge - 1]
        if edge in ends:
            mark, end = _MARKS[pieces[edge]], ends[edge]
            sides = ((before[edge // 2], after[edge // 2 + 1]), (after[end // 2 + 1], before[end // 2]))
            is_written = not touches and mark not in around and all(_is_seen(*side) for side in sides)
            if around and any(_is_seen(inside, outside, certainly=False) for outside, inside in sides):
                is_written = False  # such a mark may close the enclosing emphasis
            pieces[edge] = pieces[end] = mark if is_written else ""
            around += [mark] if is_written else []
        elif pieces[edge]:
            around.remove(pieces[edge])
            touches = True
    return "".join(pieces)


def _is_seen(outside: str, inside: str, *, certainly: bool = True) -> bool:
    """Whether a mark between these characters is read as a mark; an empty character is the edge of the text.

    Code begins and ends with a backtick. ``certainly``: whether all readers agree. Symbols count as punctuation since
    CommonMark 0.31, before that only those of ASCII did.
    """
    outside, inside = ("`" if character in CODE else character for character in (outside, inside))
    if not inside or inside.isspace():
        return False
    beside, within = ("P", "PS") if certainly else ("PS", "P")
    return not outside or outside.isspace() or _is_punctuation(outside, beside) or not _is_punctuation(inside, within)


def _is_punctuation(character: str, categories: str) -> bool:
    return bool(character) and (character in punctuation or category(character)[0] in categories)
