"""Makes an ordering by name: ``make_ordering("dom", context, {"alpha": "0.5"})``."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

from crawlproject.errors import BadSetting
from crawlproject.orderings.adaptive.adaptive import Adaptive
from crawlproject.orderings.backlink_count import BacklinkCount
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.best_first import BestFirst
from crawlproject.orderings.best_n_first import BestNFirst
from crawlproject.orderings.breadth_first import BreadthFirst
from crawlproject.orderings.context_graph.context_graph import ContextGraph
from crawlproject.orderings.dom import Dom
from crawlproject.orderings.fish_search import FishSearch
from crawlproject.orderings.focused import Focused
from crawlproject.orderings.hub_seeking import HubSeeking
from crawlproject.orderings.infospiders.infospiders import InfoSpiders
from crawlproject.orderings.intelligent.intelligent import Intelligent
from crawlproject.orderings.keyword_queue import KeywordQueue
from crawlproject.orderings.largest_site_first import LargestSiteFirst
from crawlproject.orderings.location import Location
from crawlproject.orderings.omniscient import Omniscient
from crawlproject.orderings.opic import Opic
from crawlproject.orderings.pagerank import PageRank
from crawlproject.orderings.random_order import RandomOrder
from crawlproject.orderings.reinforcement.reinforcement import Reinforcement
from crawlproject.orderings.search_impact import SearchImpact
from crawlproject.orderings.shark_search import SharkSearch
from crawlproject.orderings.tag_path_bandit.tag_path_bandit import TagPathBandit
from crawlproject.orderings.trans_domain_indegree import TransDomainIndegree

ORDERINGS: dict[str, type[BaseOrdering]] = {
    "breadth_first": BreadthFirst,
    "random": RandomOrder,
    "best_first": BestFirst,
    "best_n_first": BestNFirst,
    "fish_search": FishSearch,
    "shark_search": SharkSearch,
    "dom": Dom,
    "hub_seeking": HubSeeking,
    "keyword_queue": KeywordQueue,
    "backlink_count": BacklinkCount,
    "pagerank": PageRank,
    "location": Location,
    "opic": Opic,
    "largest_site_first": LargestSiteFirst,
    "indegree": BacklinkCount,  # the name in paper 004
    "trans_domain_indegree": TransDomainIndegree,
    "search_impact": SearchImpact,
    "infospiders": InfoSpiders,
    "intelligent": Intelligent,
    "tag_path_bandit": TagPathBandit,
    "focused": Focused,
    "context_graph": ContextGraph,
    "reinforcement": Reinforcement,
    "adaptive": Adaptive,
    "omniscient": Omniscient,
}


def ordering_class(name: str) -> type[BaseOrdering]:
    """The class of an ordering. Raises ``BadSetting``, which names the nearest one, or lists all."""
    try:
        return ORDERINGS[name]
    except KeyError:
        near = difflib.get_close_matches(name.lower(), ORDERINGS, 1)
        wish = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(ORDERINGS)}"
        raise BadSetting("ordering", f"there is no {name!r}; {wish}") from None


def parameters_of(cls: type[BaseOrdering]) -> dict[str, Any]:
    """An ordering's parameters with their defaults: its keyword-only arguments."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def make_ordering(name: str, context: OrderingContext, parameters: Mapping[str, Any]) -> BaseOrdering:
    """Build the ordering ``name``.

    ``parameters`` may include parameters of other orderings, since one settings file serves all. Raises ``BadSetting`` for
    a parameter that no ordering has, and for a value of the wrong type.
    """
    cls = ordering_class(name)
    if cls.needs_targets and (context.graph is None or not context.targets):
        raise BadSetting(
            f"ordering {name}", "needs to know the targets: use it in a rehearsal, with a topic that has targets"
        )
    _refuse_unknown(parameters)
    own = parameters_of(cls)
    return cls(context, **{key: _like(own[key], key, value) for key, value in parameters.items() if key in own})


def _refuse_unknown(parameters: Mapping[str, Any]) -> None:
    known = {parameter for cls in ORDERINGS.values() for parameter in parameters_of(cls)}
    for parameter in parameters:
        if parameter not in known:
            near = difflib.get_close_matches(parameter, known, 1)
            hint = f"; did you mean ORDERING_{near[0].upper()}?" if near else ""
            raise BadSetting(f"setting ORDERING_{parameter.upper()}", f"no ordering has this parameter{hint}")


def _like(default: Any, name: str, value: Any) -> Any:
    """Convert ``value`` to the type of ``default``."""
    try:
        return type(default)(value)
    except (TypeError, ValueError):
        kind = type(default).__name__
        raise BadSetting(
            f"setting ORDERING_{name.upper()}", f"expected a value of type {kind}, not {value!r}"
        ) from None
