"""Is a page the same for a browser as for us? After Wu and Davison, Cloaking and redirection: a preliminary study, AIRWeb 2005.

A sampled page is fetched again under the name of a browser. If this copy lacks some of what we were shown, the page may only
have changed: so it is fetched once more as ourselves, and then once more as a browser. It is cloaked only if much of what we
are shown every time is shown to no browser at all:

    hidden = least share of one of our copies that is surely missing from a browser's copy
    churn  = largest share of one copy that is missing from another one fetched under the same name
    cloaked: hidden - churn >= margin

for the text or for the links. What only a browser is shown, such as banners, is no cloaking: it does not deceive the crawler.
Nothing follows from a page without text before its scripts have run, or from an error.

Personalised pages are found in the same way: a stranger, who is shown the page without the login of its host, takes the place
of the browser.

Two sketches represent a copy: one of the shingles of its text, with all numbers made equal, and one of the targets of its
links, without queries. The probe carries them through the frontier as numbers, so no memory, page file or worker has to keep
the copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
from xxhash import xxh3_64_intdigest

from crawlproject.pages.text.minhash import minima_of, shingle_hashes, similarity, term_hashes
from crawlproject.pages.text.plain_hashes import BINS, Minima
from crawlproject.parts.probes.probe_log import (
    AGAIN,
    BROWSER,
    BROWSER_AGAIN,
    CLOAKED,
    HONEST,
    LOGGED_IN_AGAIN,
    OPEN,
    OURS,
    PERSONALISED,
    STRANGER,
    STRANGER_AGAIN,
    UNDECIDED,
    ProbeResponse,
)
from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of

TEXT_MARGIN = 0.15  # share of a text
LINKS_MARGIN = 0.35  # share of the links, of which there are fewer
LEAST_SHINGLES = 50  # of a text that can be judged
LEAST_LINKS = 10  # of a page that can be judged

_NEXT = {BROWSER: AGAIN, AGAIN: BROWSER_AGAIN, STRANGER: LOGGED_IN_AGAIN, LOGGED_IN_AGAIN: STRANGER_AGAIN}
_BLANK = 12  # shingles: a browser's copy with fewer is probably made by scripts
_USUAL_ERROR = 0.03  # of the missing share, for sets of about the same size
_PACKED = 3  # 16-bit numbers in one number that a float holds exactly
_LENGTH = -(-2 * BINS // _PACKED) + 2


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a step of a probe. ``then`` is the step that must follow with these ``copies``; empty: none."""

    verdict: str
    why: str = ""
    hidden: float = 0.0
    churn: float = 0.0
    then: str = ""
    copies: tuple[float, ...] = ()


def is_sampled(url: str, share: float, seed: int) -> bool:
    """Whether a page is in the ``share`` (0 to 1) of pages that are probed: always the same ones for one ``seed``."""
    return xxh3_64_intdigest(url.encode("utf-8", "replace"), seed=seed & _WORD) < share * (_WORD + 1)


def can_be_judged(page: Page) -> bool:
    """Whether a page has enough text or links to be judged."""
    return len(page.terms) >= LEAST_SHINGLES or len(page.links) >= LEAST_LINKS


def judge(step: str, earlier: Sequence[float], answer: ProbeResponse, page: str) -> Judgement:
    """What the ``answer`` to a ``step`` says about ``page``; ``earlier`` are the numbers of earlier copies, ours first."""
    if answer.trouble:
        return Judgement(UNDECIDED, answer.trouble)
    if answer.redirect and (step in OURS or domain_of(answer.redirect) == domain_of(page)):
        return Judgement(UNDECIDED, f"redirect to {answer.redirect}")
    new = copy_of(answer.page) if answer.page else NOTHING
    copies = copies_from(earlier)
    if step not in OURS and answer.page and _is_blank(new, copies[0]):
        return Judgement(UNDECIDED, "a copy without text")
    ours, browsers = [copies[0]], copies[1:2]
    ours += copies[2:3]
    (ours if step in OURS else browsers).append(new)
    return _judged(step, ours, browsers, (*earlier, *new.numbers()), answer.redirect)


def _judged(
    step: str, ours: Sequence[PageCopy], browsers: Sequence[PageCopy], numbers: tuple[float, ...], redirect: str
) -> Judgement:
    part, hidden, churn = max(_parts(ours, browsers), key=lambda found: found[1] - found[2] - found[3])[:3]
    if not any(hidden - churn >= margin for _, hidden, churn, margin in _parts(ours, browsers)):
        return Judgement(HONEST, "", hidden, churn)
    if step in _NEXT:
        return Judgement(OPEN, part, hidden, churn, _NEXT[step], numbers)
    verdict = PERSONALISED if step == STRANGER_AGAIN else CLOAKED
    return Judgement(verdict, f"{part}, a redirect to {redirect}" if redirect else part, hidden, churn)


