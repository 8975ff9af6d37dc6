"""The hostile web by its names: ``hostile``, ``hostile:good`` without the bad sites, ``hostile:KIND,KIND`` with some kinds."""

from __future__ import annotations

from crawlproject.errors import BadWeb
from crawlproject.virtualweb.hostile import KINDS, HostileWeb

NAME = "hostile"


def is_hostile(name: str) -> bool:
    """Whether ``name`` is a name of the hostile web."""
    return name == NAME or name.startswith(f"{NAME}:")


def open_hostile(name: str) -> HostileWeb:
    """The hostile web of that name. Raises ``BadWeb`` for a kind of bad site that there is not."""
    part = name.partition(":")[2]
    if part == "good":
        return HostileWeb(share=0.0)
    kinds = [kind.strip() for kind in part.split(",") if kind.strip()] or list(KINDS)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise BadWeb(
            f"web {name!r}", f"there is no kind {unknown[0]!r}; expected `good`, or some of {', '.join(KINDS)}"
        )
    return HostileWeb(kinds=kinds)
