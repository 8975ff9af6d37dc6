"""Endless prose: sentences of the words of a theme, held together by the function words of a language.

Two texts share no more than chance gives, so that only a copy looks like a copy. The words of a theme are those of its
phrase bank in the sample web.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random

from crawlproject.webs.sample import plan
from crawlproject.webs.sample.plan import EVERYDAY, Theme

THEMES: Sequence[Theme] = (*plan.THEMES, EVERYDAY)
KEYWORDS = {theme.key: tuple(theme.subjects) for theme in THEMES}  # the words that people search for and spammers write

_FRAMES = tuple(
    frame.split()
    for frame in (
        "the _ of the _ is a _ and not a _",
        "in the _ there are _ that _ for the _",
        "when a _ comes to the _ it may _ or _ with the _",
        "some of these _ have been _ since the _ of _",
        "we saw _ near the _ and wrote about the _",
        "it is the _ that makes every _ so _",
        "from _ to _ they were _ by the _",
        "my _ says that _ and _ are the same but I think not",
        "a _ under the _ can be as _ as the one in _",
        "you will find more about _ in the _ on the _",
        "after the _ had gone nobody knew what the _ was for",
        "how _ are they and why does the _ of a _ matter to us",
        "between _ and _ lies the _ which is what this is about",
        "there was no _ at all until _ was brought here by a _",
    )
)
_SMALL = frozenset(word for frame in _FRAMES for word in frame)
_WORD = re.compile(r"[^\W\d_]{4,}")
_OWN_SHARE = 0.42  # share of a text's longer words that belong to its theme; the rest are everyday words


@cache
def _words(key: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The longer words of a theme, most frequent first, with cumulative weights."""
    theme = next(theme for theme in THEMES if theme.key == key)
    text = " ".join([*theme.subjects, *(sentence for bank in theme.subjects.values() for sentence in bank)]).lower()
    counts = Counter(word for word in _WORD.findall(text) if word not in _SMALL)
    words = tuple(sorted(counts, key=lambda word: (-counts[word], word)))
    return words, tuple(accumulate(1.0 / (rank + 6) for rank in range(len(words))))


def word(key: str, rng: Random) -> str:
    """Draw a word of a theme by its frequency."""
    words, weights = _words(key)
    return rng.choices(words, cum_weights=weights)[0]


def sentence(key: str, rng: Random, own: float = _OWN_SHARE) -> str:
    """A sentence; ``own`` is the share of its longer words that belong to the theme."""
    parts = [
        part if part != "_" else word(key if rng.random() < own else EVERYDAY.key, rng) for part in rng.choice(_FRAMES)
    ]
    text = " ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def paragraphs(key: str, rng: Random, count: int, own: float = _OWN_SHARE) -> list[str]:
    """Paragraphs of three to seven sentences."""
    return [" ".join(sentence(key, rng, own) for _ in range(rng.randint(3, 7))) for _ in range(count)]


def headline(key: str, rng: Random) -> str:
    """The title of an article: its subject and one more word."""
    subject = rng.choice(KEYWORDS[key])
    frame = rng.choice(
        ("On {s} and {w}", "{s}: a {w} of our own", "The {w} of {s}", "{s}", "Notes about {s}", "{w}, {s}, {v}")
    )
    text = frame.format(s=subject, w=word(key, rng), v=word(EVERYDAY.key, rng))
    return f"{text[0].upper()}{text[1:]}"


def phrase(key: str, rng: Random) -> str:
    """The anchor text of a link that wants visits: the keywords of the theme and a bait."""
    bait = ("best", "free", "all about", "top 10", "pictures of", "guide to", "more on", "the truth about", "new:", "")
    return f"{rng.choice(bait)} {rng.choice(KEYWORDS[key])} {word(key, rng)}".strip()


def name(rng: Random) -> str:
    """An invented word for a host name."""
    syllables = (
        "ba",
        "cor",
        "den",
        "fil",
        "gar",
        "hol",
        "ist",
        "kam",
        "lor",
        "mun",
        "nef",
        "or",
        "pel",
        "rus",
        "tam",
        "vex",
    )
    return "".join(rng.choices(syllables, k=rng.randint(2, 3)))
