"""robots.txt as RFC 9309 wants it: which rules and sitemaps it has for one crawler, what a reply means, how long it is believed.

Pure: whoever fetches hands the reply in, and the time with it. Which lines are meant is decided here, to the letter of the RFC;
matching them against URLs is Protego's. Protego alone finds a group by any part of a User-Agent header (``crawler`` in "a polite
crawler", ``top`` in "topical"), ends lines where Python does, and opens ``/`` to whoever is allowed ``/index.html``.
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

from crawlproject.urls.hosts import origin_of

MAX_SITEMAPS = 100  # of one file; each is a fetch
MAX_BYTES = 512_000  # RFC 9309 section 2.5: at least 500 KiB must be parsed; more is cut
MAX_REDIRECTS = 5  # section 2.3.1.2: at least so many are followed; what lies behind more is not there
UNREACHABLE_AGE = 600.0  # seconds until an unreachable robots.txt is asked for again
LEAST_AGE = 600.0  # seconds that one is believed that may not be cached, as many: each fetch is a visit of the host
LEAST_STATED = 60.0  # seconds that one is believed whose reply states a lifetime, however short
MAX_WILDCARDS = 2_000  # of the rules that are ours: matching a URL takes 1.5 ms then
QUICK_WILDCARDS, QUICK_RULES = 100, 2_000  # with more, only what is fetched is matched, not every link
FORBIDDEN = "robots/forbidden"

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
_TOO_MANY_REQUESTS = 429


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


class RobotsRules:
    """The rules of one origin for one crawler, until ``expires`` (seconds since the epoch).

    ``agent`` is its product token or its User-Agent. ``status`` 0 means that no reply came. A 4xx reply allows everything
    (section 2.3.1.3), a 5xx reply or none at all forbids everything (2.3.1.4). So does a 429: that server is there, and has
    enough, and a file with more than ``MAX_WILDCARDS``, which is there to keep a crawler busy. ``sitemaps`` are the URLs of its
    ``Sitemap`` lines, as written.
    """

    def __init__(self, status: int, body: bytes, expires: float, agent: str) -> None:
        self.status = status
        self.expires = expires
        self.unreachable = status == 0 or status >= 500 or status == _TOO_MANY_REQUESTS
        self.failure = ""  # why nobody answered, where that is known
        self.asked_rest = 0.0  # seconds for which the server asked to be left alone
        self.sitemaps: tuple[str, ...] = ()
        self._parser: Protego | None = None
        self.reason = "unreachable" if self.unreachable else "forbidden"  # why a URL may not be fetched
        self.is_quick = False  # whether matching costs next to nothing
        self.forbids_some = False  # a reply that came; one that is unreachable says nothing for long
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
        """Whether the crawler may fetch ``url``; for a POST, where it is sent."""
        if self._parser is None:
            return not self.unreachable
        return self._parser.can_fetch(in_query(url.partition("#")[0]), "*")

    def crawl_delay(self, limit: float) -> float:
        """Seconds between visits that the host asks for, at most ``limit``; 0 when it asks for none."""
        delay = self._parser.crawl_delay("*") if self._parser else None
        return min(max(float(delay), 0.0), limit) if delay else 0.0


def _decoded(body: bytes) -> str:
    """The text of a file; of one that is too long, the lines that are whole."""
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    return body.decode("utf-8-sig", "replace")


def expiry(headers: Mapping[str, str], now: float, max_age: float) -> float:
    """Until when a reply with these headers (lower-case names) is believed: HTTP max-age, else Expires, within ``max_age``.

    RFC 9309 section 2.4: no longer than 24 hours, which is the default of ``CRAWL_ROBOTS_MAX_AGE``.
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
    """Rules for ``agent`` by origin, the least recently used dropped beyond ``size``; expired ones are asked for again.

    They are believed as long as HTTP says, at least for ``LEAST_STATED`` and at most for ``max_age`` seconds; for ``LEAST_AGE``
    where the reply has no lifetime at all (``no-store``, ``max-age=0``, an ``Expires`` that is over).
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
        """Keep what a fetch of ``origin``'s robots.txt brought; ``status`` 0: nothing came."""
        expires = expiry(headers, now, self._max_age)
        expires = max(expires, now + min(LEAST_STATED if expires > now else LEAST_AGE, self._max_age))
        rules = RobotsRules(status, body, expires, self.agent)
        if rules.unreachable:
            rules.expires = now + min(UNREACHABLE_AGE, self._max_age)
        return self.share(origin, rules)

    def share(self, origin: str, rules: RobotsRules) -> RobotsRules:
        """Keep ``rules`` for ``origin``, too: its robots.txt is a redirect to where they come from."""
        self._rules[origin] = rules
        self._rules.move_to_end(origin)
        while len(self._rules) > self._size:
            self._rules.popitem(last=False)
        return rules

    def forget(self, origin: str) -> None:
        """Ask again at the next chance."""
        self._rules.pop(origin, None)

    def __len__(self) -> int:
        return len(self._rules)


class KnownRobots:
    """A host filter: what the robots.txt files that are known forbid is neither put in line nor fetched.

    At most ``size`` origins, those learned last. ``now`` is the time of the latest take: rules that have expired say nothing.
    """

    def __init__(self, size: int) -> None:
        self.now = 0.0
        self._size = size
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()

    def learn(self, origin: str, rules: RobotsRules) -> None:
        """The robots.txt of ``origin`` came."""
        self._rules.pop(origin, None)
        if rules.forbids_some and rules.is_quick:
            self._rules[origin] = rules
            if len(self._rules) > self._size:
                self._rules.popitem(last=False)

    def refusal(self, url: str, depth: int) -> str:
        """``FORBIDDEN`` for a canonical URL that may not be fetched, else empty."""
        rules = self._rules.get(origin_of(url)) if self._rules else None
        return FORBIDDEN if rules is not None and rules.expires > self.now and not rules.allows(url) else ""
