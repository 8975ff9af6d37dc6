"""Which of two copies a collection keeps: by the wanted language, the number of links to each, and the length of its URL."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from xxhash import xxh3_64_intdigest

_PLACES = 1 << 20  # of 4 bytes
_TAG = re.compile(r"([a-z]{2})(?:[-_@](?:[a-z]{2,8}|[0-9]{3}))*", re.IGNORECASE)
_ASKED = re.compile(r"[?&](?:lang|language|locale|hl)=([^&]*)", re.IGNORECASE)
_LETTERS = (  # ISO 639-1
    "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfygagdgl"
    "gngugvhahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulvmgmhmimk"
    "mlmnmrmsmtmynanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurwsascsdsesgsiskslsmsnsosqsrssstsusvswta"
    "tetgthtitktltntotrtstttwtyugukuruzvevivowawoxhyiyozazhzu"
)
_CODES = frozenset(map("".join, zip(_LETTERS[::2], _LETTERS[1::2], strict=True)))


def language_fit(url: str, language: str, wanted: Collection[str]) -> int:
    """How well a page fits the wanted languages, 1 to 6: first by the language in its URL, then by the one the page states.

    Two copies have the same text, so the folder says more than the page.
    """
    named = codes_in(url)
    by_url = 1 if not named else 2 if not named.isdisjoint(wanted) else 0
    return 1 + 2 * by_url + (code_of(language) in wanted)


def codes_in(url: str) -> set[str]:
    """The languages that a URL names, as in ``de.a.example``, ``/pt-br/``, ``page.html.en`` or ``?lang=fr``."""
    address, _, _ = url.partition("?")
    host, *segments = address.partition("://")[2].split("/")
    names = [host.partition(".")[0], *segments[:-1], *_ASKED.findall(url)]
    if segments:
        first, *suffixes = segments[-1].split(".")
        names += suffixes if len(suffixes) > 1 else [] if suffixes else [first]
    return {found[1].lower() for name in names if (found := _TAG.fullmatch(name))} & _CODES


def code_of(tag: str) -> str:
    """The language of a tag such as ``en-GB``."""
    return re.split("[-_]", tag.strip().lower())[0]


class LinkCounts:
    """About how many pages link to a URL, counted since the crawl was started or resumed. 4 MB in all."""

    def __init__(self) -> None:
        self._counts = np.zeros(_PLACES, dtype=np.uint32)

    def add(self, links: Sequence[bytes]) -> None:
        """Count the links of a page: URLs in UTF-8."""
        places = np.fromiter(map(xxh3_64_intdigest, links), np.uint64, len(links))
        self._counts[places & np.uint64(_PLACES - 1)] += 1  # numpy adds 1 to each place once

    def magnitude(self, url: str) -> int:
        """The number of pages in steps of a factor of two, 0 below four: the counts are not more precise than that."""
        return (int(self._counts[xxh3_64_intdigest(url.encode("utf-8", "replace")) & (_PLACES - 1)]) // 4).bit_length()
