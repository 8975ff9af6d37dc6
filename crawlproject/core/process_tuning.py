"""Reduces the CPU time of a process that crawls or rehearses."""

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

_SLICE = 100_000_000  # ns that the process may run before another one gets its turn: the maximum in Linux
_RESET_ON_FORK = 1  # threads and children, such as a browser, keep the default slices
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274, "riscv64": 274}  # numbers of the system call; in glibc only since 2.41
_ATTRIBUTES = struct.Struct("=IIQiIQQQII")  # sched_attr: size, policy, flags, nice, priority, runtime; the rest is 0


@cache  # a second call would freeze the garbage cycles of an earlier crawl, which would then never be freed
def tune_process() -> None:
    """Avoid work that a crawl does not need. Call it after the imports; only the first call in a process has an effect.

    A crawl makes many small objects and hardly any reference cycles: the default thresholds of the garbage collector cost about
    4% of its CPU time. Its matrices are small: the threads of NumPy's BLAS wait more than they work, which costs 1 to 3%. With
    more busy processes than processors, Linux switches between them in the middle of a page, which presumably empties the
    caches of the processor: eight workers on two processors take a fifth less time with turns that are longer than a page.
    """
    gc.freeze()  # exempt all imported objects from collection
    take_huge_pages()
    gc.set_threshold(50_000, 20, 100)
    threadpool_limits(1, user_api="blas")
    if sys.platform == "linux":
        _take_long_turns()


def take_huge_pages() -> None:
    """Use memory pages of 2 MB from now on, where Linux allows it and the extension module is compiled.

    A crawl uses 250 MB, in more than 40,000 pages of 4 KiB. Each costs a page fault, and an entry of the TLB, which holds fewer.
    """
    if huge_pages is not None:
        huge_pages.use()


def collapse_huge_pages() -> None:
    """Restore the pages of 2 MB that a fork has split. Call it after the child has ended."""
    if huge_pages is not None:
        huge_pages.collapse()


def _take_long_turns() -> None:
    """Let the process run longer at a time (from Linux 6.12 on), without interrupting others when it wakes up.

    Where that is not allowed, nothing changes.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is not None and sys.maxsize > 2**32:  # a 32-bit Python uses other numbers on the same machine
        wanted = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_BATCH, _RESET_ON_FORK, os.nice(0), 0, _SLICE, 0, 0, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, wanted, 0)
