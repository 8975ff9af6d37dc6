"""Searches the full-text index. Snippets of the hits consist of whole sentences where these fit."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import tantivy

from crawlproject.configuration import program
from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.exporting.index.store import BOOSTS, FOLDER, TEXT, IndexState, damaged, open_to_search, read_state
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.languages import is_unspaced
from crawlproject.pages.text.printable import printable

MAX_QUERY = 1_000  # characters
MAX_REACH = 10_000  # hits that can be paged through
SNIPPET = 240  # characters
Range = tuple[int, int]

_PASSAGE = 3 * SNIPPET  # characters in which the best sentences are searched
OPERATOR = re.compile(r'"|(?:^|\s)[+-]\S|\w:\S|^\s*\*\s*$|\b(?:AND|OR|NOT|IN)\b')
_NO_OPERATOR = re.compile(r"[^\w\s]+|\b(?:AND|OR|NOT|IN)\b")
_SENTENCE = re.compile(r"\S.*?(?:[.!?…。！？]+(?=\s|$)|[。！？]+|$)")  # used without spaCy, which knows abbreviations
_ONLY_EXCLUDING = "AllButQueryForbiddenError"  # not an error here: Tantivy adds all pages to such a query
_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that matches a query.

    ``snippet`` is HTML: escaped sentences of the page, with the matches in ``<b>``. Hits are ranked by ``score``;
    ``relevance`` is the relevance of the page to the topic of the crawl. ``at`` is the time of the fetch in seconds since 1970,
    ``published`` the day of publication that the page states. ``title`` is plain text in one line.
    """

    url: str
    title: str
    snippet: str
    score: float
    relevance: float
    at: float
    md5: str
    language: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """``total`` pages match; ``hits`` are the requested ones, best first. ``note`` says what was not done, and why."""

    total: int
    hits: tuple[Hit, ...]
    note: str = ""


class Ranking(NamedTuple):
    """``total`` pages match a query; ``matches`` are scores and places of the requested ones, best first. ``note`` says why
    operators were not understood.
    """

    query: tantivy.Query
    total: int
    matches: list[tuple[float, tantivy.DocAddress]]
    note: str


def searchable(crawl_dir: Path) -> Searchable:
    """Open the full-text index of a crawl folder. Raises ``BadCrawlDir`` if there is none, or it is damaged."""
    stamp = crawl_dir / FOLDER / "pages" / "meta.json"
    try:
        changed = stamp.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        raise BadCrawlDir(str(crawl_dir), f"has no index to search; make one: {program} index {crawl_dir}") from None
    except OSError as error:
        raise damaged(crawl_dir, error) from None
    return _opened(crawl_dir.resolve(), changed)


@lru_cache(maxsize=4)
def _opened(crawl_dir: Path, changed: int) -> Searchable:
    """``changed``, the modification time, is part of the cache key: an updated index is opened again."""
    return Searchable(crawl_dir, read_state(crawl_dir) or IndexState(""))


