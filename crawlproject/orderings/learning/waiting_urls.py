"""What an ordering knows of the URLs that wait, kept no longer than they wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Evidence = TypeVar("Evidence")


class WaitingUrls(Generic[Evidence]):
    """URL -> evidence, from the first link to the URL until its fetch has ended.

    What has ended never waits again, however many links still point there. At most ``limit`` URLs are known at once;
    then the oldest is forgotten, for a frontier may drop URLs without a word.
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
        """Know ``url``; what was forgotten for it, if anything was."""
        forgotten = None
        if url not in self._evidence and len(self._evidence) >= self._limit:
            oldest = next(iter(self._evidence))
            forgotten = oldest, self._evidence.pop(oldest)
        self._evidence[url] = evidence
        return forgotten

    def end(self, url: str) -> Evidence | None:
        """The fetch of ``url`` has ended: what was known of it, which is forgotten."""
        self._ended.add(url)
        return self._evidence.pop(url, None)

    def move(self, url: str, target: str) -> None:
        """``url`` redirects to ``target``: what was known of the one is known of the other, unless more was already."""
        evidence = self.end(url)
        if evidence is not None and target not in self._ended and target not in self._evidence:
            self.put(target, evidence)

    def __len__(self) -> int:
        return len(self._evidence)

    def items(self) -> Iterator[tuple[str, Evidence]]:
        """URLs that wait and what is known of them, the oldest first; nothing may be put or ended meanwhile."""
        return iter(self._evidence.items())
