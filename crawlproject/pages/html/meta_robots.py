"""What a page asks of robots: ``<meta name="robots">`` and the ``X-Robots-Tag`` header share one vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import inf
from typing import NamedTuple

# Rules that carry a value after a colon; any other "name:" addresses one robot by its name.
_UNAVAILABLE = "unavailable_after"
_VALUED = frozenset((_UNAVAILABLE, "max-snippet", "max-image-preview", "max-video-preview"))
_NAME = re.compile(r"\s*([A-Za-z0-9_*-]+)\s*:\s*(.*)", re.DOTALL)
_LONGEST_DATE = 3  # parts between commas: of "Friday, 25-Jun-10 15:00:00 GMT" two


class MetaRobots(NamedTuple):
    """``noindex``: do not keep the page. ``nofollow``: do not follow its links.

    ``unavailable_after``: from when on ``noindex`` holds, in seconds since the epoch.
    """

    noindex: bool = False
    nofollow: bool = False
    unavailable_after: float = inf

    def __or__(self, other: object) -> MetaRobots:
        """What is asked here or there: the stricter of both."""
        if not isinstance(other, MetaRobots):
            return NotImplemented
        return MetaRobots(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            min(self.unavailable_after, other.unavailable_after),
        )

    def bars(self, now: float) -> bool:
        """Whether the page is not to be kept ``now``."""
        return self.noindex or now > self.unavailable_after


NO_RULES = MetaRobots()


def robots_rules(value: str, agent: str = "") -> MetaRobots:
    """The rules for all robots and for the one called ``agent`` (in lower case), together.

    ``value`` is a meta tag's ``content``, or ``X-Robots-Tag``, each header on a line of its own. Case and unknown rules are
    ignored; ``none`` is ``noindex, nofollow``. What follows a name (``somebot: noindex, nofollow``) is for that robot, up
    to the next name or the end of the line.
    """
    words: set[str] = set()
    after = inf
    for line in value.split("\n"):
        ours = True
        parts = line.split(",")
        for number, part in enumerate(parts):
            named = _NAME.fullmatch(part)
            name = named[1].lower() if named else ""
            if named and name not in _VALUED:
                ours, part = name in (agent, "*"), named[2]
                named = _NAME.fullmatch(part)
                name = named[1].lower() if named else ""
            if not ours:
                continue
            if named and name == _UNAVAILABLE:
                after = min(after, _first_date(named[2], parts[number + 1 : number + _LONGEST_DATE]))
            elif not named:
                words.update(part.lower().split())
    none = "none" in words
    return MetaRobots(none or "noindex" in words, none or "nofollow" in words, after)


def _first_date(text: str, more: list[str]) -> float:
    """A date that may have commas in it, in seconds since the epoch; infinite when there is none."""
    for length in range(len(more) + 1):
        for at in _dates(",".join([text, *more[:length]]).strip()):
            return at
    return inf


def _dates(text: str) -> Iterator[float]:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            found = read(text)
            yield (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (TypeError, ValueError, OverflowError, IndexError):
            continue
