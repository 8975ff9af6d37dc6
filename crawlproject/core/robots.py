"""robots.txt by RFC 9309: the rules and sitemaps for one crawler, the meaning of a reply, and how long it is believed.

Pure: the caller passes in the reply and the time. This module selects the lines that apply, to the letter of the RFC; Protego
matches them against URLs. Protego alone would find a group by any part of a User-Agent header (``crawler`` in "a polite
crawler", ``top`` in "topical"), end lines where Python does, and allow ``/`` wherever ``/index.html`` is allowed.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from math import inf
from typing import NamedTuple
from urllib.parse import quote

from protego import Protego

from crawlproject.urls.hosts import host_of, origin_of

MAX_SITEMAPS = 100  # per file; each costs a fetch
MAX_BYTES = 512_000  # RFC 9309 section 2.5: at least 500 KiB must be parsed; the rest is cut off
MAX_REDIRECTS = 5  # section 2.3.1.2: at least this many are followed; after more, the file counts as missing
UNREACHABLE_AGE = 600.0  # seconds until an unreachable robots.txt is requested again
LEAST_AGE = 600.0  # seconds for which an uncacheable file is believed: each fetch is a visit of the host
LEAST_STATED = 60.0  # minimum seconds for which a file with a stated lifetime is believed
MAX_WILDCARDS = 2_000  # in the rules for this crawler: matching a URL then takes 1.5 ms
QUICK_WILDCARDS, QUICK_RULES = 100, 2_000  # with more, URLs are matched before a fetch only, not for every link
FORBIDDEN = "robots/forbidden"

_LINES = re.compile("[^\r\n]{6,}")  # no shorter line can be a record
_AGENT = ("user-agent", "useragent", "user agent")
_DISALLOW = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")  # with common misspellings
_DELAY = ("crawl-delay", "crawl delay")
_SITEMAP = ("sitemap", "sitemaps", "site-map")
_KEYS = (*_AGENT, *_DISALLOW, *_DELAY, *_SITEMAP, "allow")
_NO_COLON = re.compile(rf"({'|'.join(_KEYS)})\s+(.*)", re.IGNORECASE)
_TOKEN = re.compile("[A-Za-z0-9_-]+")  # as in the RFC, plus digits, which the names of some crawlers contain
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z0-9_-]+)", re.IGNORECASE)
_NO_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # Python, and so Protego, takes them for line ends
_ESCAPED_SLASH = re.compile("%2f", re.IGNORECASE)
_TOO_MANY_REQUESTS = 429


class RobotsFile(NamedTuple):
    """``rules`` are lines ``Allow: x``, ``Disallow: x`` and ``Crawl-delay: x`` for one crawler; ``sitemaps`` are as written."""

    rules: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def product_token(agent: str) -> str:
    """The name, in lower case, by which robots.txt addresses a crawler with this token or User-Agent header.

    It is the first word: ``topical-crawler`` of ``topical-crawler/0.1 (see ...)``. If the header begins like that of a browser,
    it is the word after ``compatible;``. ``*`` if there is none.
    """
    disguised = _COMPATIBLE.search(agent) if agent.lower().startswith("mozilla/") else None
    found = disguised[1] if disguised else (_TOKEN.match(agent.strip()) or ["*"])[0]
    return found.lower()


def wildcards_in(rule: str) -> int:
    """The number of wildcards in a rule, each of which takes time to match."""
    return rule.count("*") + rule.endswith("$")


def read_robots(text: str, token: str, most_wildcards: float = inf) -> RobotsFile:
    """The rules and sitemaps of a robots.txt for the crawler with this product token.

    All groups that name the crawler are combined; if there are none, those for ``*`` are (section 2.2.1). Only rules end a list
    of user agents: other records do not interfere (section 2.2.4). Reading ends when the rules that apply have more than
    ``most_wildcards``.
    """
    is_named = token in text.lower()  # possibly by a group, so the rules for ``*`` may not apply
    wildcards = [0, 0]  # of the rules for this crawler, and of those for ``*``
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
    """Replace ``%2F`` by ``/`` after the first ``?``, where both mean the same (section 2.2.2, table)."""
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


class RobotsRules:
    """The rules of one origin for one crawler, until ``expires`` (seconds since the epoch).

    ``agent`` is the product token or the User-Agent of the crawler. ``status`` 0 means that no reply came. A 4xx reply allows
    everything (section 2.3.1.3), a 5xx reply or none at all forbids everything (2.3.1.4). So does a 429, from a server that is
    overloaded, and a file with more than ``MAX_WILDCARDS``, which only serves to keep a crawler busy. ``sitemaps`` are the URLs
    of the ``Sitemap`` lines, as written.
    """

    def __init__(self, status: int, body: bytes, expires: float, agent: str) -> None:
        self.status = status
        self.expires = expires
        self.unreachable = status == 0 or status >= 500 or status == _TOO_MANY_REQUESTS
        self.failure = ""  # why there was no answer, if that is known
        self.asked_rest = 0.0  # seconds for which the server asked to be left alone
        self.sitemaps: tuple[str, ...] = ()
        self._parser: Protego | None = None
        self.reason = "unreachable" if self.unreachable else "forbidden"  # why a URL may not be fetched
        self.is_quick = False  # whether matching costs next to nothing
        self.forbids_some = False  # whether a file that came has rules that forbid; not set for an unreachable one
        if 200 <= status < 300:
            found = read_robots(_decoded(body), product_token(agent), MAX_WILDCARDS)
            self.sitemaps = found.sitemaps
            wildcards = sum(map(wildcards_in, found.rules))
            rules = found.rules if wildcards <= MAX_WILDCARDS else ("Disallow: /",)
            self.reason = "forbidden" if rules is found.rules else "wildcards"
            self.is_quick = (len(rules) <= QUICK_RULES and wildcards <= QUICK_WILDCARDS) or rules is not found.rules
            self._parser = Protego.parse("\n".join(("User-agent: *", *rules)))
            self.forbids_some = any(rule.startswith("Disallow:") for rule in rules)

    def allows(self, url: str) -> bool:
        """Whether the crawler may fetch ``url``; for a POST, the URL to which it is sent counts."""
        if self._parser is None:
            return not self.unreachable
        return self._parser.can_fetch(in_query(url.partition("#")[0]), "*")

    def crawl_delay(self, limit: float) -> float:
        """Seconds between visits that the host asks for, at most ``limit``; 0 when it asks for none."""
        delay = self._parser.crawl_delay("*") if self._parser else None
        return min(max(float(delay), 0.0), limit) if delay else 0.0


def _decoded(body: bytes) -> str:
    """The text of a file; if it is too long, only its complete lines within ``MAX_BYTES``."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body.decode("utf-8-sig", "replace")