class Searchable:
    def __init__(self, crawl_dir: Path, state: IndexState) -> None:
        self._crawl_dir = crawl_dir
        self._index, self._folder = open_to_search(crawl_dir, state)
        self._searcher = self._index.searcher()
        self._language = state.language
        self._analyzer = _analyzer_of(state.language)

    def search(self, text: str, limit: int, offset: int) -> SearchResult:
        """Return the ``limit`` best pages after the first ``offset``.

        The score is BM25 over title, text and the anchor that led to the page, with a boost of 3 for the title and 2 for
        the anchor, times log2(2 + 6 r) for a page of relevance r to the topic: of two equal matches the more relevant page
        comes first. Words are alternatives. ``+word``, ``-word``, ``"a phrase"``, ``AND``, ``OR``, parentheses and
        ``title:word`` work; ``*`` matches every page, ``-word`` alone every page without that word. A query with invalid
        operators is searched for as words, and ``note`` says so.
        """
        found = self.ranking(text, limit, offset)
        return SearchResult(found.total, tuple(self.hits(found.query, found.matches)), found.note)

    def ranking(self, text: str, limit: int, offset: int) -> Ranking:
        wanted = max(1, min(limit, MAX_REACH - offset))
        if offset >= MAX_REACH:
            wanted, offset, limit = 1, 0, 0
        try:
            query, found, note = self._found(text, wanted, count=True, offset=offset)
        except (ValueError, OSError) as damage:
            raise damaged(self._crawl_dir, damage) from None
        matches = [(float(score), place) for score, place in found.hits[:limit]]
        return Ranking(query, int(getattr(found, "count", 0)), matches, note)

    def hits(self, query: tantivy.Query, matches: Sequence[tuple[float, tantivy.DocAddress]]) -> list[Hit]:
        try:
            snippets = tantivy.SnippetGenerator.create(self._searcher, query, self._index.schema, TEXT)
            snippets.set_max_num_chars(_PASSAGE)
            pages = [(score, self._searcher.doc(place)) for score, place in matches]
            return [
                self._hit(score, page, self._snippet(_first(page, TEXT), snippets.snippet_from_doc(page)))
                for score, page in pages
            ]
        except (ValueError, OSError) as damage:
            raise damaged(self._crawl_dir, damage) from None

    def page(self, place: tantivy.DocAddress) -> str:
        """Return the MD5 of the page at a place."""
        return _first(self._searcher.doc(place), "md5")

    def place(self, page: str) -> tantivy.DocAddress | None:
        """Return the place of the page with that MD5; None if it is not in the index."""
        found = self._searcher.search(tantivy.Query.term_query(self._index.schema, "md5", page), 1).hits
        return found[0][1] if found else None

    def hit(self, score: float, place: tantivy.DocAddress, snippet: str) -> Hit:
        """Return the page at a place as a hit, with a ``snippet`` in HTML."""
        return self._hit(score, self._searcher.doc(place), snippet)

    def count_among(self, query: tantivy.Query, pages: Sequence[str]) -> int:
        """Return how many of these pages, given by MD5, match a query."""
        among = tantivy.Query.term_set_query(self._index.schema, "md5", pages)
        both = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, among)])
        return int(getattr(self._searcher.search(both, 1, count=True), "count", 0) or 0) if pages else 0

    def _found(self, text: str, limit: int, **options: Any) -> tuple[tantivy.Query, tantivy.SearchResult, str]:
        query, note = self._query(text)
        try:
            return query, self._searcher.search(query, limit, weight_by_field="weight", **options), note
        except ValueError as wrong:  # Tantivy rejects ``name:*`` for an unknown field only here
            query, note = self._of_words(text), _as_words(wrong)
            return query, self._searcher.search(query, limit, weight_by_field="weight", **options), note

    def _query(self, text: str) -> tuple[tantivy.Query, str]:
        """Return the query for a text, and a note on operators that were dropped."""
        text = text.encode("utf-8", "replace").decode()
        if is_unspaced(self._language) and text.strip() != "*":
            dropped = OPERATOR.search(text) is not None
            return self._of_characters(text), _as_words("the language has no spaces") if dropped else ""
        query, errors = self._index.parse_query_lenient(text, list(BOOSTS), field_boosts=BOOSTS)
        wrong = [error for error in errors if type(error).__name__ != _ONLY_EXCLUDING]
        return (self._of_words(text), _as_words(wrong[0])) if wrong else (query, "")

    def _of_words(self, text: str) -> tantivy.Query:
        """Return a query for the words of a text without its operators, for input such as a URL or a stray parenthesis."""
        return self._index.parse_query_lenient(_NO_OPERATOR.sub(" ", text), list(BOOSTS), field_boosts=BOOSTS)[0]

    def _of_characters(self, text: str) -> tantivy.Query:
        """Return a query in which words are alternatives; a word matches where all its character pairs occur."""
        words = []
        for word in _NO_OPERATOR.sub(" ", text).lower().split():
            terms = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
            for field, boost in BOOSTS.items():
                pairs = [
                    (tantivy.Occur.Must, tantivy.Query.term_query(self._index.schema, field, term)) for term in terms
                ]
                words.append(
                    (tantivy.Occur.Should, tantivy.Query.boost_query(tantivy.Query.boolean_query(pairs), boost))
                )
        return tantivy.Query.boolean_query(words) if words else tantivy.Query.empty_query()

    def _hit(self, score: float, page: tantivy.Document, snippet: str) -> Hit:
        return Hit(
            url=_first(page, "url"),
            title=_line(_first(page, "title")),
            snippet=snippet,
            score=score,
            relevance=float(_first(page, "relevance")),
            at=float(_first(page, "at")),
            md5=_first(page, "md5"),
            language=_first(page, "language"),
            published=_first(page, "published"),
        )

    def _snippet(self, text: str, found: tantivy.Snippet) -> str:
        """Return the best sentences in and before the best passage; the first ones if nothing in the text matches."""
        passage = found.fragment()
        encoded = passage.encode()
        marks = sorted((mark.start, mark.end) for mark in found.highlighted())
        marks = [mark for mark in marks if not self._is_stop_word(encoded[slice(*mark)].decode())]
        if not marks:
            return snippet(text[:_PASSAGE], (), self._language)
        before = text[: max(0, text.find(passage))][-SNIPPET:]
        matches: list[tuple[int, int]] = []
        for mark in marks:  # in bytes; marks of character pairs overlap
            start, end = (len(before) + len(encoded[:edge].decode()) for edge in mark)
            if matches and start <= matches[-1][1]:
                start = matches.pop()[0]
            matches.append((start, end))
        return snippet(before + passage, matches, self._language)

    def _is_stop_word(self, text: str) -> bool:
        """Whether a match is a stop word. Character pairs never are."""
        return self._analyzer is not None and not is_unspaced(self._language) and not self._analyzer.terms(text)


