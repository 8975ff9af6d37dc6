"""What a server says of a page in headers: how its version is called (``ETag`` and ``Last-Modified``, RFC 9110 section
8.8), which a later visit sends back as it came; and for how long it is fresh (``Cache-Control`` and ``Expires``, RFC 9111
sections 4.2.1 and 5.2.2).

How much of a crawler's time one response may take: what goes beyond is a flood, and its host is left alone.

A flood is counted and noted under its reason, and its host rests as after a block (``CRAWL_BLOCKED_REST``), longer each time:

    ================== ==========================================================================================
    flood/head         more than ``CRAWL_MAX_HEADERS`` headers, or one of more than ``CRAWL_MAX_HEADER_BYTES``
    flood/interim      more than ``MAX_INTERIM`` responses 1xx before the one that counts
    flood/overhead     more than ``HEADS`` times ``CRAWL_MAX_HEADER_BYTES`` that are no body: head, chunk sizes, trailers;
                       or behind the head more than ``MAX_FRAMING`` and half of what is body; or, with the last of
                       the body, as much and the whole body again behind its end
    flood/work         reading it took more than ``MAX_WORK`` of the processor
    flood/slow         bytes that came to the end, at less than ``LEAST_RATE``, when its time was over
    ================== ==========================================================================================

Pure: ``http/guarded_protocol.py`` counts. All numbers are ours, but for the size of a head, which is Chromium's. How
long a host may be silent depends on how quick it has been (000 section 2.3: time-outs).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

MAX_VALIDATOR = 200  # characters
LONGEST = 365 * 86_400.0  # seconds that are believed of any statement
FLOOD = "flood/"  # how the reasons begin
HEAD = "flood/head"
INTERIM = "flood/interim"
OVERHEAD = "flood/overhead"
WORK = "flood/work"
SLOW = "flood/slow"
MAX_INTERIM = 16  # servers send one or two
HEADS = 4  # times CRAWL_MAX_HEADER_BYTES: 256 KiB, as much as Chromium reads of a head
MAX_FRAMING = 2**14  # bytes behind the head that are no body: what a page in a thousand chunks has
MAX_WORK = 0.5  # seconds of CPU time: a page of a megabyte takes 0.01
LEAST_RATE = 1_000.0  # bytes a second
STILL_COMING = 5.0  # seconds since the last byte after which a server is silent, not slow
TIMES = 20.0  # times its slowest answer
FADING = 0.9  # what is left of the slowest answer after another one

_LONGEST_HEADER = 1_000  # characters that are looked at
_SECONDS = re.compile(r'"?([0-9]{1,10})"?')
_REMEMBERED = 10_000  # hosts


def validator(value: str) -> str:
    """The header as sent; empty when it is longer than ``MAX_VALIDATOR``, or is no header that can be sent back.

    Half of one would name nothing.
    """
    text = value.strip()
    return text if len(text) <= MAX_VALIDATOR and text.isascii() and text.isprintable() else ""


def modified(headers: Mapping[str, str], asked: float) -> str:
    """``Last-Modified`` as sent; empty unless it was over for a second when the response was made, to a request of ``asked``.

    In the second that it names the page may change again, and nobody would be told (RFC 9110 section 8.8.2.2). A server whose
    clock is behind is asked by its own. Names are in lower case.
    """
    header = validator(headers.get("last-modified", ""))
    made = min(asked // 1, _moment(headers.get("date", "")) or asked)
    return header if _moment(header) < made else ""


def stated_lifetime(headers: Mapping[str, str], now: float) -> float:
    """Seconds from ``now`` on, at most a year; 0: none are stated, or a copy is not to be kept. Names are in lower case.

    ``s-maxage`` counts before ``max-age``, and that before ``Expires``. ``immutable`` promises no more than they do.
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
    """Seconds since the epoch; 0 of what is no date."""
    try:
        return max(0.0, parsedate_to_datetime(header[:_LONGEST_HEADER]).timestamp()) if header else 0.0
    except (ValueError, OverflowError, TypeError):
        return 0.0


class Flood(Exception):
    """A response went beyond a limit; ``reason`` is one of the above."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ResponseMeter:
    """Counts what one response costs. ``max_overhead`` is in bytes, ``now`` in seconds of a monotonic clock."""

    def __init__(self, max_overhead: int, now: float) -> None:
        self.received = 0  # bytes, of the body and of all else
        self.reads = 0  # times that few bytes came
        self.interim = 0  # responses 1xx
        self.work = 0.0  # seconds of CPU time
        self.latest = now  # when the last bytes came
        self.head = 0  # bytes before the body, or a little more; 0: it has not come yet
        self._began = now
        self._max_overhead = max_overhead

    def excess(self, body: int) -> str:
        """The limit that is passed, or empty. ``body``: bytes of the body among those received."""
        if self.interim > MAX_INTERIM:
            return INTERIM
        overhead = self.received - body
        if overhead > self._max_overhead or (self.head and overhead - self.head > MAX_FRAMING + body // 2):
            return OVERHEAD
        return WORK if self.work > MAX_WORK else ""

    @property
    def seconds(self) -> float:
        """How long it takes, up to its last bytes."""
        return self.latest - self._began

    def is_silent(self, now: float) -> bool:
        """Whether nothing comes any more: the server is away, or busy, and may answer later."""
        return not self.received or now - self.latest > STILL_COMING

    def is_slow(self, now: float) -> bool:
        """Whether so little came in all that it is not worth a connection."""
        return self.received < LEAST_RATE * (now - self._began)


class HostTimeouts:
    """``least`` seconds of silence are allowed to every host; 0: all hosts have as long as their requests.

    A host that was given up is allowed more silence from then on: the next page may be quick, and the slow one comes again.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._slowest: OrderedDict[str, float] = OrderedDict()  # seconds that a fetch from the host took

    def of(self, host: str, most: float) -> float:
        """Seconds without a byte after which ``host`` is given up, at most ``most``."""
        slowest = self._slowest.get(host) if self._least else None
        return most if slowest is None else min(most, max(self._least, TIMES * slowest))

    def answered(self, host: str, seconds: float) -> None:
        """A whole response came from ``host`` within so many seconds."""
        self._slowest[host] = max(seconds, FADING * self._slowest.pop(host, 0.0))
        if len(self._slowest) > _REMEMBERED:
            self._slowest.popitem(last=False)

    def failed(self, host: str, seconds: float) -> None:
        """``host`` was given up after ``seconds``: it takes longer than that."""
        self.answered(host, max(seconds, self._least))