def expiry(headers: Mapping[str, str], now: float, max_age: float) -> float:
    """The time until which a reply with these headers (lower-case names) is believed: by HTTP max-age, else by Expires, at most
    ``max_age`` seconds. RFC 9309 section 2.4: no longer than 24 hours, the default of ``CRAWL_ROBOTS_MAX_AGE``.
    """
    for directive in headers.get("cache-control", "").lower().split(","):
        name, _, seconds = directive.strip().partition("=")
        if name in ("no-store", "no-cache"):
            return now
        if name == "max-age" and seconds.strip('"').isdecimal():
            return now + min(float(seconds.strip('"')), max_age)
    if headers.get("expires"):
        return _expires_at(headers["expires"], now, max_age)
    return now + max_age


def _expires_at(value: str, now: float, max_age: float) -> float:
    try:
        at = parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError):
        return now  # RFC 9111 section 5.3: an invalid date means already expired
    return min(max(at, now), now + max_age)


class RobotsCache:
    """An LRU cache of the rules for ``agent`` by origin, with at most ``size`` entries; expired rules are requested again.

    Rules are believed as long as HTTP says, at least for ``LEAST_STATED`` and at most for ``max_age`` seconds; for ``LEAST_AGE``
    if the reply has no lifetime at all (``no-store``, ``max-age=0``, an ``Expires`` in the past).
    """

    def __init__(self, *, size: int, max_age: float, agent: str) -> None:
        self.agent = agent
        self._size = size
        self._max_age = max_age
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()

    def get(self, origin: str, now: float) -> RobotsRules | None:
        """The rules of ``origin``, or None when they must be fetched."""
        rules = self._rules.get(origin)
        if rules is None:
            return None
        if rules.expires <= now:
            del self._rules[origin]
            return None
        self._rules.move_to_end(origin)
        return rules

    def store(self, origin: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> RobotsRules:
        """Keep the result of fetching the robots.txt of ``origin``; ``status`` 0: no reply came."""
        expires = expiry(headers, now, self._max_age)
        expires = max(expires, now + min(LEAST_STATED if expires > now else LEAST_AGE, self._max_age))
        rules = RobotsRules(status, body, expires, self.agent)
        if rules.unreachable:
            rules.expires = now + min(UNREACHABLE_AGE, self._max_age)
        return self.share(origin, rules)

    def share(self, origin: str, rules: RobotsRules) -> RobotsRules:
        """Keep ``rules`` for ``origin`` as well: its robots.txt redirects to theirs."""
        self._rules[origin] = rules
        self._rules.move_to_end(origin)
        while len(self._rules) > self._size:
            self._rules.popitem(last=False)
        return rules

    def forget(self, origin: str) -> None:
        """Forget the rules of ``origin``: its robots.txt is requested again when it is next needed."""
        self._rules.pop(origin, None)

    def __len__(self) -> int:
        return len(self._rules)


class KnownRobots:
    """A URL filter by known robots.txt files: forbidden URLs neither enter the frontier nor are fetched.

    It keeps the ``size`` origins learned last, and as many hosts with a delay. ``now`` is the time of the latest take: expired
    rules do not count.
    """

    def __init__(self, size: int) -> None:
        self.now = 0.0
        self._size = size
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()
        self._delays: OrderedDict[str, dict[str, float]] = OrderedDict()  # of hosts that ask for a delay, by origin

    def crawl_delay(self, origin: str, seconds: float) -> float:
        """Note that ``origin`` asks for this delay (0: for none). Return the longest that an origin of its host asks for."""
        host = host_of(f"{origin}/")
        asked = {**self._delays.pop(host, {}), origin: seconds}
        if longest := max(asked.values()):
            self._delays[host] = asked
            if len(self._delays) > self._size:
                self._delays.popitem(last=False)
        return longest

    def learn(self, origin: str, rules: RobotsRules) -> None:
        """Keep the rules of ``origin`` if they forbid something and are quick to match."""
        self._rules.pop(origin, None)
        if rules.forbids_some and rules.is_quick:
            self._rules[origin] = rules
            if len(self._rules) > self._size:
                self._rules.popitem(last=False)

    def refusal(self, url: str, depth: int) -> str:
        """``FORBIDDEN`` for a canonical URL that must not be fetched, else empty."""
        rules = self._rules.get(origin_of(url)) if self._rules else None
        return FORBIDDEN if rules is not None and rules.expires > self.now and not rules.allows(url) else ""
