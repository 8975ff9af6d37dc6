"""Makes an estimator by name."""

from __future__ import annotations

from crawlproject.errors import BadSetting
from crawlproject.parts.revisits.estimators.base import Estimator
from crawlproject.parts.revisits.estimators.change_rates import BiasReduced, KnownTimes, MaximumLikelihood, Naive
from crawlproject.parts.revisits.estimators.group_prior import GroupPrior

ESTIMATORS: dict[str, type[Estimator]] = {
    "naive": Naive,
    "bias_reduced": BiasReduced,
    "maximum_likelihood": MaximumLikelihood,
    "known_times": KnownTimes,
    "group_prior": GroupPrior,
}


def make_estimator(name: str) -> Estimator:
    """Raises ``BadSetting`` for an unknown name; it lists the known ones."""
    if name not in ESTIMATORS:
        raise BadSetting("estimator", f"expected one of {', '.join(ESTIMATORS)}; not {name!r}")
    return ESTIMATORS[name]()
