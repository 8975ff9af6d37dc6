"""Makes the ordering of a crawl of several topics, by the name of the ordering for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from crawlproject.orderings.adaptive.adaptive import Adaptive
from crawlproject.orderings.base import OrderingContext
from crawlproject.orderings.registry import make_ordering, ordering_class, own_parameters
from crawlproject.parts.topics.orderings.adaptive_for_topics import AdaptiveForTopics
from crawlproject.parts.topics.orderings.fair_share import FairShare
from crawlproject.parts.topics.orderings.ranked import RankedTopics

TopicsOrdering = AdaptiveForTopics | RankedTopics


def make_topics_ordering(
    name: str, context: OrderingContext, share: FairShare, parameters: Mapping[str, Any]
) -> TopicsOrdering:
    """Build the ordering ``name`` for several topics, which join later; ``context`` is that of the whole crawl.

    Raises ``BadSetting`` as ``make_ordering``.
    """
    cls = ordering_class(name)
    if cls is Adaptive:
        return AdaptiveForTopics(context, share, own_parameters(name, parameters))
    return RankedTopics(context, share, cls, partial(make_ordering, name, parameters=parameters))
