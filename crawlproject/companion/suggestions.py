"""Which of the pages ahead are worth a person's while, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from crawlproject.companion.interests import Interests, page_vector
from crawlproject.companion.look_ahead import Ahead
from crawlproject.pages.text.vectors import DocumentFrequencies

SHOWN = 5  # suggestions at a time
LEAST = 0.15  # likeness from which a page is suggested


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A page that lies ``clicks`` ahead, the first of them on the link ``via``. ``because``: words of the person that it has."""

    url: str
    title: str
    score: float
    clicks: int
    via: str
    because: tuple[str, ...]


def suggest(
    ahead: Iterable[Ahead],
    interests: Interests,
    frequencies: DocumentFrequencies,
    *,
    without: Collection[str] = (),
    word_of: Callable[[str], str] = str,
    most: int = SHOWN,
    least: float = LEAST,
) -> list[Suggestion]:
    """The ``most`` pages that are most like the interests, best first; none below ``least``, none of ``without``."""
    found = []
    for place in ahead:
        if place.page.url in without:
            continue
        vector = page_vector(place.page.counts, frequencies)
        score = interests.likeness(vector)
        if score >= least:
            found.append((score, place, vector))
    found.sort(key=lambda item: (-item[0], item[1].clicks, item[1].page.url))
    return [
        Suggestion(
            place.page.url,
            place.page.title or place.via or place.page.url,
            score,
            place.clicks,
            place.via,
            tuple(map(word_of, interests.shared(vector))),
        )
        for score, place, vector in found[:most]
    ]