def _parts(ours: Sequence[PageCopy], browsers: Sequence[PageCopy]) -> list[tuple[str, float, float, float]]:
    """Name, hidden, churn and margin, for text and for links. Where there is too little to judge, nothing is hidden."""
    text = [copy.text for copy in ours], [copy.text for copy in browsers]
    links = [copy.links for copy in ours], [copy.links for copy in browsers]
    return [
        ("text", *_compared(*text, LEAST_SHINGLES), TEXT_MARGIN),
        ("links", *_compared(*links, LEAST_LINKS), LINKS_MARGIN),
    ]


def _compared(ours: Sequence[MinHashSet], browsers: Sequence[MinHashSet], least: int) -> tuple[float, float]:
    if min(own.size for own in ours) < least:
        return 0.0, 0.0
    hidden = min(own.surely_missing_from(other) for own, other in product(ours, browsers))
    pairs = [*product(ours, ours), *product(browsers, browsers)]
    return hidden, max(one.missing_from(other) for one, other in pairs)


def _is_blank(browsers: PageCopy, ours: PageCopy) -> bool:
    return browsers.text.size < _BLANK <= ours.text.size


_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True)
class MinHashSet:
    """A set by its ``minima``, shape (128,), and its ``size``."""

    minima: Minima
    size: int

    def missing_from(self, other: MinHashSet) -> float:
        """The share of this set that is not in the ``other``, 0 to 1, estimated; 0 if this set is empty.

        Sets of m and n elements with the Jaccard coefficient j have j / (1 + j) * (m + n) elements in common. The standard error
        is at most 0.04 for sets of one size.
        """
        if not self.size:
            return 0.0
        if not other.size:
            return 1.0
        alike = similarity(self.minima, other.minima)
        common = alike / (1.0 + alike) * (self.size + other.size)
        return min(1.0, max(0.0, 1.0 - common / self.size))

    def surely_missing_from(self, other: MinHashSet) -> float:
        """``missing_from``, less where it is a poor estimate: for a small set in a large one, such as a page below a long banner.

        It is lowered by three times the amount by which the standard error exceeds ``_USUAL_ERROR``.
        """
        if not self.size or not other.size:
            return self.missing_from(other)
        alike = similarity(self.minima, other.minima)
        error = sqrt(alike * (1.0 - alike) / BINS) * (self.size + other.size) / (1.0 + alike) ** 2 / self.size
        return max(0.0, self.missing_from(other) - 3.0 * max(0.0, error - _USUAL_ERROR))


@dataclass(frozen=True, slots=True)
class PageCopy:
    """One copy of a page."""

    text: MinHashSet
    links: MinHashSet

    def numbers(self) -> tuple[float, ...]:
        """The copy as 88 numbers, which ``copies_from`` reads."""
        minima = np.concatenate((self.text.minima, self.links.minima)).astype(np.int64)
        minima = np.concatenate((minima, np.zeros(-len(minima) % _PACKED, dtype=np.int64))).reshape(-1, _PACKED)
        packed = minima[:, 0] + (minima[:, 1] << 16) + (minima[:, 2] << 32)
        return float(self.text.size), float(self.links.size), *map(float, packed)


def copy_of(page: Page) -> PageCopy:
    """The sketches by which a page is compared."""
    _, folded = term_hashes(page.terms)
    places = {link.url.partition("?")[0].partition("://")[2] for link in page.links}
    linked = np.array([xxh3_64_intdigest(place.encode("utf-8", "replace")) for place in places], dtype=np.uint64)
    return PageCopy(MinHashSet(*minima_of(shingle_hashes(folded))), MinHashSet(*minima_of(linked)))


NOTHING = copy_of(Page(""))


def copies_from(numbers: Sequence[float]) -> list[PageCopy]:
    """The copies that these numbers encode, one after the other. Raises ``ValueError`` for any other numbers."""
    if len(numbers) % _LENGTH:
        raise ValueError(f"expected {_LENGTH} numbers a copy, got {len(numbers)}")
    return [_copy(numbers[start : start + _LENGTH]) for start in range(0, len(numbers), _LENGTH)]


def _copy(numbers: Sequence[float]) -> PageCopy:
    packed = np.array(numbers[2:], dtype=np.int64)
    minima = np.stack([packed >> shift & 0xFFFF for shift in (0, 16, 32)], axis=1).reshape(-1).astype(np.uint16)
    text, links = minima[:BINS], minima[BINS : 2 * BINS]
    return PageCopy(MinHashSet(text, int(numbers[0])), MinHashSet(links, int(numbers[1])))
