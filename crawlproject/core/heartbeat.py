"""Notices when nobody looked after the fetches in flight: the process was suspended (a laptop that sleeps, SIGSTOP, a paused
virtual machine), or was busy with something else.

A fetch that fails in such a time says nothing of its host (ADR 60). Pure: clocks are passed in, and somebody beats.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

PERIOD = 0.5  # seconds between two beats
LATE = 1.0  # seconds that a beat is late at least, to count
SUSPENDED = 5.0  # seconds that a process which is running neither works nor looks up
SHARE = 0.2  # of the time of a fetch: when nobody looked for longer, its time-out means nothing
_REMEMBERED = 1_000  # gaps


class Gap(NamedTuple):
    """A time in which the event loop did not turn. ``idle`` seconds of it the process did not work either."""

    begin: float
    end: float
    idle: float

    @property
    def is_suspension(self) -> bool:
        return self.idle >= SUSPENDED


class Heartbeat:
    """``clock`` shows seconds, the sleep of the machine among them; ``worked`` the CPU time of the thread that beats.

    Somebody calls ``beat`` every ``PERIOD`` seconds from ``start`` on; a long work in the loop is a gap like a suspension,
    but for its ``idle`` time.
    """

    def __init__(self, clock: Callable[[], float], worked: Callable[[], float]) -> None:
        self._clock = clock
        self._worked = worked
        self._latest: tuple[float, float] | None = None
        self._gaps: deque[Gap] = deque(maxlen=_REMEMBERED)
        self.suspensions = 0

    def start(self) -> None:
        """Beats come from now on; what was before is no gap."""
        self._latest = self._clock(), self._worked()

    def stop(self) -> None:
        """No more beats come."""
        self._latest = None

    def beat(self) -> None:
        """Note the gap that ends now, if there is one."""
        if self._latest is None:
            return
        now, worked = self._clock(), self._worked()
        at, had_worked = self._latest
        self._latest = now, worked
        late = now - at - PERIOD
        if late < LATE:
            return
        gap = Gap(now - late, now, late - (worked - had_worked))
        self._gaps.append(gap)
        self.suspensions += gap.is_suspension

    def latest_suspension(self) -> float:
        """Seconds."""
        return next((gap.idle for gap in reversed(self._gaps) if gap.is_suspension), 0.0)

    def lost(self, begin: float, end: float) -> float:
        """Seconds between two times in which nobody looked."""
        if not self._gaps or self._gaps[-1].end <= begin:
            return 0.0
        return sum(max(0.0, min(gap.end, end) - max(gap.begin, begin)) for gap in self._gaps)

    def excuse(self, begin: float, *, timed_out: bool) -> str:
        """Why an exchange that began at ``begin`` and fails now is nobody's fault; empty: somebody looked after it.

        After a suspension all connections may be gone. A busy loop excuses only an exchange whose time was over.
        """
        self.beat()
        now = self._clock()
        if any(gap.is_suspension and gap.end > begin for gap in self._gaps):
            return "suspended"
        return "busy" if timed_out and self.lost(begin, now) > SHARE * (now - begin) else ""
