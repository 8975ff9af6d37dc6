"""Writes topic files: drafts new ones, with keywords that characterise the examples, and edits existing ones, leaving
everything else as it was, comments included.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import category

from crawlproject.configuration import program
from crawlproject.errors import BadTopic
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.printable import printable
from crawlproject.records import Page

MIN_LETTERS = 3  # characters that a proposed keyword must have

_HEADER = re.compile(r"^[ \t]*\[[ \t]*examples[ \t]*\][ \t]*(?:#[^\r\n]*)?(?=\r?$)", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_LISTS = {
    key: re.compile(rf"""^[ \t]*(?:{key}|"{key}"|'{key}')[ \t]*=[ \t]*\[""", re.MULTILINE)
    for key in ("keywords", "seeds")
}
# Brackets inside of these do not count: the four kinds of TOML strings, and comments.
_OPAQUE = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)
_INDENT = "  "
_SLUG = 40  # characters of a name
_COMMENT = 120  # characters
_OF_WORDS = "LMN"  # categories of Unicode characters: letters, marks (vowels of Hindi or Thai), numbers


def with_examples(text: str, place: str, wanted: Mapping[str, tuple[str, bool]]) -> str:
    """Add entries to the lists ``positive`` and ``negative``, or remove them: ``{"positive": (entry, True)}`` adds one.

    Raises ``BadTopic`` if the result would have any other meaning.
    """
    new, meant = text, tomllib.loads(text)
    for key, (entry, is_wanted) in wanted.items():
        listed = meant.get("examples", {}).get(key, [])
        if is_wanted and entry not in listed:
            new = _added(new, key, json.dumps(entry, ensure_ascii=False))
        elif not is_wanted and entry in listed:
            new = re.sub(rf"{re.escape(json.dumps(entry, ensure_ascii=False))}[ \t]*,?[ \t]*", "", new, count=1)
    _check_examples(text, new, place, wanted)
    return new


def _added(text: str, key: str, entry: str) -> str:
    """Insert ``entry`` at the beginning of the list ``key``. A missing list or table is created."""
    header = _HEADER.search(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if header is None:
        return f"{text.rstrip()}{newline}{newline}[examples]{newline}{key} = [{entry}]{newline}"
    following = _TABLE.search(text, header.end())
    end = following.start() if following else len(text)
    found = re.compile(rf"^[ \t]*{key}[ \t]*=[ \t]*\[", re.MULTILINE).search(text, header.end(), end)
    if found is None:
        return f"{text[: header.end()]}{newline}{key} = [{entry}]{text[header.end() :]}"
    return f"{text[: found.end()]}{entry}, {text[found.end() :]}"


def _check_examples(before: str, after: str, place: str, wanted: Mapping[str, tuple[str, bool]]) -> None:
    """Check that the new text has the same meaning except for the entries. Raises ``BadTopic``."""
    meant, tables = tomllib.loads(before), dict[str, list[str]]()
    for key, (entry, is_wanted) in wanted.items():
        others = [one for one in meant.get("examples", {}).get(key, []) if one != entry]
        tables[key] = sorted([*others, *([entry] if is_wanted else [])])
    try:
        said = tomllib.loads(after)
        same = {key: value for key, value in said.items() if key != "examples"} == {
            key: value for key, value in meant.items() if key != "examples"
        } and all(sorted(said.get("examples", {}).get(key, [])) == entries for key, entries in tables.items())
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        listed = "; ".join(
            f"{key} {'with' if is_wanted else 'without'} {entry}" for key, (entry, is_wanted) in wanted.items()
        )
        raise BadTopic(place, f"examples: the lists cannot be edited; write by hand: {listed}")


def with_seeds(text: str, place: str, seeds: Sequence[str], comment: str) -> str:
    """Append ``seeds`` to the list of seeds in ``text``, below a comment of one line.

    Raises ``BadTopic`` if the list cannot be found, or if the edit would change anything else.
    """
    return _with(text, place, "seeds", seeds, comment)


def with_keywords(text: str, place: str, keywords: Sequence[str], comment: str) -> str:
    """As ``with_seeds``, but for the list of keywords."""
    return _with(text, place, "keywords", keywords, comment)


def _with(text: str, place: str, key: str, values: Sequence[str], comment: str) -> str:
    start, end = _list_of(key, text, place)
    items = text[start:end]
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"{_INDENT}# {comment}", *(f"{_INDENT}{_text(value)}," for value in values)]
    new = text[:start] + _closed(items) + newline + newline.join(lines) + newline + text[end:]
    _check_list(text, new, key, values, place)
    return new


def _list_of(key: str, text: str, place: str) -> tuple[int, int]:
    """The offsets after the opening bracket and of the closing bracket of the list."""
    found = _LISTS[key].search(text)
    if found is not None:
        position = found.end()
        while (bracket := text.find("]", position)) >= 0:
            opaque = next((o for o in _OPAQUE.finditer(text, position) if o.start() < bracket < o.end()), None)
            if opaque is None:
                return found.end(), bracket
            position = opaque.end()
    example = {"seeds": "https://example.org/", "keywords": "coral reef"}[key]
    raise BadTopic(place, f'{key}: the list cannot be found; expected {key} = ["{example}"] before any [table]')


def _closed(items: str) -> str:
    """The existing items with a trailing comma and no white space at the end."""
    bare = _OPAQUE.sub(_without_comment, items)
    last = len(bare.rstrip())
    if not last or bare[last - 1] == ",":
        return items.rstrip()
    return f"{items[:last]},{items[last:]}".rstrip()


def _without_comment(opaque: re.Match[str]) -> str:
    """Return a string unchanged, and a comment as blanks of the same length."""
    return " " * len(opaque[0]) if opaque[0].startswith("#") else opaque[0]


def _check_list(before: str, after: str, key: str, values: Sequence[str], place: str) -> None:
    """Check that the new text has the same meaning, plus the new values. Raises ``BadTopic``."""
    wanted = tomllib.loads(before)
    wanted[key] = [*wanted.get(key, []), *values]
    try:
        same = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise BadTopic(place, f"{key}: the list cannot be edited; add by hand: {', '.join(map(_text, values))}")


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a new topic file. ``pages`` is the budget (``CRAWL_MAX_PAGES``), 0 for none."""

    name: str
    keywords: Sequence[str]
    seeds: Sequence[str]
    language: str = "en"
    description: str = ""
    positive: Sequence[str] = ()
    pages: int = 0
    targets: Sequence[str] = ()
    ordering: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)  # origin of each seed, written as a comment


