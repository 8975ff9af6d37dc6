"""Recognises documents without content: captchas, consent pages, parked domains, pages that say there is no page.

Their own phrases decide, and how little other text they have: a page about captchas is long, a captcha is short. Long
documents are not looked at, so that most pages cost a comparison of two numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from crawlproject.pages.page_type_phrases import (
    CHALLENGE_WORDS,
    CHALLENGES,
    CONSENT_WORDS,
    CONSENTS,
    FOR_SALE,
    FOR_SALE_WORDS,
    MISSING_STRONG,
    MISSING_TITLE,
    MISSING_WEAK,
    MISSING_WORDS,
)
from crawlproject.records import Fetch, Page

CAPTCHA = "block/captcha"
CONSENT = "block/consent"
PARKED = "parked"
SOFT_404 = "soft_404"
NATURES = (CAPTCHA, CONSENT, PARKED, SOFT_404)

LONGEST = 1_800  # characters of text, links apart, of a document that can be a wall
_MISSING_LONGEST = 700  # of one that says in its text that it is not there, and not in its title
_FEW = 200  # characters: hardly any text
_MANY = 400  # characters: more links than a wall has
_SOON = 300  # characters into the text, where such a page says what it has to say
_TITLE_PARTS = re.compile(r"\s+[-|–—·»«/]+\s+|\s*[|»«]\s*|:\s+")
_WIDGETS = (b"captcha", b"cf-turnstile", b"_cf_chl_opt", b"challenge-form")


def page_type_of(title: str, text: str, linked: int, body: bytes) -> str:
    """One of ``NATURES``; empty for a document with content.

    ``text`` is the visible text and ``linked`` how many of its characters are links; ``body`` is looked through for the widgets
    of captchas.
    """
    own = len(text) - linked
    if own > 4 * LONGEST:
        return ""
    said = " ".join(text.lower().split())
    own = max(0, len(said) - linked)
    if own > LONGEST:
        return ""
    named = " ".join(title.lower().split())
    if linked < _MANY and _mentions(said, CHALLENGE_WORDS) and _is_captcha(named, said, own, body):
        return CAPTCHA
    if _mentions(said, FOR_SALE_WORDS) and FOR_SALE.search(said):
        return PARKED
    if _is_missing(named, said, own):
        return SOFT_404
    return CONSENT if _mentions(said, CONSENT_WORDS) and _is_consent(named, said, own, linked) else ""


def _mentions(said: str, words: tuple[str, ...]) -> bool:
    return any(word in said for word in words)


def _is_captcha(title: str, said: str, own: int, body: bytes) -> bool:
    """Two signs of a challenge in the words, or one and a widget; one is enough where hardly anything else is said."""
    found = sum(1 for pattern in CHALLENGES if pattern.search(said)) + any(p.search(title) for p in CHALLENGES)
    if not found:
        return False
    wanted = 1 if own < _FEW or any(widget in body for widget in _WIDGETS) else 2 if own < 2 * _FEW else 3
    return found >= wanted


def _is_consent(title: str, said: str, own: int, linked: int) -> bool:
    """A document that asks for consent and says nothing else: most of it is about that."""
    found = sum(1 for pattern in CONSENTS if pattern.search(said))
    named = any(pattern.search(title) for pattern in CONSENTS)
    return linked < _MANY and found + named >= 2 and own < (900 if found + named > 2 or named else 400)


def _is_missing(title: str, said: str, own: int) -> bool:
    """What is not there says so in its title, or soon in its text, and says little else."""
    parts = [part.strip(" .!…?") for part in _TITLE_PARTS.split(title)] if title else []
    named = any(part and MISSING_TITLE.fullmatch(part) for part in parts)
    if named and own < _MISSING_LONGEST:
        return True
    if not _mentions(said, MISSING_WORDS):
        return False
    if named:
        return bool(MISSING_STRONG.search(said) or MISSING_WEAK.search(said))
    if own > _MISSING_LONGEST:
        return False
    found = MISSING_STRONG.search(said) or (MISSING_WEAK.search(said) if own < _FEW else None)
    return found is not None and found.start() < _SOON


class PageTypeInspector:
    """Sets the page type that the reader found (``Page.signs``), or that the status implies."""

    def inspect(self, page: Page, fetch: Fetch) -> Page:
        for page_type in NATURES:
            if page.signs.get(page_type):
                return replace(page, page_type=page_type)
        return page

    def kept(self, page: Page) -> None:
        """Nothing is remembered."""
