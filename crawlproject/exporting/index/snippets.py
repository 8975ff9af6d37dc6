"""Snippets of pages that were found: whole sentences, where they fit."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any

from crawlproject.pages.text.languages import is_unspaced
from crawlproject.pages.text.printable import printable

SNIPPET = 240  # characters

Range = tuple[int, int]

_LOCK = Lock()


def snippet(text: str, matches: Sequence[Range], language: str, size: int = SNIPPET) -> str:
    """Up to ``size`` characters of ``text`` as HTML, in one line, with the ``matches`` in ``<b>``.

    It is the run of whole sentences with most matches, the first of those that are alike. Of a sentence that is too
    long, it is the words from a little before the first match on. Ends of lines end sentences, too. ``matches`` are
    ranges of characters, in order.
    """
    best = max(_runs(text, matches, language, size), key=lambda run: _matches_in(run, matches), default=(0, len(text)))
    start, end = _shortened(text, best, matches, size)
    edges = [start, *(edge for match in matches if start <= match[0] and match[1] <= end for edge in match), end]
    pieces = [html.escape(printable(text[one:other])) for one, other in pairwise(edges)]
    marked = [f"<b>{piece}</b>" if number % 2 else piece for number, piece in enumerate(pieces)]
    return " ".join("".join(marked).split())


def _runs(text: str, matches: Sequence[Range], language: str, size: int) -> Iterator[Range]:
    """From each sentence with a match on, or from each if there is none, as many as ``size`` has room for, or one."""
    sentences = list(_sentences(text, language))
    for number, (start, end) in enumerate(sentences):
        if not matches or _matches_in((start, end), matches):
            ends = [later for _, later in sentences[number:] if later - start <= size]
            yield start, max(ends, default=end)


def _sentences(text: str, language: str) -> Iterator[Range]:
    start = 0
    for line in text.splitlines(keepends=True):
        if not line.isspace():
            yield from ((start + begin, start + end) for begin, end in _sentences_of_line(line, language))
        start += len(line)


def _sentences_of_line(line: str, language: str) -> list[Range]:
    pipeline = _sentencizer(language)
    with _LOCK, pipeline.memory_zone():  # else spaCy keeps every word it ever saw
        return [(sentence.start_char, sentence.end_char) for sentence in pipeline(line).sents]


def _matches_in(run: Range, matches: Sequence[Range]) -> int:
    return sum(run[0] <= start and end <= run[1] for start, end in matches)


def _shortened(text: str, run: Range, matches: Sequence[Range], size: int) -> Range:
    """``run``, or ``size`` characters of it around its first match, cut between words."""
    start, end = run
    if end - start <= size:
        return run
    first = next((match[0] for match in matches if match[0] >= start), start)
    begin = max(start, min(first - size // 4, end - size))
    if begin > start:
        begin = text.find(" ", begin, first) + 1 or begin
    stop = min(end, begin + size)
    if stop < end:
        stop = max(text.rfind(" ", begin, stop), *(last for _, last in matches if last <= stop), begin) or stop
    return begin, stop


@lru_cache(maxsize=4)
def _sentencizer(language: str) -> Any:
    """spaCy's splitter of sentences by their marks, with the abbreviations of ``language``."""
    from spacy.util import get_lang_class  # takes a second: for those who search only

    try:
        pipeline = get_lang_class("zh" if is_unspaced(language) else language)()
    except ImportError:  # a language whose tokenizer is a package of its own
        pipeline = get_lang_class("xx")()
    pipeline.add_pipe("sentencizer")
    return pipeline