def topic_text(draft: Draft) -> str:
    lines = [
        f"# The topic of a crawl. Check it with `{program} topic check`; docs/topic-file.md describes the fields.",
        f"name = {_text(draft.name)}",
        *_list("keywords", draft.keywords),
        *_list("seeds", draft.seeds, draft.sources),
    ]
    if draft.language != "en":
        lines.append(f"language = {_text(draft.language)}")
    if draft.description:
        lines.append(f"description = {_text(draft.description)}")
    if draft.targets:
        lines += ["# For evaluation only: no ordering sees them.", *_list("targets", draft.targets)]
    if draft.positive:
        lines += ["", "[examples]", *_list("positive", draft.positive)]
    settings = [f"ORDERING = {_text(draft.ordering)}"] if draft.ordering else []
    settings += [f"CRAWL_MAX_PAGES = {draft.pages}"] if draft.pages else []
    if settings:
        lines += ["", "[crawl]", *settings]
    return "\n".join(lines) + "\n"


def name_for(keywords: Iterable[str]) -> str:
    """A name for a topic and its crawl folder, from the first keyword with a word: ``coral-reef``; by default ``topic``."""
    for keyword in keywords:
        words = "".join(letter if category(letter)[0] in _OF_WORDS else " " for letter in keyword.lower()).split()
        if words:
            return "-".join(words)[:_SLUG].strip("-")
    return "topic"


def characteristic_words(
    examples: Sequence[Page],
    background: Sequence[Page],
    analyzer: Analyzer,
    *,
    known: Iterable[str] = (),
    most: int = 5,
) -> list[str]:
    """The words that distinguish the examples from the ``background``, most characteristic first.

    The weight of a word is its mean share of the words of an example, times the logarithm of the ratio of the shares of
    examples and background pages that contain it (each smoothed by one page). A word must occur in at least half of the
    examples, in two if there are two, and in none of the ``known`` keywords. Words are returned in their most frequent
    form. The pages need their ``text``. Words of links do not count: they describe other pages, or are menu items.
    """
    taken = set(analyzer.terms(" ".join(known)))
    elsewhere = Counter(term for page in background for term in page.counts)
    own = [_own_words(page) for page in examples]
    found_on = Counter(term for counts in own for term in counts)
    weights: dict[str, float] = {}
    least = max(min(2, len(examples)), len(examples) / 2)
    for term, pages in found_on.items():
        if term in taken or pages < least or len(term) < MIN_LETTERS or not _is_word(term):
            continue
        lift = (pages + 1) / (len(examples) + 1) / ((elsewhere[term] + 1) / (len(background) + 1))
        share = sum(counts[term] / max(1, counts.total()) for counts in own) / len(examples)
        if lift > 1:
            weights[term] = share * math.log(lift)
    best = sorted(weights, key=lambda term: (-weights[term], term))[:most]
    spellings = _spellings(examples, analyzer)
    return [spellings.get(term, term) for term in best]


def _own_words(page: Page) -> Counter[str]:
    """The counts of the terms of a page outside of links."""
    linked = {place for link in page.links for place in range(link.anchor_span.start, link.anchor_span.end)}
    return Counter(term for place, term in enumerate(page.terms) if place not in linked)


def _is_word(text: str) -> bool:
    """Whether a word consists of letters and marks; ``str.isalpha`` rejects marks."""
    return text.isalpha() or (bool(text) and all(category(letter)[0] in "LM" for letter in text))


def _spellings(pages: Iterable[Page], analyzer: Analyzer) -> dict[str, str]:
    """The most frequent form of each term, in lower case."""
    found: dict[str, Counter[str]] = {}
    for page in pages:
        for word, times in Counter(page.text.lower().split()).items():
            bare = word.strip(".,;:!?()[]{}\"'«»“”‘’…")
            terms = analyzer.terms(bare)
            if len(terms) == 1 and _is_word(bare):
                found.setdefault(terms[0], Counter())[bare] += times
    return {term: max(words, key=lambda word: (words[word], word)) for term, words in found.items()}


def _list(name: str, values: Sequence[str], comments: Mapping[str, str] | None = None) -> list[str]:
    if len(values) == 1 and not comments:
        return [f"{name} = [{_text(values[0])}]"]
    said = {value: f"  # {_comment(comment)}" for value, comment in (comments or {}).items() if comment}
    return [f"{name} = [", *(f"  {_text(value)},{said.get(value, '')}" for value in values), "]"]


def _comment(text: str) -> str:
    """The text, which may be from the web, on one line and without control characters."""
    return " ".join(printable(text).split())[:_COMMENT]


def _text(value: str) -> str:
    """A TOML basic string, which equals a JSON string except that DEL is escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
