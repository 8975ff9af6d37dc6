"""The frontier on disk. The contract is in ``base``; the docstring of this package describes the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from crawlproject.frontier.checks import check_sizes
from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.mapped_file import MemoryLimits
from crawlproject.frontier.disk.store import DiskStore
from crawlproject.frontier.k_rule import KRule
from crawlproject.frontier.politeness import Politeness


class DiskFrontier(FrontierCore):
    """A ``Frontier`` in ``folder``, of which only the part in use is in memory.

    ``batch_size``, ``strict``, ``commit``, ``max_urls``, ``newcomers_stay`` and ``random`` are as in ``MemoryFrontier``.
    ``politeness`` is called with the numbers of hosts. ``clock`` (seconds since the epoch) is read at the opening: URLs that were
    leased wait again, and their hosts rest from then on. ``behind``: seconds by which the clock was set back since the last run.
    ``cache`` bounds the bytes of files that stay mapped (0: half of the machine's memory); the operating system may drop them
    at any time. ``limits`` bounds the queues in memory.

    Every operation that changes something may raise ``StorageFailed``. Opening raises ``BadCrawlDir`` for a damaged folder.
    """

    def __init__(
        self,
        folder: Path,
        *,
        batch_size: int = 50,
        strict: bool = True,
        commit: int = 1,
        max_urls: int = 0,
        newcomers_stay: bool = False,
        politeness: Politeness,
        random: Random,
        clock: Callable[[], float],
        cache: int = 0,
        limits: MemoryLimits | None = None,
        behind: float = 0.0,
    ) -> None:
        check_sizes(batch_size=batch_size, commit=commit, max_urls=max_urls)
        self._disk = DiskStore(
            folder,
            clock(),
            rule=KRule(batch_size, strict=strict),
            commit=commit,
            politeness=politeness,
            random=random,
            cache=cache,
            limits=limits or MemoryLimits(),
            behind=behind,
        )
        super().__init__(self._disk, max_urls, newcomers_stay=newcomers_stay)
        self._evict_surplus()
        self._commit()

    def urls_of_host(self, url: str) -> int:
        """Known URLs of the host of ``url``: those that wait, are leased, or are done."""
        return self._disk.files.hosts.known(self._disk.host_of(url))

    def before_commit(self, write: Callable[[], object]) -> None:
        """Call ``write`` before each step is made durable. If it raises ``StorageFailed``, the step stays gathered."""
        self._disk.files.before_commit = write

    def hosts_in_memory(self) -> int:
        """The number of hosts in memory: those with their own queue, being visited, or resting."""
        return len(self._disk.hosts.known)
