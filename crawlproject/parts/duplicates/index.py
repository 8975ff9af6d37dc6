"""Finds the first page with the same text among all pages of a crawl.

How much of the text two pages have to share (least Jaccard coefficient) depends on what else they share: on one host the
template, and title and URL show whether it is all they share.

    =================== ======================== ==================================================================
    hosts               title, name in the URL   least Jaccard coefficient
    =================== ======================== ==================================================================
    one                 both the same            ``SAME_BOTH`` = 0.70: the page in another dress, folder, version
    one                 title the same           ``SAME_TITLE`` = 0.80: under another URL, not only other numbers
    one                 name the same            ``SAME_NAME`` = 0.85: a licence, a code of conduct
    one                 both but for numbers     ``SAME_SERIES`` = 0.95: pages of a series that says nothing new
    one                 neither                  the very same text only: two pages that are mostly template
    two                 a headline of 4 words    ``SAME_HEADLINE`` = 0.50: articles of an agency
    two                 headline and name        the same: a licence between the menus of two sites
    two                 anything                 ``ELSEWHERE`` = 0.65: mirrors, licences
    =================== ======================== ==================================================================

Candidates are found by locality-sensitive hashing: 8 keys of 3 minima each, 6 of 2 minima with the headline, 6 with the
name. A pair at 0.7 shares one of the first with a probability of 0.96; at 0.5, with the headline the same, one of all with 0.94.
Pages with fewer than ``LEAST_SHINGLES`` shingles are too short for that and are compared as wholes.

Copies of a page mostly agree on its title or its name in the URL. Two manual pages of one site may share nine tenths of
their text, which is the site's; so may two copies of one page. What sets them apart is their headline, and what they say besides
the template of the site (``TemplateText``), once that is known. Lists of links alone make no copies: what pages say between them
has to be alike (``SAME_PROSE``).
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
NEAR = 0.3  # with the template of the site: below it nothing else is looked at
SAME_PROSE = 0.5  # of the terms outside links of two pages that are mostly links
SAME_MENU = 0.6  # of the names that links lead to
LEAST_SHINGLES = 50
WHOLE_TEXT = 100  # shingles from which on the very same text needs no other evidence
WHOLE_ANYWAY = (
    200  # under another title and another name: the terms leave out what is no word, as in "operator<" and "operator>"
)
SOME_TEXT = 10  # shingles from which on it needs the title or the name; below it needs the same links

_BANDS = 8
_ROWS = 3  # minima of a key
_BANDS_NAMED = 6  # keys with the headline, and with the name
_ROWS_NAMED = 2
_LONG = 4  # words of a headline that two articles do not share by chance
_COMPARED = 4  # candidates that are looked at: those with the most keys in common
_SEPARATOR = re.compile(r"\s+[|•·—–»:-]+\s+|\s*[|•»]\s*")
_WORD = re.compile(r"\w+(?:(?:!=|[-=<>+*/%^&|~#])+(?=\s|$))?")
_NUMBER = re.compile(r"[0-9]+")
_LOOKED_AT = 1000  # characters of a title
_SAY_NOTHING = frozenset(
    ("", "default", "home", "index", "intro", "introduction", "main", "overview", "readme", "start", "toc", "welcome")
)


class DuplicateIndex:
    """The originals of a crawl. About 280 bytes of memory for each, besides what ``originals`` needs.

    ``most``: when so many are known, no more are added, and duplicates of later pages are not found.
    """

    def __init__(self, originals: SketchStore, *, most: int = 1_000_000, template: TemplateText | None = None) -> None:
        self._originals = originals
        self._most = most
        self._keys = KeyTable()
        self._template = template or TemplateText()
        self._latest: tuple[OriginalPage | None, list[int]] = None, []  # a page and its keys
        self.last_url = ""  # of the original that came last

    def read_stored(self) -> str:
        """Remember what an earlier run has stored and is not known yet; the URL that came last, empty: there is none."""
        last_url = ""
        for number, original in enumerate(self._originals.stored(), start=len(self._originals)):
            self._enter(number, original)
            last_url = original.url
        return last_url

    def learned(self) -> dict[str, Any]:
        """All that is known, for a checkpoint."""
        keys, template, stored = fields_of(self._keys), self._template.learned(), self._originals.learned()
        return {"keys": keys, "template": template, "stored": stored, "last_url": self.last_url}

    def set_learned(self, learned: Mapping[str, Any]) -> None:
        """Know that again. Raises ``Unfit`` before anything has changed."""
        self._originals.set_learned(learned["stored"], learned["last_url"])
        set_fields(learned["keys"], self._keys)
        self._template.set_learned(learned["template"])
        self.last_url = learned["last_url"]

    def __len__(self) -> int:
        return len(self._originals)

    @property
    def size(self) -> int:
        """Bytes of memory of the keys."""
        return self._keys.size

    def first_with(self, page: OriginalPage) -> OriginalPage | None:
        """The first page with the text of ``page``; None when it is the first."""
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
        """Whether these two have the same text, as the table above has it, whatever their keys are."""
        if _same_whole(first, page):
            return True
        return min(page.shingles, first.shingles) >= LEAST_SHINGLES and self._likeness(page, first) > 0.0

    def _likeness(self, page: OriginalPage, found: OriginalPage) -> float:
        """How much of their own text two pages share, 0 when that is too little for what else they share."""
        least = threshold(found, page)
        if least > 1 or resemblance(found, page) < NEAR or not _same_prose(found, page):
            return 0.0
        jaccard = self._template.resemblance(page.url, page.minima, found.url, found.minima)
        return jaccard if jaccard >= least else 0.0

    def add(self, page: OriginalPage) -> None:
        """Remember a page that is no duplicate."""
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
        """Up to 20 keys. Those of the latest page are remembered: it is looked for first, and added later."""
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
    """What the index knows a page by. ``links``: those that ``links_of`` the page gave."""
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
        series=digest_of(_NUMBER.sub("#", f"{title}\n{name}")) if title else 0,  # part 1 and part 2 are of one series
        links=xxh3_64_intdigest(b"\n".join(links)) if links else 0,
        menu=sketch_names(link_names(links)),
        terms=sketch.terms,
        shingles=sketch.shingles,
        language=page.language,
        prose=sketch.prose,
    )


def leads_elsewhere(duplicate: OriginalPage, first: OriginalPage) -> bool:
    """Whether the links of a duplicate lead to other pages than those of the first.

    A licence appears on many sites, each time with the menu of its site. A duplicate of a page in another folder or with another
    session has links of the same names.
    """
    return same_names(duplicate.menu, first.menu) < SAME_MENU


def resemblance(one: OriginalPage, other: OriginalPage) -> float:
    """The estimated Jaccard coefficient of two pages."""
    return similarity(np.frombuffer(one.minima, "<u2"), np.frombuffer(other.minima, "<u2"))


def threshold(one: OriginalPage, other: OriginalPage) -> float:
    """How much of their text two pages have to share; above 1: none is enough."""
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
    """Whether one title is the other's without the name of the site, as that of a print view."""
    return one.headline == other.headline != 0 and (one.title == one.headline or other.title == other.headline)


