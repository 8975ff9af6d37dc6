"""Best-N-First (paper 001 section 3, Figure 1): explore more by deciding less often."""

from __future__ import annotations

from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.best_first import BestFirst


class BestNFirst(BestFirst):
    """Best-first that takes the ``n`` best URLs, in random order, before it looks at new scores.

    ``n`` is 256, the paper's best (BFS256). The batch itself is the frontier's doing: ``FRONTIER_COMMIT``, when it is set,
    wins over ``n`` and combines with any ordering.
    """

    def __init__(self, context: OrderingContext, *, n: int = 256) -> None:
        super().__init__(context)
        self.commit = n
