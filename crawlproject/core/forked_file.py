"""A file that is written by forks of the process: a fork has the memory as it was at one moment, while the crawl continues (as
in snapshots of Redis).
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crawlproject.core.process_tuning import collapse_huge_pages

CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"  # on macOS, forks are unsafe in a process with threads

_SHARE = 0.02  # share of the time that writing may take
_LONGEST_CHILD = 60.0  # seconds for which an ending crawl waits for a file that is being written


logger = logging.getLogger(__name__)


class ForkEnd(NamedTuple):
    """``is_written``: whether the child has written the file. ``rest_until``: the time before which no file should fork again,
    by the cost of the fork for the crawl.
    """

    is_written: bool
    rest_until: float


class ForkedFile:
    """The file at ``path``, written at most every ``seconds``, and less often the more CPU time that takes."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        self._seconds = seconds
        self._due = 0.0
        self._began = 0.0
        self._system = 0.0  # system CPU seconds of this process at that time
        self._child = 0

    def is_due(self, now: float) -> bool:
        """Whether the file should be written now; never before the last child has ended."""
        if not self._due:
            self._due = now + self._seconds
        return now >= self._due and not self._child

    def put_off(self, until: float) -> None:
        """Make the file due no earlier than ``until``."""
        self._due = max(self._due, until)

    def restart(self, now: float) -> None:
        """Make the file due in ``seconds``, because its content is being written now."""
        self._due = now + self._seconds

    def fork(self, now: float, write: Callable[[], object]) -> bool:
        """Call ``write`` in a child process. False if the system allows no further process now."""
        self._began, self._system = now, os.times().system
        self.restart(now)
        try:
            self._child = os.fork()
        except OSError as refused:  # no memory, or too many processes: what is not written now is written later
            logger.warning("%s, so the checkpoint waits for %.0f s", refused, self._seconds)
            return False
        if self._child:
            return True
        status = 1
        try:  # the child has no other thread and runs no code of the crawl: it writes and exits
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # above all the lock of the folder, which a resume needs
            os.nice(10)
            write()
            status = 0
        finally:
            os._exit(status)

    def ended(self) -> ForkEnd | None:
        """The result of the child, returned once; None: there is no child, or it is still writing."""
        if not self._child:
            return None
        try:
            child, status, used = os.wait4(self._child, os.WNOHANG)
        except ChildProcessError:  # other code has waited for it
            child, status, used = self._child, 0, None
        if not child:
            return None
        self._child = 0
        collapse_huge_pages()
        self.put_off(self._began + (used.ru_utime + used.ru_stime if used else 0.0) / _SHARE)
        # While the child lives, the kernel copies each page of memory that the crawl writes to.
        return ForkEnd(not status, self._began + (os.times().system - self._system) / _SHARE)

    def close(self) -> None:
        """Wait for the child. Kill one that takes too long: it is stuck at a lock that a thread held at the fork."""
        child, self._child = self._child, 0
        deadline = time.monotonic() + _LONGEST_CHILD
        with suppress(ChildProcessError):
            while child and not os.waitpid(child, os.WNOHANG)[0]:
                if time.monotonic() > deadline:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    return
                time.sleep(0.01)
