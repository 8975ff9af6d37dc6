"""The queries that people search for: the log of a crawl folder, ``searches.jsonl``, and files of queries.

The log has one line per search: ``{"at": seconds since 1970, "query": "...", "hits": pages that matched}``, and nothing about
the person. A file of queries has one query per line and, after a tab, how often it is asked. A log can serve as such a file.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

import orjson

from crawlproject.errors import BadInput
from crawlproject.storage.append_log import read_lines, unexpected

SEARCHES = "searches.jsonl"
LONGEST = 500  # characters of a query that are kept
MOST = 100  # queries of a file that count, the most frequent ones

_WISH = "expected a query on each line and, after a tab, how often it is asked, above 0; or a log of searches"
_LEFT_OUT = re.compile(r'(?<!\S)-(?:"[^"]*"|\S+)|\b(?:AND|OR|NOT)\b|\b\w+:(?=\S)')  # -word, operators, title:
_MARKS = re.compile(r'[+"()*]')


@dataclass(frozen=True, slots=True)
class Searched:
    """A query as people asked it, ``times`` in all; ``hits`` pages matched the last time."""

    query: str
    times: int
    hits: int


def note_search(folder: Path, query: str, hits: int, at: float) -> None:
    """Add a search to the log, which only its owner may read. In a folder that cannot be written, nothing is logged."""
    line = orjson.dumps({"at": round(at, 3), "query": query[:LONGEST], "hits": hits}, option=orjson.OPT_APPEND_NEWLINE)
    with suppress(OSError):
        file = os.open(folder / SEARCHES, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            size = os.fstat(file).st_size
            if os.write(file, line) != len(line):  # the disk is full; the next line would go on with the half one
                os.ftruncate(file, size)
        finally:
            os.close(file)


def read_searches(folder: Path) -> list[Searched]:
    """The searches in a crawl folder, the most frequent first. Those that differ only in case or operators count as one.

    Raises ``BadCrawlDir`` for a damaged line.
    """
    return _searched(folder / SEARCHES)


def _searched(log: Path) -> list[Searched]:
    times, hits = Counter[str](), dict[str, int]()
    for number, line in enumerate(read_lines(log), start=1):
        try:
            if query := words_of(str(line.get("query", ""))):
                times[query] += 1
                hits[query] = int(line.get("hits", 0))
        except (AttributeError, TypeError, ValueError) as damage:
            raise unexpected(log, number, damage) from None
    return [Searched(query, number, hits[query]) for query, number in times.most_common()]


def words_of(query: str) -> str:
    """The words that a query asks for, in lower case, without operators and without those that it excludes."""
    return " ".join(_MARKS.sub(" ", _LEFT_OUT.sub(" ", query)).casefold().split())


def read_queries(path: Path) -> Mapping[str, float]:
    """The ``MOST`` most frequent queries of a file or a log, each with its share of their total frequency.

    Empty lines of a file, and those that begin with #, are ignored. Raises ``BadInput``, which names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"setting TOPIC_QUERIES: {path}", f"expected a readable file in UTF-8: {wrong}") from None
    found: dict[str, float] = {}
    if path.suffix == ".jsonl":
        found.update({searched.query: searched.times for searched in _searched(path)})
    else:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip() and not line.startswith("#"):
                query, times = _query(f"{path}, line {number}", line)
                found[query] = found.get(query, 0.0) + times
    best = dict(sorted(found.items(), key=lambda item: -item[1])[:MOST])
    if not best:
        raise BadInput(str(path), _WISH)
    return {query: times / sum(best.values()) for query, times in best.items()}


def _query(place: str, line: str) -> tuple[str, float]:
    query, _, number = line.partition("\t")
    try:
        times = float(number or 1)
    except ValueError:
        raise BadInput(place, _WISH) from None
    if not words_of(query) or not 0 < times < inf:
        raise BadInput(place, _WISH)
    return words_of(query), times
