"""What makes a process cheaper that crawls or rehearses."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import struct
import sys
from functools import cache

from threadpoolctl import threadpool_limits

try:
    from crawlproject.core import huge_pages
except Exception:  # not built, or in a zip file
    huge_pages = None  # type: ignore[assignment]

_SLICE = 100_000_000  # ns that the process may run before another one has its turn: the most that Linux allows
_RESET_ON_FORK = 1  # threads and children, such as a browser, have slices as before
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}  # numbers of the system call; glibc has it since 2.41
_ATTRIBUTES = struct.Struct("=IIQiIQQQII")  # sched_attr: size, policy, flags, nice, priority, runtime, what is left 0


@cache  # what an earlier crawl left in cycles must not be frozen by the next one: it would never be freed
def tune_process() -> None:
    """Spare the process work that a crawl does not need. Call it after the imports; in one process only the first call counts.

    A crawl makes many small objects and hardly any cycle: the default thresholds of the garbage collector cost about 4% of
    its CPU. Its matrices are small: the threads of NumPy's BLAS wait more than they work, which cost 1 to 3%. Where there are
    more busy processes than processors, Linux changes between them in the middle of a page, which presumably empties the
    caches of the processor: eight workers on two processors take a fifth less with turns that are longer than a page.
    """
    gc.freeze()  # what was imported is never looked at
    take_huge_pages()
    gc.set_threshold(50_000, 20, 100)
    threadpool_limits(1, user_api="blas")
    if sys.platform == "linux":
        _take_long_turns()


def take_huge_pages() -> None:
    """From now on the process has memory in pages of 2 MB, where Linux allows it and the part is compiled.

    A crawl has 250 MB in more than 40,000 pages of 4 KiB. Each is a fault, and an entry of the TLB, which holds fewer.
    """
    if huge_pages is not None:
        huge_pages.use()


def collapse_huge_pages() -> None:
    """A child that was forked has ended: this process has pages of 2 MB again where the fork has split them."""
    if huge_pages is not None:
        huge_pages.collapse()


def _take_long_turns() -> None:
    """The process does not interrupt others when it wakes up, and runs longer at a time (from Linux 6.12 on).

    Where that is not allowed, all stays as it was.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is not None and sys.maxsize > 2**32:  # a 32-bit Python has other numbers on the same machine
        wanted = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_BATCH, _RESET_ON_FORK, os.nice(0), 0, _SLICE, 0, 0, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, wanted, 0)
