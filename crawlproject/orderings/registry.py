"""Makes an ordering by name: ``make_ordering("dom", context, {"alpha": "0.5"})``."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from math import isfinite
from typing import Any, TypeVar

from crawlproject.errors import BadSetting
from crawlproject.extras import need
from crawlproject.orderings.adaptive.adaptive import Adaptive
from crawlproject.orderings.base import BaseOrdering, OrderingContext
from crawlproject.orderings.baselines import BreadthFirst, Location, NearRoot, RandomOrder
from crawlproject.orderings.best_first import BestFirst, BestNFirst, Dom, HubSeeking
from crawlproject.orderings.context_graph import ContextGraph
from crawlproject.orderings.focused import Focused
from crawlproject.orderings.form_focused import FormFocused
from crawlproject.orderings.infospiders import InfoSpiders
from crawlproject.orderings.intelligent import Intelligent
from crawlproject.orderings.keyword_queue import KeywordQueue
from crawlproject.orderings.link_based import BacklinkCount, LargestSiteFirst, Opic, TransDomainIndegree
from crawlproject.orderings.local_rank import LocalRank
from crawlproject.orderings.omniscient import Omniscient
from crawlproject.orderings.pagerank import PageRank
from crawlproject.orderings.quality import QFirst, QMin
from crawlproject.orderings.reinforcement import Reinforcement
from crawlproject.orderings.search_impact import SearchImpact
from crawlproject.orderings.shark_search import FishSearch, SharkSearch
from crawlproject.orderings.tag_path_bandit import TagPathBandit
from crawlproject.orderings.tres.tres import Tres

AnyOrdering = TypeVar("AnyOrdering", bound=BaseOrdering)

ORDERINGS: dict[str, type[BaseOrdering]] = {
    "breadth_first": BreadthFirst,
    "random": RandomOrder,
    "best_first": BestFirst,
    "best_n_first": BestNFirst,
    "local_rank": LocalRank,
    "fish_search": FishSearch,
    "shark_search": SharkSearch,
    "dom": Dom,
    "hub_seeking": HubSeeking,
    "form_focused": FormFocused,
    "keyword_queue": KeywordQueue,
    "backlink_count": BacklinkCount,
    "pagerank": PageRank,
    "location": Location,
    "near_root": NearRoot,
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
    "tres": Tres,
    "qfirst": QFirst,
    "qmin": QMin,
    "adaptive": Adaptive,
    "omniscient": Omniscient,
}

# These look only at links, or judge pages themselves: the judgement of a person does not change their scores.
UNJUDGED = frozenset((
    "breadth_first", "random", "backlink_count", "local_rank", "pagerank", "location", "near_root", "opic",
    "largest_site_first", "indegree",
    "trans_domain_indegree", "search_impact", "keyword_queue", "infospiders", "qfirst", "qmin", "omniscient",
))  # fmt: skip
_BUNDLED = frozenset(ORDERINGS)
INSTALLED = "topical.orderings"  # the group of entry points through which other packages provide orderings


def ordering(name: str) -> Callable[[type[AnyOrdering]], type[AnyOrdering]]:
    """Register the decorated class as the ordering ``name`` in this process; registering a name again replaces its class.

    Raises ``BadSetting`` for the name of a bundled ordering, for one that is not a word of ``a-z``, ``0-9`` and ``_``, and
    for a class that is not a ``BaseOrdering``.
    """

    def register(cls: type[AnyOrdering]) -> type[AnyOrdering]:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in _BUNDLED:
            raise BadSetting(f"ordering {name!r}", "expected a word of a-z, 0-9 and _ that no built-in ordering has")
        if not (isinstance(cls, type) and issubclass(cls, BaseOrdering)):
            raise BadSetting(f"ordering {name}", "expected a subclass of BaseOrdering")
        ORDERINGS[name] = cls
        return cls

    return register


def registered(name: str) -> type[BaseOrdering] | None:
    """The class registered under ``name``; None for a bundled ordering or an unknown name."""
    return None if name in _BUNDLED else ORDERINGS.get(name)


def _load_installed() -> None:
    """Register the orderings that packages declare as entry points of ``topical.orderings``. Raises ``BadSetting``."""
    for point in entry_points(group=INSTALLED):
        if point.name not in ORDERINGS:
            try:
                cls = point.load()
            except (ImportError, AttributeError) as failure:
                raise BadSetting(f"ordering {point.name}", f"{point.value} cannot be imported: {failure}") from None
            ordering(point.name)(cls)


def ordering_class(name: str) -> type[BaseOrdering]:
    """The class of an ordering, bundled or from an installed package. Raises ``BadSetting``, with the nearest name."""
    if name not in ORDERINGS:
        _load_installed()
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
    a parameter that no ordering has, for a value of the wrong type, and for an ordering that needs targets when there are
    none; ``MissingExtra`` when a package is not installed.
    """
    cls = ordering_class(name)
    if cls.needs_targets and (context.graph is None or not context.targets):
        raise BadSetting(
            f"ordering {name}", "needs to know the targets: use it in a rehearsal, with a topic that has targets"
        )
    if cls.needs_extra:
        need(f"ordering {name}", cls.needs_extra)
    return cls(context, **own_parameters(name, parameters))


def own_parameters(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The ``parameters`` that the ordering ``name`` accepts, converted to the right types. Raises ``BadSetting``."""
    if not parameters:
        return {}
    _refuse_unknown(parameters)
    own = parameters_of(ordering_class(name))
    return {key: _like(own[key], key, value) for key, value in parameters.items() if key in own}


def _refuse_unknown(parameters: Mapping[str, Any]) -> None:
    known = _parameters()
    if not parameters.keys() <= known:
        _load_installed()
        known = _parameters()
    for parameter in parameters:
        if parameter not in known:
            near = difflib.get_close_matches(parameter, known, 1)
            hint = f"; did you mean ORDERING_{near[0].upper()}?" if near else ""
            raise BadSetting(f"setting ORDERING_{parameter.upper()}", f"no ordering has this parameter{hint}")


def _parameters() -> set[str]:
    return {parameter for cls in ORDERINGS.values() for parameter in parameters_of(cls)}


def _like(default: Any, name: str, value: Any) -> Any:
    """Convert ``value`` to the type of ``default``; a number must be finite."""
    kind = type(default)
    try:
        found = kind(value)
        if isinstance(found, float) and not isfinite(found):
            raise ValueError(found)
    except (OverflowError, TypeError, ValueError):
        wish = f"expected a value of type {kind.__name__}, not {value!r}"
        raise BadSetting(f"setting ORDERING_{name.upper()}", wish) from None
    return found
