"""Finds the original of a page: the first page of a crawl with the same text.

How much text two pages must share (the least Jaccard coefficient) depends on what else they share. Pages of one host share
its template; their titles and URLs show whether they share more than that.

    =================== ======================== ==================================================================
    hosts               title, name in the URL   least Jaccard coefficient
    =================== ======================== ==================================================================
    one                 both equal               ``SAME_BOTH`` = 0.70: the page in another layout, folder, version
    one                 title equal              ``SAME_TITLE`` = 0.80: under another URL, not only other numbers
    one                 name equal               ``SAME_NAME`` = 0.85: a licence, a code of conduct
    one                 equal without numbers    ``SAME_SERIES`` = 0.95: pages of a series that says nothing new
    one                 both different           identical text only: two pages that are mostly template
    two                 a headline of 4 words    ``SAME_HEADLINE`` = 0.50: articles of an agency
    two                 headline and name        also 0.50: a licence between the menus of two sites
    two                 anything else            ``ELSEWHERE`` = 0.65: mirrors, licences
    =================== ======================== ==================================================================

Candidates are found by locality-sensitive hashing: 8 keys of 3 minima each, 6 of 2 minima with the headline, 6 of 2 minima with
the name. A pair at 0.7 shares one of the first 8 keys with a probability of 0.96; a pair at 0.5 with the same headline shares
one of all keys with 0.94. Pages with fewer than ``LEAST_SHINGLES`` shingles are too short for that: whole texts are compared.

Copies of a page mostly agree in the title or in the name in the URL. Two manual pages of one site may share nine tenths of
their text, all of it template; so may two copies of one page. They are told apart by the headline, and by the text outside the
template of the site (``TemplateText``), once the template is known. The same list of links does not make two pages copies: the
text between the links must be alike, too (``SAME_PROSE``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.core.learned_state import fields_of, set_fields
from crawlproject.pages.text.minhash import Sketch, same_names, similarity, sketch_names
from crawlproject.parts.duplicates.sketch_store import KeyTable, OriginalPage, SketchStore
from crawlproject.parts.duplicates.template_text import TemplateText
from crawlproject.parts.duplicates.url_rule import digest_of
from crawlproject.records import Page
from crawlproject.urls.hosts import host_of

SAME_BOTH = 0.70
SAME_TITLE = 0.80
SAME_NAME = 0.85
SAME_SERIES = 0.95
SAME_HEADLINE = 0.50
ELSEWHERE = 0.65
NEAR = 0.3  # resemblance, template included, below which pages are not compared further
SAME_PROSE = 0.5  # resemblance of the terms outside links, for two pages that are mostly links
SAME_MENU = 0.6  # resemblance of the names that links lead to
LEAST_SHINGLES = 50
WHOLE_TEXT = 100  # shingles from which identical text needs no other evidence
WHOLE_ANYWAY = (
    200  # the same under another title and name: terms lack punctuation, so "operator<" and "operator>" are the same
)
SOME_TEXT = 10  # shingles from which identical text needs the same headline or name; shorter text needs the same links

_BANDS = 8
_ROWS = 3  # minima in a key
_BANDS_NAMED = 6  # keys with the headline, and with the name
_ROWS_NAMED = 2
_LONG = 4  # words of a headline that two articles do not share by chance
_COMPARED = 4  # candidates that are compared: those with the most keys in common
_SEPARATOR = re.compile(r"\s+[|•·—–»:-]+\s+|\s*[|•»]\s*")
_WORD = re.compile(r"\w+(?:(?:!=|[-=<>+*/%^&|~#])+(?=\s|$))?")
_NUMBER = re.compile(r"[0-9]+")
_LOOKED_AT = 1000  # characters of a title that are used
_SAY_NOTHING = frozenset(
    ("", "default", "home", "index", "intro", "introduction", "main", "overview", "readme", "start", "toc", "welcome")
)


class DuplicateIndex:
    """The originals of a crawl. Each takes about 280 bytes of memory, in addition to its share of ``originals``.

    ``most``: once that many are known, no more are added, and duplicates of later pages are not found.
    """

    def __init__(self, originals: SketchStore, *, most: int = 1_000_000, template: TemplateText | None = None) -> None:
        self._originals = originals
        self._most = most
        self._keys = KeyTable()
        self._template = template or TemplateText()
        self._latest: tuple[OriginalPage | None, list[int]] = None, []  # a page and its keys
        self.last_url = ""  # of the original added last

    def read_stored(self) -> str:
        """Add the stored originals that are not known yet; return the URL of the last one, or an empty string if none."""
        last_url = ""
        for number, original in enumerate(self._originals.stored(), start=len(self._originals)):
            self._enter(number, original)
            last_url = original.url
        return last_url

    def learned(self) -> dict[str, Any]:
        """The state for a checkpoint."""
        keys, template, stored = fields_of(self._keys), self._template.learned(), self._originals.learned()
        return {"keys": keys, "template": template, "stored": stored, "last_url": self.last_url}

    def set_learned(self, learned: Mapping[str, Any]) -> None:
        """Restore the state. Raises ``Unfit`` before anything is changed."""
        self._originals.set_learned(learned["stored"], learned["last_url"])
        set_fields(learned["keys"], self._keys)
        self._template.set_learned(learned["template"])
        self.last_url = learned["last_url"]

    def __len__(self) -> int:
        return len(self._originals)

    @property
    def size(self) -> int:
        """Bytes of memory that the keys take."""
        return self._keys.size

    def first_with(self, page: OriginalPage) -> OriginalPage | None:
        """The original that ``page`` duplicates: one with identical text, else the most similar one; None if there is none."""
        for number in self._keys.find([page.text]):
            found = self._originals[number]
            if found.url != page.url and _same_whole(found, page):
                return found
        if page.shingles < LEAST_SHINGLES:
            return None
        candidates = self._keys.find(self._keys_of(page))
        best, first = 0.0, None
        for number, _ in Counter(candidates).most_common(_COMPARED) if candidates else ():
            found = self._originals[number]
            if found.url == page.url or found.shingles < LEAST_SHINGLES:
                continue
            jaccard = self._likeness(page, found)
            if jaccard > best:
                best, first = jaccard, found
        return first

    def is_duplicate(self, page: OriginalPage, first: OriginalPage) -> bool:
        """Whether two pages have the same text by the table above, whatever their keys are."""
        if _same_whole(first, page):
            return True
        return min(page.shingles, first.shingles) >= LEAST_SHINGLES and self._likeness(page, first) > 0.0

    def _likeness(self, page: OriginalPage, found: OriginalPage) -> float:
        """The share of text outside the template that two pages have in common; 0 if it is below their ``threshold``."""
        least = threshold(found, page)
        if least > 1 or resemblance(found, page) < NEAR or not _same_prose(found, page):
            return 0.0
        jaccard = self._template.resemblance(page.url, page.minima, found.url, found.minima)
        return jaccard if jaccard >= least else 0.0

    def add(self, page: OriginalPage) -> None:
        """Add a page that is not a duplicate."""
        number = len(self._originals)
        if number < self._most:
            self._originals.append(page)
            self._enter(number, page)

    def close(self) -> None:
        self._originals.close()

    def _enter(self, number: int, page: OriginalPage) -> None:
        self.last_url = page.url
        keys = [page.text]
        if page.shingles >= LEAST_SHINGLES:
            self._template.add(page.url, page.minima, page.name)
            keys += self._keys_of(page)
        self._keys.add(keys, number)

    def _keys_of(self, page: OriginalPage) -> list[int]:
        """Up to 20 keys. Those of the latest page are cached: a page is looked up first and added later."""
        latest, keys = self._latest
        if latest is page:
            return keys
        minima, step = page.minima, len(page.minima) // _BANDS
        keys = []
        for band in range(_BANDS):
            keys.append(xxh3_64_intdigest(minima[band * step : band * step + 2 * _ROWS], seed=band))
        for band in range(_BANDS_NAMED):
            start = band * step + 2 * _ROWS
            for name in (page.headline, page.name):
                if name:
                    keys.append(xxh3_64_intdigest(minima[start : start + 2 * _ROWS_NAMED], seed=name ^ band))
        self._latest = page, keys
        return keys


def links_of(page: Page) -> list[bytes]:
    """The URLs of the links of a page, in UTF-8."""
    return "\n".join([link.url for link in page.links]).encode("utf-8", "replace").split(b"\n") if page.links else []


def original_of(page: Page, sketch: Sketch, links: Sequence[bytes] | None = None) -> OriginalPage:
    """What the index stores of a page. ``links``: the result of ``links_of(page)``, if the caller has it already."""
    links = links_of(page) if links is None else links
    title, head, name = title_of(page.title), headline(page.title), name_of(page.url)
    return OriginalPage(
        url=page.url,
        minima=sketch.minima.astype("<u2").tobytes(),
        text=sketch.text,
        title=digest_of(title),
        headline=digest_of(head),
        words=len(head.split()),
        name=digest_of(name),
        series=digest_of(_NUMBER.sub("#", f"{title}\n{name}")) if title else 0,  # part 1 and part 2 are one series
        links=xxh3_64_intdigest(b"\n".join(links)) if links else 0,
        menu=sketch_names(link_names(links)),
        terms=sketch.terms,
        shingles=sketch.shingles,
        language=page.language,
        prose=sketch.prose,
    )


def leads_elsewhere(duplicate: OriginalPage, first: OriginalPage) -> bool:
    """Whether the links of a duplicate lead to other pages than the links of its original.

    A licence appears on many sites, each time with the menu of that site. A duplicate in another folder or under another
    session has links with the same names.
    """
    return same_names(duplicate.menu, first.menu) < SAME_MENU


def resemblance(one: OriginalPage, other: OriginalPage) -> float:
    """The estimated Jaccard coefficient of two pages."""
    return similarity(np.frombuffer(one.minima, "<u2"), np.frombuffer(other.minima, "<u2"))


def threshold(one: OriginalPage, other: OriginalPage) -> float:
    """The share of text that two pages must have in common; above 1 if no share is enough."""
    name = one.name == other.name
    if host_of(one.url) != host_of(other.url):
        headed = one.headline == other.headline != 0 and (name or one.words >= _LONG)
        return SAME_HEADLINE if headed else ELSEWHERE
    if one.title == other.title != 0 or _one_is_headline(one, other):
        return SAME_BOTH if name else SAME_SERIES if one.series == other.series != 0 else SAME_TITLE
    if name:
        return SAME_NAME
    return SAME_SERIES if one.series == other.series != 0 else 2.0


def _one_is_headline(one: OriginalPage, other: OriginalPage) -> bool:
    """Whether one title is the other without the name of the site, as in a print view."""
    return one.headline == other.headline != 0 and (one.title == one.headline or other.title == other.headline)


def _same_prose(one: OriginalPage, other: OriginalPage) -> bool:
    """Whether the text outside the links of two pages allows them to be the same; True unless both are mostly links."""
    return not one.prose or not other.prose or same_names(one.prose, other.prose) >= SAME_PROSE


def _same_whole(one: OriginalPage, other: OriginalPage) -> bool:
    """Whether two pages have the same terms in the same order, and enough evidence that they are the same page."""
    if one.text != other.text:
        return False
    shingles = min(one.shingles, other.shingles)
    apart = one.title != other.title != 0 != one.title and one.name != other.name and one.headline != other.headline
    if shingles >= (WHOLE_ANYWAY if apart else WHOLE_TEXT) or one.links == other.links != 0:
        return True
    return shingles >= SOME_TEXT and (one.name == other.name or one.headline == other.headline != 0)


def title_of(title: str) -> str:
    """The words of a title, without case and punctuation; empty for a single word ("Home"), which says little.

    Symbols directly after a word belong to the word: ``C++``, ``operator<=``.
    """
    words = _WORD.findall(title[:_LOOKED_AT].lower())
    return " ".join(words) if len(words) > 1 else ""


def headline(title: str) -> str:
    """The longest part of a title: the rest is the name of the site, which differs on another site."""
    return max(map(title_of, _SEPARATOR.split(title[:_LOOKED_AT])), key=len)


def name_of(url: str) -> str:
    """The last segment of a canonical URL's path with its query, ``page?id=3``; ``/`` for the home page of a host.

    A name that says nothing (``index``, ``readme``) is preceded by the segment before it.
    """
    path, mark, query = url[url.index("/", 8) :].partition("?")
    folder, _, name = path.rstrip("/").rpartition("/")
    if name.partition(".")[0].lower() in _SAY_NOTHING:
        name = f"{folder.rpartition('/')[2]}/{name}"
    return name + mark + query


def link_names(urls: Iterable[bytes]) -> set[bytes]:
    """The names of the pages that links lead to, without queries: a duplicate in another place links to the same names."""
    return {url.partition(b"?")[0].rstrip(b"/").rpartition(b"/")[2] for url in urls}
