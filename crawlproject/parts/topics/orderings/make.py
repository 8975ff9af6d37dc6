"""The ordering of a crawl of several topics, by the name of the ordering of one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from crawlproject.orderings.adaptive.adaptive import Adaptive
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.registry import make_ordering, ordering_class, own_parameters
from crawlproject.parts.topics.orderings.adaptive_for_topics import AdaptiveForTopics
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.ranked import RankedTopics
from crawlproject.records import Page


class TopicsOrdering(Protocol):
    """What an ordering of several topics has besides what every ordering has."""

    share: FairShare

    def join(self, context: OrderingContext, weight: float = 1.0, place: int | None = None) -> None:
        """A topic joins, which has this weight; its ``place`` among all that ever joined is the next, unless it is given.

        Raises ``ValueError`` for a name that is there, and a weight of 0 or less.
        """
        ...

    def leave(self, name: str) -> None:
        """A topic leaves. Raises ``ValueError`` for a name that is not there."""
        ...

    def weigh_anew(self) -> None:
        """The weights were changed."""
        ...

    def learn_earlier(self, name: str, page: Page) -> None:
        """A topic that joined learns from a page that was fetched before; ``page.topics`` has its relevance."""
        ...


def make_topics_ordering(
    name: str, context: OrderingContext, share: FairShare, parameters: Mapping[str, Any]
) -> AdaptiveForTopics | RankedTopics:
    """Build the ordering ``name`` for several topics, which join later; ``context`` is that of the whole crawl.

    Raises ``BadSetting`` as ``make_ordering``.
    """
    cls = ordering_class(name)
    if cls is Adaptive:
        return AdaptiveForTopics(context, share, own_parameters(name, parameters))
    return RankedTopics(context, share, cls, partial(make_ordering, name, parameters=parameters))
