"""Which worker owns which hosts: rendezvous hashing (Thaler and Ravishankar 1998), in place of UbiCrawler's consistent hashing
(Boldi and others 2004; 004 section 2.3.4). When a worker comes or goes, only its share moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from crawlproject.frontier.host_queue import queue_of

_REMEMBERED = 200_000  # hosts


class Members(NamedTuple):
    """The workers at one ``epoch``. ``joined``: the epoch at which each joined, or minus that at which it began to leave."""

    epoch: int
    joined: Mapping[str, int]

    def sharing(self) -> list[str]:
        """The workers that have a share of the hosts."""
        return [name for name, at in self.joined.items() if at > 0]


class Shares:
    """The hosts of ``worker`` and of all others. Until ``set_members``, it ``is_alone`` and owns all hosts."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self.members = Members(0, {worker: 1})
        self._seeds = {worker: 0}
        self._owners: dict[str, str] = {}
        self.is_alone = True
        self._asked, self._answer = "", worker

    def set_members(self, members: Members) -> None:
        self.members = members
        sharing = members.sharing() or [self._worker]
        self._seeds = {name: xxh3_64_intdigest(name.encode()) for name in sharing}
        self._owners = {}
        self._asked, self._answer = "", self.owner("")
        self.is_alone = sharing == [self._worker]

    def __len__(self) -> int:
        return len(self._seeds)

    def owner(self, host: str) -> str:
        """The worker that owns the host."""
        found = self._owners.get(host)
        if found is None:
            name = host.encode("utf-8", "replace")
            found = max(self._seeds, key=lambda worker: (xxh3_64_intdigest(name, self._seeds[worker]), worker))
            if len(self._owners) > _REMEMBERED:
                self._owners.clear()
            self._owners[host] = found
        return found

    def owner_of(self, url: str) -> str:
        """The worker that owns the host of a URL. The last answer is cached, for callers ask several times in a row."""
        if url != self._asked:
            self._asked, self._answer = url, self.owner(queue_of(url))
        return self._answer

    def is_own(self, host: str) -> bool:
        """Whether this worker owns the host."""
        return self.is_alone or self.owner(host) == self._worker

    def has(self, url: str) -> bool:
        """Whether this worker owns the host of a URL."""
        return self.is_alone or self.owner_of(url) == self._worker

    def others(self) -> list[str]:
        """All other workers, including those that are leaving."""
        return [name for name in self.members.joined if name != self._worker]
