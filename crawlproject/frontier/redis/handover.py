"""Hosts change hands when a worker joins a crawl, or leaves it.

Whoever has hosts that are another's now sends their waiting URLs, and the keys of those that are done, to the new owner; then it
says that it has handed over what it had. A worker that joins takes nothing until all who were there before have said so, and
nobody takes anything while one is leaving: so no URL is fetched twice. What is being fetched meanwhile is sent when its lease
ends, and before the visit does: the new owner cannot be there earlier. Whoever leaves stays until all others have handed over,
too: one that does not know of it yet sends it URLs, and sends back what it was handed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from math import inf
from pathlib import Path

import orjson

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.redis.members import Members, Shares
from crawlproject.storage.append_log import write_atomically

MEMBERS = "members.json"  # the file with the members for which everything was handed over last
AT_ONCE = 1000  # URLs that are looked at in one go: the crawl goes on in between


class Handover:
    """The changes of the members, as ``worker`` sees them. ``epoch`` is the last one that it has handed over for, as ``folder``
    keeps it with the members of then; without a folder, there was none.
    """

    def __init__(self, worker: str, shares: Shares, frontier: FrontierCore, folder: Path | None) -> None:
        self._file = folder / MEMBERS if folder is not None else None
        self._worker = worker
        self._shares = shares
        self._frontier = frontier
        self._handed: dict[str, int] = {}  # worker -> epoch for which it has handed over
        self._awaited: dict[str, int] = {}  # worker -> epoch for which it is to
        self._scan: Iterator[tuple[str, bool]] | None = None
        self._inherits: list[Callable[[str], bool]] = []
        self._ready = 0  # epoch for which nobody is awaited any more
        self._saved = self._read()
        self.is_new = not self._saved
        self._over = shares.members  # for which all was handed over
        self._patient_until = 0.0
        if self._saved:
            self._wait_for()

    @property
    def epoch(self) -> int:
        return self._over.epoch

    def begin_anew(self, until: float) -> None:
        """The server has lost the crawl, and counts its epochs from 1 again. Those who had a share keep it ``until`` then, as
        they may come back, or until somebody else joins.
        """
        names = {*self._shares.members.sharing(), self._worker}
        self._shares.set_members(Members(0, dict.fromkeys(names, 1)))
        self._over = self._shares.members
        self._handed, self._awaited, self._ready, self._patient_until = {}, {}, 0, until
        self.save()

    def meet(self, members: Members, away: Collection[str] = (), now: float = inf) -> bool:
        """These are the members now; whether that is news. Who waits for others does not turn to the next change before.

        Those that are ``away`` hand over nothing until they are back: of what they have fetched, their messages tell.
        """
        for worker in list(self._awaited):
            if worker not in members.joined or worker in away:  # it is lost with what it was to hand over
                del self._awaited[worker]
                self.inherit_all()
        before = self._shares.members
        waits = any(self._handed.get(worker, 0) < needed for worker, needed in self._awaited.items())
        if members.epoch <= before.epoch or waits or self._scan is not None:
            return False
        if now < self._patient_until and members.joined.keys() < before.joined.keys():
            return False
        self._patient_until = 0.0
        lost = frozenset(before.sharing()) - members.joined.keys() - {self._worker}
        if lost:
            old = Shares(self._worker)
            old.set_members(before)
            self._inherits.append(lambda host: old.owner(host) in lost)
        self._shares.set_members(members)
        self._wait_for(away)
        self._scan = self._foreign()
        return True

    def _wait_for(self, away: Collection[str] = ()) -> None:
        """Those who were here before and have not handed over yet are awaited."""
        members, self._awaited = self._shares.members, {}
        joined = members.joined.get(self._worker, 0)
        for worker, at in members.joined.items():
            is_before = abs(at) < joined and joined > self._ready
            needed = -at if at < 0 else joined if is_before else 0
            if worker == self._worker or needed <= self._handed.get(worker, 0):
                continue
            if worker in away:
                self.inherit_all()
            else:
                self._awaited[worker] = needed

    def inherited(self) -> Callable[[str], bool] | None:
        """Whether a host was a lost worker's, and is this worker's now; None: nobody was lost since this was asked."""
        if not self._inherits:
            return None
        were_theirs, self._inherits = self._inherits, []
        return lambda host: self._shares.is_own(host) and any(was_theirs(host) for was_theirs in were_theirs)

    def was_lost(self, host: str) -> bool:
        """Whether a host was that of a worker that was lost since that was asked."""
        return any(was_theirs(host) for was_theirs in self._inherits)

    @property
    def inherits(self) -> bool:
        """Whether somebody was lost since that was asked."""
        return bool(self._inherits)

    def inherit_all(self) -> None:
        """Whoever was here before is lost, and nobody knows which hosts it had."""
        self._inherits.append(lambda host: True)

    def has_left(self, away: Collection[str]) -> bool:
        """Whether this worker has no share any more, has handed over what it had, and gets nothing more: all others know that it
        leaves, but those that are ``away``.
        """
        left_at = -self._shares.members.joined.get(self._worker, 0)
        return left_at > 0 and not self.is_scanning and self.all_know(left_at, away)

    def all_know(self, epoch: int, away: Collection[str]) -> bool:
        """Whether all others, but those that are ``away``, know the members of this epoch: who was lost by then is sent nothing
        any more.
        """
        return all(worker in away or self._handed.get(worker, 0) >= epoch for worker in self._shares.others())

    def hear(self, worker: str, epoch: int) -> None:
        """A worker has handed over what it had for this epoch."""
        self._handed[worker] = handed = max(epoch, self._handed.get(worker, 0))
        # For a later epoch than this worker knows of, hosts that seem to be its own were given to others.
        if self._awaited.get(worker, epoch + 1) <= handed <= self._shares.members.epoch:
            del self._awaited[worker]

    @property
    def is_open(self) -> bool:
        """Whether no URL may be taken yet."""
        return bool(self._awaited)

    @property
    def is_scanning(self) -> bool:
        """Whether there is more to hand over."""
        return self._scan is not None

    def hand_over(self, give: Callable[[str, bool], None]) -> bool:
        """Go on: ``give`` a few URLs away, each with whether it is done. Whether all have been given just now."""
        if self._scan is None:
            return False
        some = list(islice(self._scan, AT_ONCE))
        for key, is_done in some:
            give(key, is_done)
        if some:
            return False
        self._scan = None
        self._over = self._shares.members
        return True

    def save(self) -> None:
        """Remember for which members all was handed over, and who has done so. Raises ``StorageFailed``."""
        if not self._awaited and self._scan is None:
            self._ready = self.epoch
        content = orjson.dumps([self._over.epoch, dict(self._over.joined), self._handed, self._ready])
        if self._file is not None and content != self._saved:
            write_atomically(self._file, [content], sync=False)
            self._saved = content

    def _read(self) -> bytes:
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if self._file is not None:
                content = self._file.read_bytes()
                epoch, joined, handed, ready = orjson.loads(content)
                members = Members(int(epoch), {str(name): int(at) for name, at in joined.items()})
                self._handed, self._ready = {str(name): int(at) for name, at in handed.items()}, int(ready)
                self._shares.set_members(members)
                return content
        return b""

    def _foreign(self) -> Iterator[tuple[str, bool]]:
        frontier, is_own = self._frontier, self._shares.has
        if self._shares.is_alone:
            return
        waiting = frontier.waiting()
        for url in waiting if isinstance(frontier, DiskFrontier) else list(waiting):
            if not is_own(url.url):
                yield url.key, False
        finished = frontier.finished()
        for url in finished if isinstance(frontier, DiskFrontier) else list(finished):
            if not is_own(url.url):
                yield url.key, True
