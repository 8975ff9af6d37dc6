"""Is a page the same for a browser as for us? After Wu and Davison, Cloaking and redirection: a preliminary study, AIRWeb 2005.

A page of the sample is fetched again under the name of a browser. When the browser lacks some of what we were shown, the page
may have changed by itself: so it is fetched once more as ourselves, and then once more as a browser. It is cloaked only if
much of what we are shown every time is shown to no browser at all:

    hidden = least share of a copy of ours that is surely missing from a copy of a browser's
    churn  = most that is missing from one copy and is in the other one, both fetched under one name
    cloaked: hidden - churn >= margin

of the text or of the links. What a browser is shown besides, such as banners, is no cloaking: nobody lies to us. So is a page
that has no text before its scripts have run, or an error: nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xxhash import xxh3_64_intdigest

from crawlproject.parts.probes.probe_log import CLOAKED, HONEST, OPEN, UNDECIDED
from crawlproject.parts.probes.probe_response import ProbeResponse
from crawlproject.parts.probes.probe_steps import AGAIN, BROWSER, BROWSER_AGAIN
from crawlproject.parts.probes.text_difference import (
    LEAST_LINKS,
    LEAST_SHINGLES,
    NOTHING,
    MinHashSet,
    PageCopy,
    copies_from,
    copy_of,
)
from crawlproject.records import Page
from crawlproject.urls.hosts import domain_of

TEXT_MARGIN = 0.15  # share of a text
LINKS_MARGIN = 0.35  # share of the links, of which there are fewer

_NEXT = {BROWSER: AGAIN, AGAIN: BROWSER_AGAIN}
_BLANK = 12  # shingles; a browser's copy with fewer is thought to be made by scripts


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a step of a probe says. ``then`` is the step that must follow with these ``copies``, or empty."""

    verdict: str
    why: str = ""
    hidden: float = 0.0
    churn: float = 0.0
    then: str = ""
    copies: tuple[float, ...] = ()


def is_sampled(url: str, share: float, seed: int) -> bool:
    """Whether a page is one of the ``share`` (0 to 1) that are probed: always the same ones for one ``seed``."""
    return xxh3_64_intdigest(url.encode("utf-8", "replace"), seed=seed & _WORD) < share * (_WORD + 1)


def can_be_judged(page: Page) -> bool:
    """Whether a page has enough text or links."""
    return len(page.terms) >= LEAST_SHINGLES or len(page.links) >= LEAST_LINKS


def judge(step: str, earlier: Sequence[float], answer: ProbeResponse, page: str) -> Judgement:
    """What the ``answer`` to a ``step`` says about ``page``; ``earlier`` are the numbers of the copies before, ours first."""
    if answer.trouble:
        return Judgement(UNDECIDED, answer.trouble)
    if answer.redirect and (step == AGAIN or domain_of(answer.redirect) == domain_of(page)):
        return Judgement(UNDECIDED, f"redirect to {answer.redirect}")
    new = copy_of(answer.page) if answer.page else NOTHING
    copies = copies_from(earlier)
    if step != AGAIN and answer.page and _is_blank(new, copies[0]):
        return Judgement(UNDECIDED, "a browser's copy without text")
    ours, browsers = [copies[0]], copies[1:2]
    ours += copies[2:3]
    (ours if step == AGAIN else browsers).append(new)
    return _judged(step, ours, browsers, (*earlier, *new.numbers()), answer.redirect)


def _judged(
    step: str, ours: Sequence[PageCopy], browsers: Sequence[PageCopy], numbers: tuple[float, ...], redirect: str
) -> Judgement:
    part, hidden, churn = max(_parts(ours, browsers), key=lambda found: found[1] - found[2] - found[3])[:3]
    if not any(hidden - churn >= margin for _, hidden, churn, margin in _parts(ours, browsers)):
        return Judgement(HONEST, "", hidden, churn)
    if step in _NEXT:
        return Judgement(OPEN, part, hidden, churn, _NEXT[step], numbers)
    return Judgement(CLOAKED, f"{part}, a redirect to {redirect}" if redirect else part, hidden, churn)


def _parts(ours: Sequence[PageCopy], browsers: Sequence[PageCopy]) -> list[tuple[str, float, float, float]]:
    """Of text and links: name, hidden, churn, margin. Where there is too little to judge, nothing is hidden."""
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
