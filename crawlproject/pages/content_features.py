"""What reading a document tells about its honesty, before anybody knows what it is about."""

from __future__ import annotations

from collections.abc import Mapping

from crawlproject.pages.html.document import Document
from crawlproject.pages.page_types import nature_of

# Names of signs, all shares from 0 to 1.
CONCEALED = "concealed"  # of the text that a browser does not show
LINKED = "linked"  # of the text that is links
REPEATED = "repeated_words"  # of the terms that are one of the five most frequent
SMALL_WORDS = (
    "small_words"  # of the words that carry no meaning; a language has a third or more, a list of keywords none
)

_WALL_TERMS = 350  # a document with more terms outside its links is no wall
_MANY_TERMS = 80  # a document with fewer says too little about itself
_NOTABLE = 0.45  # a share of repeated words, or of links, that few documents have: others are not told of
_TOP = 5


def signs_of(document: Document, counts: Mapping[str, int], terms: int, body: bytes) -> dict[str, float]:
    """The signs of a document that has so many ``terms``; a nature that makes it no content is a sign of 1.

    Shares of short documents mean nothing and are left out, and so are those that are nothing to speak of.
    """
    text = document.text
    linked = sum([link.anchor[1] - link.anchor[0] for link in document.links])
    share = min(1.0, linked / max(1, len(text)))
    signs: dict[str, float] = {}
    if terms * (1.0 - share) < _WALL_TERMS and (page_type := nature_of(document.title, text, linked, body)):
        signs[page_type] = 1.0
    if terms < _MANY_TERMS:
        return signs
    if document.concealed:
        signs[CONCEALED] = min(1.0, document.concealed / max(1, sum(map(len, text.split()))))
    if share > _NOTABLE:
        signs[LINKED] = share
    repeated = sum(sorted(counts.values())[-_TOP:]) / terms
    if repeated > _NOTABLE:
        signs[REPEATED] = repeated
        signs[SMALL_WORDS] = max(0.0, 1.0 - terms / max(1, len(text.split())))
    return {name: round(value, 3) for name, value in signs.items()}
