"""Measures of a document that hint at spam or at missing content, whatever its topic."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.pages.html.document import Document
from crawlproject.pages.page_types import page_type_of
from crawlproject.pages.script_made import is_script_made
from crawlproject.pages.text.terms import frequencies
from crawlproject.records import NEEDS_BROWSER

# Names of signs, all shares from 0 to 1.
CONCEALED = "concealed"  # of the text that a browser does not show
LINKED = "linked"  # of the text that is links
REPEATED = "repeated_words"  # of the terms that are one of the five most frequent
SMALL_WORDS = "small_words"  # of the words that are stop words: a third or more of prose, none of a list of keywords

_WALL_TERMS = 350  # a document with more terms outside its links is no wall
_MANY_TERMS = 80  # a document with fewer says too little about itself
_NOTABLE = 0.45  # a share of repeated words, or of links, that few documents have: smaller ones are left out
_TOP = 5


def signs_of(document: Document, counts: Mapping[str, int], terms: int, body: bytes) -> dict[str, float]:
    """The signs of a document that has so many ``terms``, by name; its page type, if it has no content, with the value 1, and
    ``NEEDS_BROWSER`` alone if its text is made by scripts.

    Shares are from 0 to 1. Those of short documents, which mean nothing, and low ones are left out.
    """
    text = document.text
    linked = sum([link.anchor[1] - link.anchor[0] for link in document.links])
    share = min(1.0, linked / max(1, len(text)))
    signs: dict[str, float] = {}
    if terms * (1.0 - share) < _WALL_TERMS:
        if page_type := page_type_of(document.title, text, linked, body):
            signs[page_type] = 1.0
        elif not document.redirect and is_script_made(text, linked, body):
            return {NEEDS_BROWSER: 1.0}
    if terms < _MANY_TERMS:
        return signs
    if document.concealed:
        signs[CONCEALED] = min(1.0, document.concealed / max(1, sum(map(len, text.split()))))
    if share > _NOTABLE:
        signs[LINKED] = share
    times = frequencies(counts)
    repeated = _TOP * max(times) / terms  # at most, which most pages need not be sorted for
    if repeated > _NOTABLE:
        repeated = sum(sorted(times)[-_TOP:]) / terms
    if repeated > _NOTABLE:
        signs[REPEATED] = repeated
        signs[SMALL_WORDS] = max(0.0, 1.0 - terms / max(1, len(text.split())))
    return {name: round(value, 3) for name, value in signs.items()}
