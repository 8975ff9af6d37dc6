"""A robots.txt file taken apart: the rules for one crawler, and the sitemaps (RFC 9309 section 2.2).

Which lines are meant is decided here, to the letter of the RFC; matching them against URLs is Protego's. Protego alone finds
a group by any part of a User-Agent header (``crawler`` in "a polite crawler", ``top`` in "topical"), ends lines where Python
does, and opens ``/`` to whoever is allowed ``/index.html``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf
from typing import NamedTuple
from urllib.parse import quote

MAX_SITEMAPS = 100  # of one file; each is a fetch

_LINES = re.compile("[^\r\n]{6,}")  # no shorter one says anything
_AGENT = ("user-agent", "useragent", "user agent")
_DISALLOW = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")  # people mean it
_DELAY = ("crawl-delay", "crawl delay")
_SITEMAP = ("sitemap", "sitemaps", "site-map")
_KEYS = (*_AGENT, *_DISALLOW, *_DELAY, *_SITEMAP, "allow")
_NO_COLON = re.compile(rf"({'|'.join(_KEYS)})\s+(.*)", re.IGNORECASE)
_TOKEN = re.compile("[A-Za-z0-9_-]+")  # of the RFC, and digits, which some crawlers have in their names
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z0-9_-]+)", re.IGNORECASE)
_NO_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # Python, and so Protego, takes them for some
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)


class RobotsFile(NamedTuple):
    """``rules`` are lines ``Allow: x``, ``Disallow: x`` and ``Crawl-delay: x`` for one crawler; ``sitemaps`` as written."""

    rules: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def product_token(agent: str) -> str:
    """The name, in lower case, by which robots.txt addresses a crawler with this token or User-Agent header.

    It is the first word: ``topical-crawler`` of ``topical-crawler/0.1 (see ...)``; of a header that begins like a browser's,
    the word after ``compatible;``. ``*`` when there is none.
    """
    disguised = _COMPATIBLE.search(agent) if agent.lower().startswith("mozilla/") else None
    found = disguised[1] if disguised else (_TOKEN.match(agent.strip()) or ["*"])[0]
    return found.lower()


def wildcards_in(rule: str) -> int:
    """How many wildcards a rule has, which take time to match."""
    return rule.count("*") + rule.endswith("$")


def read_robots(text: str, token: str, most_wildcards: float = inf) -> RobotsFile:
    """What a robots.txt says to the crawler with this product token.

    All groups that name it count as one; without any, those for ``*`` do (section 2.2.1). Only rules end a list of user
    agents: other records do not interfere (section 2.2.4). Reading ends when the rules that count have more than
    ``most_wildcards``.
    """
    is_named = token in text.lower()  # perhaps: then the rules for all others do not count yet
    wildcards = [0, 0]  # of the rules for it, and for all others
    named: list[str] | None = None
    others: list[str] = []
    sitemaps: list[str] = []
    agents: set[str] = set()
    listing = False  # whether the next user agent joins the list
    for key, value in _records(text):
        if key in _AGENT:
            agents = agents if listing else set()
            listing = True
            agents.add(_named(value))
            if token in agents and named is None:
                named = []
        elif key in _SITEMAP:
            if len(sitemaps) < MAX_SITEMAPS and value not in sitemaps:
                sitemaps.append(value)
        else:
            listing = listing and key in _DELAY
            for number, (name, rules) in enumerate(((token, named), ("*", others))):
                if value and rules is not None and name in agents:
                    rules.append(_rule(key, value))
                    wildcards[number] += wildcards_in(rules[-1])
            if wildcards[0] > most_wildcards or (wildcards[1] > most_wildcards and not is_named):
                break
    return RobotsFile(tuple(others if named is None else named), tuple(sitemaps))


def in_query(pattern_or_url: str) -> str:
    """With ``/`` for ``%2F`` behind the first ``?``, where both mean the same (section 2.2.2, table)."""
    path, mark, query = pattern_or_url.partition("?")
    return f"{path}?{_ESCAPED_SLASH.sub('/', query)}" if mark and "%2" in query else pattern_or_url


def _records(text: str) -> Iterator[tuple[str, str]]:
    for line in _LINES.finditer(text):
        record = line[0].partition("#")[0].strip(" \t")
        key, colon, value = record.partition(":")
        key = key.strip().lower()
        if colon and key in _KEYS:
            yield key, value.strip(" \t")
        elif found := _NO_COLON.fullmatch(record):
            yield found[1].lower(), found[2].strip(" \t")


def _named(value: str) -> str:
    """The product token in a User-agent line; what follows it, such as a version, is ignored."""
    found = _TOKEN.match(value)
    return "*" if value.startswith("*") else found[0].lower() if found else ""


def _rule(key: str, value: str) -> str:
    value = _NO_LINE_ENDS.sub(lambda found: quote(found[0]), value)
    if key in _DELAY:
        return f"Crawl-delay: {value}"
    if key != "allow":
        return f"Disallow: {in_query(value)}"
    return f"Allow: {in_query(value)}*" if value.endswith("/index.html") else f"Allow: {in_query(value)}"
