"""Headers about the version and the freshness of a page, and limits on what one response may cost.

A later visit returns the validators (``ETag`` and ``Last-Modified``, RFC 9110 section 8.8) unchanged. ``Cache-Control`` and
``Expires`` say how long a page is fresh (RFC 9111 sections 4.2.1 and 5.2.2).

A response that exceeds a limit is a flood. It is counted and noted under its reason, and its host rests as after a block
(``CRAWL_BLOCKED_REST``), longer each time:

    ================== ==========================================================================================
    flood/head         more than ``CRAWL_MAX_HEADERS`` headers, or one of more than ``CRAWL_MAX_HEADER_BYTES``
    flood/interim      more than ``MAX_INTERIM`` responses 1xx before the final one
    flood/overhead     more than ``HEADS`` times ``CRAWL_MAX_HEADER_BYTES`` outside the body: head, chunk sizes, trailers;
                       or, after the head, more than ``MAX_FRAMING`` plus half the size of the body; or, in the read
                       that ends the body, more than ``MAX_FRAMING`` plus the size of the body after its end
    flood/work         reading it took more than ``MAX_WORK`` of CPU time
    flood/slow         bytes were still coming, at less than ``LEAST_RATE``, when the time-out was reached
    ================== ==========================================================================================

Pure: ``http/guarded_protocol.py`` counts. All limits are ours, except for the size of a head, which is Chromium's. How
long a host may be silent depends on how fast it has been (000 section 2.3: time-outs).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

MAX_VALIDATOR = 200  # characters
LONGEST = 365 * 86_400.0  # seconds: the longest lifetime that is believed
FLOOD = "flood/"  # prefix of the reasons
HEAD = "flood/head"
INTERIM = "flood/interim"
OVERHEAD = "flood/overhead"
WORK = "flood/work"
SLOW = "flood/slow"
MAX_INTERIM = 16  # servers send one or two
HEADS = 4  # times CRAWL_MAX_HEADER_BYTES: 256 KiB, the largest head that Chromium reads
MAX_FRAMING = 2**14  # bytes after the head that are not body, as in a page of a thousand chunks
MAX_WORK = 0.5  # seconds of CPU time: a page of a megabyte takes 0.01
LEAST_RATE = 1_000.0  # bytes a second
STILL_COMING = 5.0  # seconds since the last byte after which a server is silent, not slow
TIMES = 20.0  # times the slowest answer of a host: its time-out
FADING = 0.9  # factor by which each further answer lowers the slowest one

_LONGEST_HEADER = 1_000  # characters that are read
_SECONDS = re.compile(r'"?([0-9]{1,10})"?')
_REMEMBERED = 10_000  # hosts


def validator(value: str) -> str:
    """The header as sent; empty if it is longer than ``MAX_VALIDATOR``, or cannot be sent back in a header.

    It is not cut: part of a validator identifies nothing.
    """
    text = value.strip()
    return text if len(text) <= MAX_VALIDATOR and text.isascii() and text.isprintable() else ""


def modified(headers: Mapping[str, str], asked: float) -> str:
    """``Last-Modified`` as sent; empty unless it lies in an earlier second than the response to the request made at ``asked``.

    Within the second that it names, the page may change again unnoticed (RFC 9110 section 8.8.2.2). For a server whose
    clock is slow, its own clock counts. Header names are in lower case.
    """
    header = validator(headers.get("last-modified", ""))
    made = min(asked // 1, _moment(headers.get("date", "")) or asked)
    return header if _moment(header) < made else ""


def stated_lifetime(headers: Mapping[str, str], now: float) -> float:
    """The stated lifetime in seconds from ``now``, at most a year; 0: none is stated, or caching is forbidden.

    ``s-maxage`` overrides ``max-age``, which overrides ``Expires``. ``immutable`` adds nothing. Header names are in lower case.
    """
    stated: dict[str, str] = {}
    for directive in headers.get("cache-control", "")[:_LONGEST_HEADER].lower().split(","):
        name, _, value = directive.strip().partition("=")
        stated.setdefault(name.strip(), value.strip())
    if "no-store" in stated or "no-cache" in stated:
        return 0.0
    age = stated.get("s-maxage", stated.get("max-age"))
    if age is None:
        expires = _moment(headers.get("expires", ""))
        return min(max(0.0, expires - (_moment(headers.get("date", "")) or now)), LONGEST) if expires else 0.0
    return min(max(0.0, _number(age) - _number(headers.get("age", ""))), LONGEST)


def _number(value: str) -> float:
    found = _SECONDS.fullmatch(value.strip())
    return float(found[1]) if found else 0.0


def _moment(header: str) -> float:
    """A date as seconds since the epoch; 0 if it is not a date."""
    try:
        return max(0.0, parsedate_to_datetime(header[:_LONGEST_HEADER]).timestamp()) if header else 0.0
    except (ValueError, OverflowError, TypeError):
        return 0.0


class Flood(Exception):
    """A response exceeded a limit; ``reason`` is one of the above."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ResponseMeter:
    """Measures the cost of one response. ``max_overhead`` is in bytes, ``now`` in seconds of a monotonic clock."""

    def __init__(self, max_overhead: int, now: float) -> None:
        self.received = 0  # bytes, including the body
        self.reads = 0  # reads that returned few bytes
        self.interim = 0  # responses 1xx
        self.work = 0.0  # seconds of CPU time
        self.latest = now  # when the last bytes came
        self.head = 0  # bytes before the body, or a little more; 0: the head is not complete yet
        self._began = now
        self._max_overhead = max_overhead

    def excess(self, body: int) -> str:
        """The limit that is exceeded, or empty. ``body`` is the number of received bytes that belong to the body."""
        if self.interim > MAX_INTERIM:
            return INTERIM
        overhead = self.received - body
        if overhead > self._max_overhead or (self.head and overhead - self.head > MAX_FRAMING + body // 2):
            return OVERHEAD
        return WORK if self.work > MAX_WORK else ""

    @property
    def seconds(self) -> float:
        """The time from the start to the last bytes received."""
        return self.latest - self._began

    def is_silent(self, now: float) -> bool:
        """Whether no more bytes come: the server is down or busy, and may answer later."""
        return not self.received or now - self.latest > STILL_COMING

    def is_slow(self, now: float) -> bool:
        """Whether the response is too slow to be worth a connection."""
        return self.received < LEAST_RATE * (now - self._began)


class HostTimeouts:
    """Time-outs by host: ``least`` seconds of silence are allowed to every host; 0: only the time-out of the request counts.

    After a time-out, a host is allowed longer silence: so other pages may succeed, and the slow page on its next try.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._slowest: OrderedDict[str, float] = OrderedDict()  # seconds that a fetch from the host took

    def of(self, host: str, most: float) -> float:
        """Seconds of silence after which ``host`` is given up, at most ``most``."""
        slowest = self._slowest.get(host) if self._least else None
        return most if slowest is None else min(most, max(self._least, TIMES * slowest))

    def answered(self, host: str, seconds: float) -> None:
        """A whole response came from ``host`` within ``seconds``."""
        self._slowest[host] = max(seconds, FADING * self._slowest.pop(host, 0.0))
        if len(self._slowest) > _REMEMBERED:
            self._slowest.popitem(last=False)

    def failed(self, host: str, seconds: float) -> None:
        """``host`` was given up after ``seconds``: a fetch from it may take longer than that."""
        self.answered(host, max(seconds, self._least))
