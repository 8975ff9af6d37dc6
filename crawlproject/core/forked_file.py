"""A file that forks of the process write: each has the memory as it was at one moment, and the crawl goes on meanwhile (as Redis
writes its snapshots).
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crawlproject.core.process_tuning import collapse_huge_pages

CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"  # where it is unsafe beside threads

_SHARE = 0.02  # of the time that writing may take
_LONGEST_CHILD = 60.0  # seconds that the end of a crawl waits for a file that is being written


class ForkEnd(NamedTuple):
    """Whether a child has written the file. ``rest_until``: before, nothing should fork again, so dear was it for the crawl."""

    is_written: bool
    rest_until: float


class ForkedFile:
    """The file at ``path``, written each ``seconds`` at most, and the less often the more CPU time that takes."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        self._seconds = seconds
        self._due = 0.0
        self._began = 0.0
        self._system = 0.0  # CPU seconds of the kernel for this process by then
        self._child = 0

    def is_due(self, now: float) -> bool:
        """Whether it is time; not before the last child has ended."""
        if not self._due:
            self._due = now + self._seconds
        return now >= self._due and not self._child

    def put_off(self, until: float) -> None:
        """It is not due before."""
        self._due = max(self._due, until)

    def restart(self, now: float) -> None:
        """It is due in ``seconds``: what it would have is being written."""
        self._due = now + self._seconds

    def fork(self, now: float, write: Callable[[], object]) -> None:
        """Call ``write`` in a child."""
        self._began, self._system = now, os.times().system
        self.restart(now)
        self._child = os.fork()
        if self._child:
            return
        status = 1
        try:  # this process has no other thread, and runs nothing of the crawl: it writes, and is gone
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # above all the lock of the folder, which a resume wants
            os.nice(10)
            write()
            status = 0
        finally:
            os._exit(status)

    def ended(self) -> ForkEnd | None:
        """What became of the child, once; None: there is none, or it still writes."""
        if not self._child:
            return None
        try:
            child, status, used = os.wait4(self._child, os.WNOHANG)
        except ChildProcessError:  # somebody else has looked after it
            child, status, used = self._child, 0, None
        if not child:
            return None
        self._child = 0
        collapse_huge_pages()
        self.put_off(self._began + (used.ru_utime + used.ru_stime if used else 0.0) / _SHARE)
        # While the child lives, each page of memory that the crawl writes to is copied.
        return ForkEnd(not status, self._began + (os.times().system - self._system) / _SHARE)

    def close(self) -> None:
        """Wait for the child; one that takes too long is stuck, by a lock that a thread held at the fork, and is killed."""
        child, self._child = self._child, 0
        deadline = time.monotonic() + _LONGEST_CHILD
        with suppress(ChildProcessError):
            while child and not os.waitpid(child, os.WNOHANG)[0]:
                if time.monotonic() > deadline:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    return
                time.sleep(0.01)
