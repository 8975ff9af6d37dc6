"""The handover of hosts when a worker joins a crawl or leaves it.

A worker sends the waiting URLs of hosts that now belong to another worker, and the keys of their URLs that are done, to the new
owner. Then it announces that its handover is complete. A worker that joins takes no URL until all earlier members have
announced this, and no worker takes any while another is leaving: so no URL is fetched twice. A URL that is being fetched
meanwhile is sent when its lease ends, before the visit ends: the new owner cannot visit the host earlier. A worker that leaves
stays until all others have handed over as well: a worker that does not know of the departure yet still sends it URLs, and
sends back those that it was handed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import islice
from math import inf
from pathlib import Path
from typing import NamedTuple

import orjson

from crawlproject.frontier.core import FrontierCore
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.redis.members import Members, Shares
from crawlproject.storage.append_log import write_atomically

MEMBERS = "members.json"  # the file with the members at the last complete handover
AT_ONCE = 1000  # URLs that are examined at a time: the crawl continues in between


class Saved(NamedTuple):
    """What the folder of a worker keeps: the members at its last complete handover, the epoch for which each worker had handed
    over, and the last epoch for which none was awaited.
    """

    members: Members
    handed: dict[str, int]
    ready: int

    def dump(self) -> bytes:
        return orjson.dumps([self.members.epoch, dict(self.members.joined), self.handed, self.ready])


def read_saved(folder: Path | None) -> Saved | None:
    """What ``folder`` keeps; None for a worker that is new: it has no folder, or one without a readable file."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        if folder is not None:
            epoch, joined, handed, ready = orjson.loads((folder / MEMBERS).read_bytes())
            members = Members(int(epoch), {str(name): int(at) for name, at in joined.items()})
            return Saved(members, {str(name): int(at) for name, at in handed.items()}, int(ready))
    return None


class Handover:
    """The changes of membership, as ``worker`` sees them. ``epoch`` is that of its last complete handover. ``folder`` keeps it
    with the members at that time; without a folder, it starts from none.
    """

    def __init__(self, worker: str, shares: Shares, frontier: FrontierCore, folder: Path | None) -> None:
        self._file = folder / MEMBERS if folder is not None else None
        self._worker = worker
        self._shares = shares
        self._frontier = frontier
        saved = read_saved(folder)
        self.is_new = saved is None
        self._content = b"" if saved is None else saved.dump()
        # worker -> epoch for which it has handed over
        self._handed: dict[str, int] = {} if saved is None else saved.handed
        self._awaited: dict[str, int] = {}  # worker -> epoch for which it must still hand over
        self._scan: Iterator[tuple[str, bool]] | None = None
        self._inherits: list[Callable[[str], bool]] = []
        self._ready = 0 if saved is None else saved.ready  # last epoch for which no worker is awaited
        self._patient_until = 0.0
        if saved is not None:
            shares.set_members(saved.members)
            self._wait_for()
        self._over = shares.members  # the members at the last complete handover
        self._kept = saved and saved.members  # those in the file

    @property
    def epoch(self) -> int:
        return self._over.epoch

    def begin_anew(self, until: float) -> None:
        """The server has lost the crawl, and counts its epochs from 1 again. The workers with a share keep it until ``until``,
        since they may come back, or until another worker joins.
        """
        names = {*self._shares.members.sharing(), self._worker}
        self._shares.set_members(Members(0, dict.fromkeys(names, 1)))
        self._over = self._shares.members
        self._handed, self._awaited, self._ready, self._patient_until = {}, {}, 0, until
        self.save()

    def meet(self, members: Members, away: Collection[str] = (), now: float = inf) -> bool:
        """Take over the present members, and return True, if they have changed. While this worker still waits for others or
        hands over, it does not turn to the next change, and returns False.

        Workers that are ``away`` hand over nothing until they are back; their messages list the URLs that they have fetched.
        """
        for worker in list(self._awaited):
            if worker not in members.joined or worker in away:  # lost, with all that it had not handed over yet
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
        """Await the earlier members that have not handed over yet."""
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
        """A test whether a host moved to this worker from a lost one; None if no worker was lost since the last call."""
        if not self._inherits:
            return None
        were_theirs, self._inherits = self._inherits, []
        return lambda host: self._shares.is_own(host) and any(was_theirs(host) for was_theirs in were_theirs)

    def inherit_later(self, gained: Callable[[str], bool]) -> None:
        """Take back what ``inherited`` returned, for the next call."""
        self._inherits.append(gained)

    def was_lost(self, host: str) -> bool:
        """Whether the host belonged to a worker that was lost since the last call of ``inherited``."""
        return any(was_theirs(host) for was_theirs in self._inherits)

    @property
    def inherits(self) -> bool:
        """Whether a worker was lost since the last call of ``inherited``."""
        return bool(self._inherits)

    def inherit_all(self) -> None:
        """An earlier member is lost, and it is not known which hosts it had: any host may be inherited."""
        self._inherits.append(lambda host: True)

    def has_left(self, away: Collection[str]) -> bool:
        """Whether this worker no longer has a share, has handed over everything, and gets nothing more, since all others, except
        those that are ``away``, know that it leaves.
        """
        left_at = -self._shares.members.joined.get(self._worker, 0)
        return left_at > 0 and not self.is_scanning and self.all_know(left_at, away)

    def all_know(self, epoch: int, away: Collection[str]) -> bool:
        """Whether all others, except those that are ``away``, know the members of this epoch. Then they no longer write to
        workers that were lost by that epoch.
        """
        return all(worker in away or self._handed.get(worker, 0) >= epoch for worker in self._shares.others())

    def hear(self, worker: str, epoch: int) -> None:
        """Note that a worker has handed over for this epoch."""
        self._handed[worker] = handed = max(epoch, self._handed.get(worker, 0))
        # If its epoch is later than the present one here, it gave hosts that seem to be this worker's to others.
        if self._awaited.get(worker, epoch + 1) <= handed <= self._shares.members.epoch:
            del self._awaited[worker]

    @property
    def is_open(self) -> bool:
        """Whether URLs may not be taken yet."""
        return bool(self._awaited)

    @property
    def has_saved(self) -> bool:
        """Whether the next process of this worker is not new."""
        return self._kept is not None

    @property
    def is_scanning(self) -> bool:
        """Whether there is more to hand over."""
        return self._scan is not None

    def hand_over(self, give: Callable[[str, bool], None]) -> bool:
        """Continue: ``give`` the next URLs away, each with whether it is done. Return whether that completed the handover."""
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
        """Save the members at the last complete handover, and which workers have handed over. Raises ``StorageFailed``.

        While hosts of a lost worker are to be inherited, the members stay those from before: if this process is killed, the
        next one meets the loss again. A new worker saves nothing until then: its next process is new, too.
        """
        kept = self._kept if self._inherits else self._over
        if kept is None:
            return
        if not self._awaited and self._scan is None:
            self._ready = self.epoch
        self._kept = kept
        content = Saved(kept, self._handed, self._ready).dump()
        if self._file is not None and content != self._content:
            write_atomically(self._file, [content], sync=False)
            self._content = content

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
