"""What a page calls itself: its title and its name in the URL. Copies of a page mostly agree on one of them.

Two manual pages of one site may share nine tenths of their text, which is the site's; so may two copies of one page. What
sets them apart is their headline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SEPARATOR = re.compile(r"\s+[|•·—–»:-]+\s+|\s*[|•»]\s*")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"[0-9]+")
_LOOKED_AT = 1000  # characters of a title
_SAY_NOTHING = frozenset(
    ("", "default", "home", "index", "intro", "introduction", "main", "overview", "readme", "start", "toc", "welcome")
)


def title_of(title: str) -> str:
    """The words of a title, whose case and punctuation do not matter; empty for one word ("Home"), which says little."""
    return _two_or_more(title[:_LOOKED_AT])


def headline(title: str) -> str:
    """The longest part of a title: on another site the rest, which is the name of the site, is another."""
    return max(map(_two_or_more, _SEPARATOR.split(title[:_LOOKED_AT])), key=len)


def name_of(url: str) -> str:
    """The last segment of a canonical URL's path with its query, ``page?id=3``; ``/`` for the home page of a host.

    Names that say nothing (``index``, ``readme``) bring the segment before them.
    """
    path, mark, query = url[url.index("/", 8) :].partition("?")
    folder, _, name = path.rstrip("/").rpartition("/")
    if name.partition(".")[0].lower() in _SAY_NOTHING:
        name = f"{folder.rpartition('/')[2]}/{name}"
    return name + mark + query


def series_of(title: str, url: str) -> str:
    """What is left of title and name when all numbers are one: part 1 and part 2 are of one series; empty without a title."""
    named = title_of(title)
    return _NUMBER.sub("#", f"{named}\n{name_of(url)}") if named else ""


def link_names(urls: Iterable[str]) -> list[str]:
    """The names of the pages that links lead to, queries left out: those of a duplicate are the same, wherever it is."""
    names = []
    for url in urls:
        path = url.partition("?")[0].rstrip("/")
        names.append(path[path.rfind("/") + 1 :])
    return names


def _two_or_more(text: str) -> str:
    words = _WORD.findall(text.lower())
    return " ".join(words) if len(words) > 1 else ""
