"""The clock of a running process: seconds since the epoch that neither jump nor run backwards.

It is set by the system's clock once, at the start, and then counts elapsed time. So a pause takes as long as it should, and the
history stays in order, when somebody or NTP sets the system's clock meanwhile; the next run begins with what that shows then.
"""

from __future__ import annotations

import time as system
from collections.abc import Callable


def _elapsed() -> float:
    """Seconds since some moment, the sleep of the machine included where the system counts it (Linux)."""
    if hasattr(system, "CLOCK_BOOTTIME"):
        return system.clock_gettime(system.CLOCK_BOOTTIME)
    return system.monotonic()


class SteadyClock:
    """``wall`` shows seconds since the epoch, ``elapsed`` seconds since any moment."""

    def __init__(self, wall: Callable[[], float] = system.time, elapsed: Callable[[], float] = _elapsed) -> None:
        self._elapsed = elapsed
        self._offset = wall() - elapsed()

    def __call__(self) -> float:
        return self._offset + self._elapsed()


time = SteadyClock()
"""Instead of ``time.time`` in everything that runs in a crawl."""
