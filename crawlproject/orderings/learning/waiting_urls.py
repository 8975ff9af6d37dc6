"""The evidence of an ordering about waiting URLs, kept only while they wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Evidence = TypeVar("Evidence")


class WaitingUrls(Generic[Evidence]):
    """URL -> evidence, from the first link to the URL until its fetch has ended.

    A URL whose fetch has ended never waits again, however many links lead to it. At most ``limit`` URLs are stored; then the
    oldest is dropped, since a frontier may drop URLs without notice.
    """

    def __init__(self, limit: int = 1_000_000) -> None:
        self._limit = limit
        self._evidence: dict[str, Evidence] = {}
        self._ended: set[str] = set()

    def get(self, url: str) -> Evidence | None:
        return self._evidence.get(url)

    def has_ended(self, url: str) -> bool:
        return url in self._ended

    def put(self, url: str, evidence: Evidence) -> tuple[str, Evidence] | None:
        """Store ``url``; return the entry that was dropped for it, if any."""
        forgotten = None
        if url not in self._evidence and len(self._evidence) >= self._limit:
            oldest = next(iter(self._evidence))
            forgotten = oldest, self._evidence.pop(oldest)
        self._evidence[url] = evidence
        return forgotten

    def end(self, url: str) -> Evidence | None:
        """The fetch of ``url`` has ended: remove and return its evidence."""
        self._ended.add(url)
        return self._evidence.pop(url, None)

    def move(self, url: str, target: str) -> None:
        """``url`` redirects to ``target``, which takes over its evidence unless it has some of its own."""
        evidence = self.end(url)
        if evidence is not None and target not in self._ended and target not in self._evidence:
            self.put(target, evidence)

    def __len__(self) -> int:
        return len(self._evidence)

    def items(self) -> Iterator[tuple[str, Evidence]]:
        """Waiting URLs and their evidence, oldest first; ``put`` and ``end`` must not be called meanwhile."""
        return iter(self._evidence.items())
