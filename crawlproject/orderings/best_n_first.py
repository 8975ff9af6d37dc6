"""Best-N-First (paper 001 section 3, Figure 1): explore more by deciding less often."""

from __future__ import annotations

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.best_first import BestFirst


class BestNFirst(BestFirst):
    """Best-first that fetches the ``n`` best URLs, in random order, before it considers new scores.

    ``n`` is 256, the paper's best (BFS256). The frontier forms the batch: ``FRONTIER_COMMIT``, if set, takes precedence over
    ``n`` and works with any ordering.
    """

    def __init__(self, context: OrderingContext, *, n: int = 256) -> None:
        super().__init__(context)
        self.commit = n
