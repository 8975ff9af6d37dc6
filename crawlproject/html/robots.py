"""What a page asks of robots: ``<meta name="robots">`` and the ``X-Robots-Tag`` header share one vocabulary."""

from __future__ import annotations

from typing import NamedTuple

# Rules that carry a value after a colon; any other "name:" addresses one robot by its name.
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


class RobotsRules(NamedTuple):
    """``noindex``: do not keep the page. ``nofollow``: do not follow its links."""

    noindex: bool = False
    nofollow: bool = False


def robots_rules(value: str) -> RobotsRules:
    """The rules in a meta tag's ``content`` or in ``X-Robots-Tag`` (several headers joined by commas).

    Case and unknown rules are ignored; ``none`` is ``noindex, nofollow``. Rules addressed to one robot by name
    (``somebot: noindex, nofollow``) are for that robot alone and are skipped up to the end of ``value``.
    """
    rules = set()
    for part in value.lower().split(","):
        name, colon, _ = part.partition(":")
        if colon and name.strip() not in _VALUED:
            break
        rules.add(part.strip())
    return RobotsRules(not rules.isdisjoint(("noindex", "none")), not rules.isdisjoint(("nofollow", "none")))
