"""Orderings that learn sums, so that the workers of a crawl exchange these sums instead of pages.

About once a second, each worker sends what was added to its sums since the last time, and the others add it to theirs. One
worker keeps the score of a waiting URL up to date: the one that found the URL first. The worker that fetches the URL sends
what the page was worth, and the worker that keeps the URL learns from it.
"""

from __future__ import annotations

from typing import Any

from crawlproject.orderings.base import BaseOrdering


class SummingOrdering(BaseOrdering):
    """An ordering that exchanges sums with other workers; a subclass that cannot sets ``sums`` to False.

    Messages consist of JSON values. A method that reads a message raises ``ValueError``, ``TypeError`` or ``KeyError`` if
    the message is malformed.
    """

    sums = True

    def join_others(self) -> None:
        """Prepare for other workers; called before anything was learned."""
        raise NotImplementedError

    def difference(self) -> Any:
        """What was learned since the last call; None if nothing was."""
        raise NotImplementedError

    def add(self, worker: str, difference: Any) -> None:
        """Add what another worker has learned."""
        raise NotImplementedError

    def outcome(self, url: str) -> Any:
        """What the page ``url`` was worth, for the worker that keeps the URL; None unless this page was observed last."""
        raise NotImplementedError

    def fetched_elsewhere(self, url: str, outcome: Any) -> None:
        """Another worker has fetched ``url``, with this ``outcome`` (None if it sent none)."""
        raise NotImplementedError

    def kept_elsewhere(self, url: str) -> None:
        """``url`` is new to this worker, but already waits in the crawl: another worker keeps it."""
        raise NotImplementedError

    def left(self, worker: str) -> None:
        """A worker has left the crawl or is silent: forget its waiting URLs."""
        raise NotImplementedError


def summing(ordering: BaseOrdering) -> SummingOrdering | None:
    """The ordering, if it exchanges sums; else None."""
    return ordering if isinstance(ordering, SummingOrdering) and ordering.sums else None
