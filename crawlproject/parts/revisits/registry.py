"""Makes a revisit policy by name: ``make_policy("capture", {"patience": "7"})``."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from typing import Any

from crawlproject.errors import BadSetting
from crawlproject.parts.revisits.base import RevisitPolicy
from crawlproject.parts.revisits.policies.adaptive.adaptive import AdaptiveRevisits
from crawlproject.parts.revisits.policies.buckets import Buckets, WebFountain
from crawlproject.parts.revisits.policies.capture import CaptureRevisits
from crawlproject.parts.revisits.policies.closed_form import Age, Freshness, OpicRevisits, Proportional, Uniform
from crawlproject.parts.revisits.policies.content import Content
from crawlproject.parts.revisits.policies.embarrassment import Embarrassment
from crawlproject.parts.revisits.policies.impact import Impact
from crawlproject.parts.revisits.policies.other_crawlers import Heritrix, Nutch
from crawlproject.parts.revisits.policies.spawning import Spawning

POLICIES: dict[str, type[RevisitPolicy]] = {
    "uniform": Uniform,
    "proportional": Proportional,
    "freshness": Freshness,
    "age": Age,
    "content": Content,
    "embarrassment": Embarrassment,
    "impact": Impact,
    "capture": CaptureRevisits,
    "buckets": Buckets,
    "webfountain": WebFountain,
    "opic": OpicRevisits,
    "spawning": Spawning,
    "nutch": Nutch,
    "heritrix": Heritrix,
    "adaptive": AdaptiveRevisits,
}


def parameters_of(cls: type[RevisitPolicy]) -> dict[str, Any]:
    """A policy's parameters with their defaults: its keyword-only arguments."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def make_policy(name: str, parameters: Mapping[str, Any] | None = None) -> RevisitPolicy:
    """Build the policy ``name``.

    ``parameters`` may be strings, and may include parameters of other policies, since one settings file serves all. Raises
    ``BadSetting`` for an unknown name, a parameter that no policy has, and a value of the wrong type.
    """
    if name not in POLICIES:
        raise BadSetting("revisit policy", f"expected one of {', '.join(POLICIES)}; not {name!r}")
    known = {parameter for cls in POLICIES.values() for parameter in parameters_of(cls)}
    own = parameters_of(POLICIES[name])
    chosen = {}
    for key, value in (parameters or {}).items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise BadSetting(
                f"revisit parameter {key}", "no policy has it" + (f"; did you mean {near[0]}?" if near else "")
            )
        if key in own:
            kind = type(own[key])
            try:
                chosen[key] = kind(value)
            except (TypeError, ValueError):
                raise BadSetting(f"revisit parameter {key}", f"expected a {kind.__name__}, not {value!r}") from None
    return POLICIES[name](**chosen)