def _analyzer_of(language: str) -> Analyzer | None:
    """Return the analyzer; None for a language without stop words, and for an empty index, which has no language."""
    try:
        return Analyzer(language)
    except BadInput:
        return None


def _as_words(why: object) -> str:
    return f"searched for as words, without operators: {why}"


def _first(page: tantivy.Document, name: str) -> str:
    value = page.get_first(name)
    return "" if value is None else str(value)


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def snippet(text: str, matches: Sequence[Range], language: str, size: int = SNIPPET) -> str:
    """Return up to ``size`` characters of ``text`` as HTML, in one line, with the ``matches`` in ``<b>``.

    The snippet is the run of whole sentences with most matches, the first one in case of a tie. A sentence that is too
    long is cut to the words from a little before its first match on. Line ends end sentences, too. ``matches`` are
    ranges of characters, in order.
    """
    best = max(_runs(text, matches, language, size), key=lambda run: _matches_in(run, matches), default=(0, len(text)))
    start, end = _shortened(text, best, matches, size)
    edges = [start, *(edge for match in matches if start <= match[0] and match[1] <= end for edge in match), end]
    pieces = [html.escape(printable(text[one:other])) for one, other in pairwise(edges)]
    marked = [f"<b>{piece}</b>" if number % 2 else piece for number, piece in enumerate(pieces)]
    return " ".join("".join(marked).split())


def _runs(text: str, matches: Sequence[Range], language: str, size: int) -> Iterator[Range]:
    """Yield a run from each sentence with a match, or from every sentence if there is no match: as many as fit, at least one."""
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
    if find_spec("spacy") is None:
        return [sentence.span() for sentence in _SENTENCE.finditer(line)]
    pipeline = _sentencizer(language)
    with _LOCK, pipeline.memory_zone():  # else spaCy keeps every word it ever saw
        return [(sentence.start_char, sentence.end_char) for sentence in pipeline(line).sents]


def _matches_in(run: Range, matches: Sequence[Range]) -> int:
    return sum(run[0] <= start and end <= run[1] for start, end in matches)


def _shortened(text: str, run: Range, matches: Sequence[Range], size: int) -> Range:
    """Return ``run``, or ``size`` characters of it around its first match, cut between words."""
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
    """Return spaCy's rule-based sentence splitter, which knows the abbreviations of ``language``."""
    from spacy.util import get_lang_class  # takes a second: imported only for a search

    try:
        pipeline = get_lang_class("zh" if is_unspaced(language) else language)()
    except ImportError:  # the tokenizer of this language is a separate package
        pipeline = get_lang_class("xx")()
    pipeline.add_pipe("sentencizer")
    return pipeline
