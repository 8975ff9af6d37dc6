"""Cuts a Markdown text into chunks for retrieval: along headings, then blocks, list items, lines, sentences, words.

A chunk is a range of the text, so nothing is lost, and nothing is in two chunks except the requested overlap. The largest
unit that fits into a chunk stays whole: a section with its subsections, a block (paragraph, list, table, code), an item, a
row or line, a sentence. Consecutive sections share a chunk while they fit, and so do the blocks of a section.

A word is a run of characters without white space; a run longer than 20 characters, such as a URL, counts as a word for
every 20. In scripts without spaces between words, a word is a letter.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

SIZE = 300  # words

# Scripts without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han; and their punctuation.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff00-\uff65\U00020000-\U0003ffff"
)
_LETTER = rf"(?=\w)[{_UNSPACED}]"
_WORD = re.compile(rf"{_LETTER}(?:(?![\w\s])[{_UNSPACED}])*|(?:(?!{_LETTER})\S){{1,20}}")
_FENCE = re.compile(r"(?:[ >]|[-+*] |\d{1,9}[.)] )*(`{3,})[^`]*$")
_HEADING = re.compile(r"(#{1,6}) +(.*)")
_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)]) ")
_SENTENCE = re.compile(
    "[.!?\u2026][\"'\u2019\u201d)\\]*_]*\\s+(?=\\S)|[\u3002\uff01\uff1f][\u300d\u300f\u2019\u201d]*\\s*(?=\\S)"
)
_INLINE = re.compile(r"\\([!-/:-@\[-`{-~])|\[((?:\\.|[^\[\]\\])*+)\]\([^()\s]*+\)|[*`]+")

# Ranks of the places where a text may be cut: the lower, the better. 1 to 6: before a heading of that level. _TORN: at a
# space in code or a table.
_BLOCK, _TOP_ITEM, _INNER, _LINE, _CODE_BLOCK, _CODE_LINE, _SENTENCE_START, _SPACE, _TORN, _ANYWHERE = range(7, 17)


class Chunk(NamedTuple):
    """``text[start:end]`` of ``words`` words, the first ``overlap`` of which repeat the end of the previous chunk.

    ``headings`` are the headings that apply to the whole chunk, the highest first, without markup.
    """

    start: int
    end: int
    words: int
    overlap: int
    headings: tuple[str, ...]


def chunks(text: str, size: int = SIZE, overlap: int = 0) -> list[Chunk]:
    """Return the chunks of a Markdown text, in order, each of at most ``size`` words.

    A chunk that continues a section repeats up to ``overlap`` words of the previous one: whole sentences or lines if
    possible, and fewer words if the rest would no longer fit. ``size`` is at least 1, ``overlap`` is less than ``size``.
    """
    cutter = _Cutter(text, size, overlap)
    cutter.cut_sections(0, len(text), 1)
    return cutter.found


class _Heading(NamedTuple):
    at: int
    end: int  # of its line
    level: int
    title: str


class _Cutter:
    def __init__(self, text: str, size: int, overlap: int) -> None:
        self._text = text
        self._size = size
        self._overlap = overlap
        self._words = [word.start() for word in _WORD.finditer(text)]
        self._headings: list[_Heading] = []
        self._ranks = self._read()
        self._places = sorted(self._ranks)
        self._by_rank: list[list[int]] = [[] for _ in range(_ANYWHERE + 1)]
        for place in self._places:
            self._by_rank[self._ranks[place]].append(place)
        self._path: list[int] = []  # numbers of the headings above the current place
        self._passed = 0
        self.found: list[Chunk] = []

    # ------------------------------------------------------------ places to cut

    def _read(self) -> dict[int, int]:
        """Return the rank of each place where the text may be cut."""
        ranks: dict[int, int] = {}
        torn: list[tuple[int, int]] = []  # lines of code and tables
        fence, after_blank, at = "", True, 0
        for line in self._text.split("\n"):
            end = at + len(line)
            bare = line.strip(" >\t\r")
            if fence:
                torn.append((at, end))
                if bare:
                    ranks[at] = _CODE_BLOCK if after_blank else _CODE_LINE
                if bare == fence:
                    fence = ""
            elif line.strip():
                ranks[at] = self._rank_of(line, at, after_blank)
                if opened := _FENCE.match(line):
                    fence = opened[1]
                if fence or line.startswith("|"):
                    torn.append((at, end))
            after_blank, at = not bare, end + 1
        self._note_words(ranks, torn)
        return ranks

    def _rank_of(self, line: str, at: int, after_blank: bool) -> int:
        if heading := _HEADING.match(line):
            self._headings.append(_Heading(at, at + len(line), len(heading[1]), plain(heading[2].strip())))
            return len(heading[1])
        if line[0] in " >\t":
            return _INNER if after_blank else _LINE
        return _BLOCK if after_blank else _TOP_ITEM if _ITEM.match(line) else _LINE

    def _note_words(self, ranks: dict[int, int], torn: Sequence[tuple[int, int]]) -> None:
        text = self._text
        starts = [start for start, _ in torn]

        def is_torn(place: int) -> bool:
            line = bisect_right(starts, place) - 1
            return line >= 0 and place < torn[line][1]

        begins_word = {
            *self._words
        }  # between two marks, as in 。。, no word begins, and half of one would be repeated uncounted
        for found in _SENTENCE.finditer(text):
            if found.end() in begins_word and not is_torn(found.end()):
                ranks.setdefault(found.end(), _SENTENCE_START)
        for place in self._words:
            if place and not text[place - 1].isspace():
                ranks.setdefault(place, _ANYWHERE)
            else:
                ranks.setdefault(place, _TORN if is_torn(place) else _SPACE)

    # ------------------------------------------------------------ cutting

    def cut_sections(self, start: int, end: int, level: int) -> None:
        """Cut a range along its headings of ``level``, and sections that are too large along the next lower headings.

        A heading without text of its own stays with what follows it.
        """
        if level == _BLOCK:
            self._cut_blocks(start, end)
            return
        open_at, is_open = start, False  # the chunk that may still grow
        for first, last in self._split(start, end, level):
            if is_open and self._count(open_at, last) > self._size and not self._is_headings(open_at, first):
                self._put(open_at, first)
                open_at = first
            is_open = self._count(open_at, last) <= self._size
            if not is_open:
                self.cut_sections(open_at, last, level + 1)
                open_at = last
        if is_open:
            self._put(open_at, end)

    def _cut_blocks(self, start: int, end: int) -> None:
        """Cut a range whose only headings are at its beginning; only a chunk that continues it gets an overlap."""
        open_at, goes_on = start, False
        for first, last in self._pieces(start, end, _BLOCK):
            room = self._size - self._overlap if goes_on else self._size
            if first > open_at and self._count(open_at, last) > room:
                self._put(open_at, first, goes_on=goes_on)
                goes_on = not self._is_headings(open_at, first)
                open_at = first
        self._put(open_at, end, goes_on=goes_on)

    def _pieces(self, start: int, end: int, rank: int) -> Iterator[tuple[int, int]]:
        """Yield a range in pieces that fit: units of this rank, and where one is too large, units of the next rank."""
        for first, last in self._split(start, end, rank):
            if rank == _ANYWHERE or self._count(first, last) <= self._size:
                yield first, last
            else:
                yield from self._pieces(first, last, rank + 1)

    def _split(self, start: int, end: int, rank: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a range between its places of this rank."""
        places = self._by_rank[rank]
        cuts = places[bisect_right(places, start) : bisect_left(places, end)]
        return zip([start, *cuts], [*cuts, end], strict=True)

    def _count(self, start: int, end: int) -> int:
        return bisect_left(self._words, end) - bisect_left(self._words, start)

    def _is_headings(self, start: int, end: int) -> bool:
        """Whether a range contains nothing but headings."""
        for number in range(bisect_left(self._headings, (start,)), bisect_left(self._headings, (end,))):
            heading = self._headings[number]
            if self._text[start : heading.at].strip():
                return False
            start = heading.end
        return not self._text[start:end].strip()

    # ------------------------------------------------------------ a chunk

    def _put(self, start: int, end: int, *, goes_on: bool = False) -> None:
        """Add the range as a chunk, unless it is blank."""
        words = self._count(start, end)
        if not words:
            return
        headings = self._above(start, end)
        begin = self._overlap_begins(start, min(self._overlap, self._size - words)) if goes_on else start
        text = self._text[begin:end]
        begin += len(text) - len(text.lstrip("\n"))
        repeated = self._count(begin, start)
        self.found.append(Chunk(begin, begin + len(text.strip("\n").rstrip()), words + repeated, repeated, headings))

    def _overlap_begins(self, start: int, words: int) -> int:
        """Return where the overlap begins: at a sentence or line, else at a word; never inside the previous overlap."""
        if words <= 0:
            return start
        before = self.found[-1]
        own = self._words[bisect_left(self._words, before.start) + before.overlap]
        earliest = max(own, self._words[max(bisect_left(self._words, start) - words, 0)])
        within = self._places[bisect_left(self._places, earliest) : bisect_left(self._places, start)]
        for worst in _SENTENCE_START, _SPACE:
            if (place := next((place for place in within if self._ranks[place] <= worst), None)) is not None:
                return place
        return start

    def _above(self, start: int, end: int) -> tuple[str, ...]:
        """Return the headings that apply to all text of a range, headings excepted. Ranges must come in order."""
        headings, path = self._headings, self._path
        numbers = range(self._passed, bisect_left(headings, (end,)))
        paths = []
        if self._text[start : headings[numbers[0]].at if numbers else end].strip():
            paths.append(path)
        for number in numbers:
            level = headings[number].level
            path = [*(above for above in path if headings[above].level < level), number]
            until = headings[number + 1].at if number + 1 < numbers.stop else end
            if self._text[headings[number].end : until].strip():
                paths.append(path)
        self._path, self._passed = path, numbers.stop
        shared = takewhile(lambda same: len(set(same)) == 1, zip(*(paths or [path]), strict=False))
        return tuple(headings[same[0]].title for same in shared)


def plain(title: str) -> str:
    """Return a heading without its markup: escapes, links, emphasis, code."""
    return _INLINE.sub(lambda found: found[1] or (plain(found[2]) if found[2] else ""), title).strip()
