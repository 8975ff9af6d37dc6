"""Detects when the process did not attend to the fetches in flight: it was suspended (a sleeping laptop, SIGSTOP, a paused
virtual machine), or busy with something else.

A fetch that fails in such a time says nothing about its host (ADR 60). Pure: clocks are passed in, and the caller beats.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

PERIOD = 0.5  # seconds between two beats
LATE = 1.0  # minimum seconds by which a beat must be late to count
SUSPENDED = 5.0  # seconds without a beat and without CPU time from which the process was suspended
SHARE = 0.2  # share of the time of a fetch: if the gaps are longer, its time-out means nothing
_REMEMBERED = 1_000  # gaps


class Gap(NamedTuple):
    """A time in which the event loop did not turn; for ``idle`` seconds of it, the process used no CPU time either."""

    begin: float
    end: float
    idle: float

    @property
    def is_suspension(self) -> bool:
        return self.idle >= SUSPENDED


class Heartbeat:
    """Records gaps. ``clock`` returns seconds, including the sleep of the machine; ``worked`` the CPU time of the beating thread.

    After ``start``, the caller calls ``beat`` every ``PERIOD`` seconds. Long work in the loop is a gap like a suspension, but
    with little ``idle`` time.
    """

    def __init__(self, clock: Callable[[], float], worked: Callable[[], float]) -> None:
        self._clock = clock
        self._worked = worked
        self._latest: tuple[float, float] | None = None
        self._gaps: deque[Gap] = deque(maxlen=_REMEMBERED)
        self._crawls = 0  # that were started and not stopped
        self.suspensions = 0

    def start(self) -> None:
        """A crawl expects beats from now on; the time before the first one is no gap."""
        self._crawls += 1
        self._latest = self._latest or (self._clock(), self._worked())

    def stop(self) -> None:
        """A crawl that was started expects no more beats; nor does anything after the last one."""
        self._crawls -= 1
        if not self._crawls:
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
        """The duration of the latest suspension in seconds; 0 if there was none."""
        return next((gap.idle for gap in reversed(self._gaps) if gap.is_suspension), 0.0)

    def lost(self, begin: float, end: float) -> float:
        """The seconds of gaps between two times."""
        if not self._gaps or self._gaps[-1].end <= begin:
            return 0.0
        return sum(max(0.0, min(gap.end, end) - max(gap.begin, begin)) for gap in self._gaps)

    def excuse(self, begin: float, *, timed_out: bool) -> str:
        """Why the failure of an exchange that began at ``begin`` is not the fault of its host; empty: no gap explains it.

        After a suspension, all connections may be lost. A busy loop excuses only an exchange that timed out.
        """
        self.beat()
        now = self._clock()
        if any(gap.is_suspension and gap.end > begin for gap in self._gaps):
            return "suspended"
        return "busy" if timed_out and self.lost(begin, now) > SHARE * (now - begin) else ""
