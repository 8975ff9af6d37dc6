"""A robots.txt file taken apart: the rules for one crawler, and the sitemaps (RFC 9309 section 2.2).

Which lines are meant is decided here, to the letter of the RFC; ``path_patterns.py`` matches them against URLs. Both find what
Protego finds, but that finds a group by any part of a User-Agent header (``crawler`` in "a polite crawler"),
ends lines where Python does, opens ``/`` to whoever is allowed ``/index.html``, and takes 0.2 s for the longest files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import NamedTuple

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
_PLAIN = r"[ \t]*{}[ \t]*:[ \t]*(/[!\"&-)+-~]*+)"  # a rule of printable ASCII without # $ % *
_RUN = r"(?>[\r\n]*+{}[ \t]*+(?=[\r\n]|\Z))++"  # of such lines: most of a long file
_RUNS = [
    (key, re.compile(_RUN.format(_PLAIN.format(key)), re.IGNORECASE), re.compile(_PLAIN.format(key), re.IGNORECASE))
    for key in ("allow", "disallow")
]
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)


class RobotsFile(NamedTuple):
    """What counts for one crawler. ``allowed`` and ``forbidden`` are patterns, with ``wildcards`` in all of them.

    ``delay`` is in seconds, 0 if none is asked for; ``sitemaps`` as written.
    """

    allowed: Sequence[str] = ()
    forbidden: Sequence[str] = ()
    delay: float = 0.0
    wildcards: int = 0
    sitemaps: tuple[str, ...] = ()


@dataclass(slots=True)
class _Group:
    """The rules of a user agent."""

    allowed: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    delay: float = 0.0
    wildcards: int = 0

    def add(self, key: str, value: str) -> None:
        if key in _DELAY:
            with suppress(ValueError):
                delay = float(value)
                self.delay = delay if isfinite(delay) and delay >= 0 else self.delay
            return
        value = in_query(value)
        self.patterns(key).append(value)
        self.wildcards += value.count("*") + value.endswith("$")

    def patterns(self, key: str) -> list[str]:
        """Those that the rules with this key name."""
        return self.allowed if key == "allow" else self.forbidden


def product_token(agent: str) -> str:
    """The name, in lower case, by which robots.txt addresses a crawler with this token or User-Agent header.

    It is the first word: ``topical-crawler`` of ``topical-crawler/0.1 (see ...)``; of a header that begins like a browser's,
    the word after ``compatible;``. ``*`` when there is none.
    """
    disguised = _COMPATIBLE.search(agent) if agent.lower().startswith("mozilla/") else None
    found = disguised[1] if disguised else (_TOKEN.match(agent.strip()) or ["*"])[0]
    return found.lower()


def read_robots(text: str, token: str, most_wildcards: float = inf) -> RobotsFile:
    """What a robots.txt says to the crawler with this product token.

    All groups that name it count as one; without any, those for ``*`` do (section 2.2.1). Only rules end a list of user
    agents: other records do not interfere (section 2.2.4). Reading ends when the rules that count have more than
    ``most_wildcards``.
    """
    is_named = token in text.lower()  # perhaps: then the rules for all others do not count yet
    named: _Group | None = None
    others = _Group()
    sitemaps: list[str] = []
    agents: set[str] = set()
    listing = False  # whether the next user agent joins the list
    at = 0
    while True:
        groups = [group for name, group in ((token, named), ("*", others)) if group is not None and name in agents]
        for key, lines, values in _RUNS:
            if run := lines.match(text, at):
                at, listing = run.end(), False
                for group in groups:
                    group.patterns(key).extend(values.findall(run[0]))
        line = _LINES.search(text, at)
        if line is None:
            break
        at = line.end()
        key, value = _record(line[0])
        if key in _AGENT:
            agents = agents if listing else set()
            listing = True
            agents.add(_named(value))
            if token in agents and named is None:
                named = _Group()
        elif key in _SITEMAP:
            if len(sitemaps) < MAX_SITEMAPS and value not in sitemaps:
                sitemaps.append(value)
        elif key:
            listing = listing and key in _DELAY
            for group in groups if value else ():
                group.add(key, value)
            if (named and named.wildcards > most_wildcards) or (others.wildcards > most_wildcards and not is_named):
                break
    rules = others if named is None else named
    return RobotsFile(rules.allowed, rules.forbidden, rules.delay, rules.wildcards, tuple(sitemaps))


def in_query(pattern_or_url: str) -> str:
    """With ``/`` for ``%2F`` behind the first ``?``, where both mean the same (section 2.2.2, table)."""
    path, mark, query = pattern_or_url.partition("?")
    return f"{path}?{_ESCAPED_SLASH.sub('/', query)}" if mark and "%2" in query else pattern_or_url


def _record(line: str) -> tuple[str, str]:
    """Key and value of a line; an empty key when it says nothing."""
    record = line.partition("#")[0].strip(" \t")
    key, colon, value = record.partition(":")
    key = key.strip().lower()
    if colon and key in _KEYS:
        return key, value.strip()
    found = _NO_COLON.fullmatch(record)
    return (found[1].lower(), found[2].strip()) if found else ("", "")


def _named(value: str) -> str:
    """The product token in a User-agent line; what follows it, such as a version, is ignored."""
    found = _TOKEN.match(value)
    return "*" if value.startswith("*") else found[0].lower() if found else ""
