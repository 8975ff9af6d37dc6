"""How much of a crawler's time one response may take: what goes beyond is a flood, and its host is left alone.

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

Pure: ``http/guarded_protocol.py`` counts. All numbers are ours, but for the size of a head, which is Chromium's.
"""

from __future__ import annotations

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
