"""Stops the crawl before its memory is used up, so that no page is blamed for a lack of memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlproject.adapters.running import Component, crawl_of, repeated, stop
from crawlproject.errors import OutOfMemory

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

PERIOD = 0.5  # seconds between two checks
MARGIN = 2**26  # bytes left for pages in flight, and for the end of the crawl
SHARE = 0.1  # maximum margin as a share of a limit
_MEGABYTE = 2**20
_UNLIMITED = 2**60  # bytes; a limit of at least this size means none


class MemoryLimit(NamedTuple):
    """A limit and the memory used, in bytes; ``name`` says what is limited."""

    name: str
    limit: int
    used: int

    @property
    def is_near(self) -> bool:
        return self.limit - self.used < min(MARGIN, SHARE * self.limit)


class MemoryWatch(Component):
    """Active if the process, or its control group, has a memory limit.

    Scrapy's ``MEMUSAGE_LIMIT_MB`` is a separate limit of the operator: it checks the peak usage once a minute.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if crawl_of(crawler) is None or not list(memory_limits()):
            raise NotConfigured
        watch = super().from_crawler(crawler)
        crawler.signals.connect(watch.look, signals.spider_opened)
        repeated(crawler, watch.look, PERIOD)
        return watch

    def look(self) -> None:
        for found in memory_limits():
            if found.is_near:
                used, limit = found.used // _MEGABYTE, found.limit // _MEGABYTE
                stop(self.crawler, OutOfMemory(f"{used:,} MB of {limit:,} MB are used ({found.name})"))
                return


def memory_limits(system: Path = Path("/")) -> Iterator[MemoryLimit]:
    """Yield the limits of the address space (``ulimit -v``) and of control groups, with the memory used. Nothing without
    ``/proc``.
    """
    with suppress(OSError, ValueError):
        if resource is not None and (limit := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
            pages = (system / "proc/self/statm").read_text().split()[0]
            yield MemoryLimit("address space", limit, int(pages) * os.sysconf("SC_PAGE_SIZE"))
    for folder in _groups(system):
        with suppress(OSError, ValueError):
            limit = int((folder / "memory.max").read_text())
            if limit < _UNLIMITED:
                yield MemoryLimit("control group", limit, _in_use(folder))


def _groups(system: Path) -> Iterator[Path]:
    """The control group of this process and its parents (version 2)."""
    root = system / "sys/fs/cgroup"
    try:
        lines = (system / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith("0::/"):
            group = root / line[4:]
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(root))


def _in_use(group: Path) -> int:
    """The bytes used, without the file cache that the kernel frees when memory is needed."""
    used = int((group / "memory.current").read_text())
    for line in (group / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "inactive_file":
            return max(0, used - int(value))
    return used
