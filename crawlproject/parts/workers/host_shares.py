"""Which worker of a crawl keeps the scores of which hosts up to date.

All workers score all URLs alike, but not at the same moment: were each to tell the frontier, a URL that one has lowered would be
raised again by another, and each would explore hosts of its own. So each host is one worker's, by rendezvous hashing (Thaler and
Ravishankar 1998): when a worker comes or goes, only its share moves.
"""

from __future__ import annotations

from xxhash import xxh3_64_intdigest

SILENT = 60.0  # seconds without a fetch after which a worker's hosts are others'

_REMEMBERED = 100_000  # hosts


class HostShares:
    """The hosts of the worker called ``own``."""

    def __init__(self, own: bytes) -> None:
        self._own = own
        self._heard: dict[bytes, float] = {}
        self._workers: dict[bytes, int] = {own: xxh3_64_intdigest(own)}
        self._is_own: dict[str, bool] = {}

    def __len__(self) -> int:
        """Workers that were heard of lately, this one included."""
        return len(self._workers)

    def heard(self, worker: bytes, at: float) -> None:
        """A worker has fetched something at this time, in seconds since the epoch."""
        self._heard[worker] = max(at, self._heard.get(worker, at))

    def pass_time(self, now: float) -> list[bytes]:
        """It is ``now``: who was heard of lately has a share. Those who have none any more."""
        silent = [worker for worker, at in self._heard.items() if at < now - SILENT]
        for worker in silent:
            del self._heard[worker]
        present = {self._own, *self._heard}
        if present != self._workers.keys():
            self._workers = {worker: xxh3_64_intdigest(worker) for worker in present}
            self._is_own.clear()
        return silent

    def is_own(self, host: str) -> bool:
        """Whether this worker keeps the scores of the host."""
        found = self._is_own.get(host)
        if found is None:
            name = host.encode("utf-8", "replace")
            weights = {xxh3_64_intdigest(name, seed): worker for worker, seed in self._workers.items()}
            found = weights[max(weights)] == self._own
            if len(self._is_own) > _REMEMBERED:
                self._is_own.clear()
            self._is_own[host] = found
        return found
