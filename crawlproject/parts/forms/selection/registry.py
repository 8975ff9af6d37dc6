"""Makes a query selection policy by name."""

from __future__ import annotations

from collections.abc import Callable

from crawlproject.errors import BadSetting
from crawlproject.parts.forms.selection.base import QuerySelection
from crawlproject.parts.forms.selection.estimated_new import EstimatedNew
from crawlproject.parts.forms.selection.greedy_frequency import GreedyFrequency
from crawlproject.parts.forms.selection.mutual_information import MutualInformation
from crawlproject.parts.forms.selection.random_value import RandomValue
from crawlproject.parts.forms.selection.relevant_new import RelevantNew

SELECTIONS: dict[str, Callable[[], QuerySelection]] = {
    "random": RandomValue,
    "greedy_frequency": GreedyFrequency,
    "mutual_information": MutualInformation,
    "estimated_new": EstimatedNew,
    "relevant_new": RelevantNew,
}


def make_selection(name: str) -> QuerySelection:
    """The policy ``name``. Raises ``BadSetting``, which lists the known names."""
    try:
        return SELECTIONS[name]()
    except KeyError:
        wish = f"expected one of {', '.join(SELECTIONS)}; not {name!r}"
        raise BadSetting("setting CRAWL_FORM_SELECTION", wish) from None
