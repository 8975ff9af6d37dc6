"""Orderings of which several workers of a crawl need not show each other their pages: what they learn are sums.

Each worker tells what is new of its sums, about once a second, and adds what is new of the others'. A waiting URL is kept up
to date by one worker, the one that found it first; whoever fetches it tells what the page was worth, and that worker learns.
"""

from __future__ import annotations

from typing import Any

from crawlproject.orderings.base import BaseOrdering


class SummingOrdering(BaseOrdering):
    """``sums``: this class does so. What is told are values for JSON; whoever reads them raises ``ValueError``, ``TypeError`` or
    ``KeyError`` for what it cannot read.
    """

    sums = True

    def join_others(self) -> None:
        """There are other workers: before anything was learned."""
        raise NotImplementedError

    def difference(self) -> Any:
        """What was learned since this was asked last; None: nothing."""
        raise NotImplementedError

    def add(self, worker: str, difference: Any) -> None:
        """Another worker has learned this."""
        raise NotImplementedError

    def outcome(self, url: str) -> Any:
        """What the page ``url``, observed last, was worth, for the worker that keeps the URL; None: another page was."""
        raise NotImplementedError

    def fetched_elsewhere(self, url: str, outcome: Any) -> None:
        """Another worker has fetched a URL, with this outcome, or None."""
        raise NotImplementedError

    def kept_elsewhere(self, url: str) -> None:
        """A URL that was found here for the first time waited already: another worker keeps it."""
        raise NotImplementedError

    def left(self, worker: str) -> None:
        """A worker is silent, as if it had nothing that waits."""
        raise NotImplementedError


def summing(ordering: BaseOrdering) -> SummingOrdering | None:
    """The ordering, if it sums."""
    return ordering if isinstance(ordering, SummingOrdering) and ordering.sums else None