def _same_prose(one: OriginalPage, other: OriginalPage) -> bool:
    """Whether two pages may be the same by what they say between their links, when that is little."""
    return not one.prose or not other.prose or same_names(one.prose, other.prose) >= SAME_PROSE


def _same_whole(one: OriginalPage, other: OriginalPage) -> bool:
    """Whether pages with the same terms in the same order are the same page."""
    if one.text != other.text:
        return False
    shingles = min(one.shingles, other.shingles)
    apart = one.title != other.title != 0 != one.title and one.name != other.name and one.headline != other.headline
    if shingles >= (WHOLE_ANYWAY if apart else WHOLE_TEXT) or one.links == other.links != 0:
        return True
    return shingles >= SOME_TEXT and (one.name == other.name or one.headline == other.headline != 0)


def title_of(title: str) -> str:
    """The words of a title, whose case and punctuation do not matter; empty for one word ("Home"), which says little.

    What follows a word at its end and is no punctuation is of the word: ``C++``, ``operator<=``.
    """
    words = _WORD.findall(title[:_LOOKED_AT].lower())
    return " ".join(words) if len(words) > 1 else ""


def headline(title: str) -> str:
    """The longest part of a title: on another site the rest, which is the name of the site, is another."""
    return max(map(title_of, _SEPARATOR.split(title[:_LOOKED_AT])), key=len)


def name_of(url: str) -> str:
    """The last segment of a canonical URL's path with its query, ``page?id=3``; ``/`` for the home page of a host.

    Names that say nothing (``index``, ``readme``) bring the segment before them.
    """
    path, mark, query = url[url.index("/", 8) :].partition("?")
    folder, _, name = path.rstrip("/").rpartition("/")
    if name.partition(".")[0].lower() in _SAY_NOTHING:
        name = f"{folder.rpartition('/')[2]}/{name}"
    return name + mark + query


def link_names(urls: Iterable[bytes]) -> set[bytes]:
    """The names of the pages that links lead to, queries left out: those of a duplicate are the same, wherever it is."""
    return {url.partition(b"?")[0].rstrip(b"/").rpartition(b"/")[2] for url in urls}
