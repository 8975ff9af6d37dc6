"""Opens the hostile web by its names, ``hostile[:PART][@SEED]``.

``hostile`` has the first twelve kinds of bad sites, ``hostile:good`` none, ``hostile:KIND,KIND`` the named ones, and
``hostile:second``, ``hostile:third`` and ``hostile:all`` those of a group. ``hostile@7`` is the same from another seed.
"""

from __future__ import annotations

import re

from benchmarks.hostile_web import DEFAULT_SEED, GROUPS, KINDS, HostileWeb
from crawlproject.errors import BadWeb

NAME = "hostile"
_NAME = re.compile(rf"{NAME}(?::(?P<part>[^@]*))?(?:@(?P<seed>.*))?$", re.DOTALL)


def is_hostile(name: str) -> bool:
    """Whether ``name`` is a name of the hostile web."""
    return _NAME.match(name) is not None


def open_hostile(name: str) -> HostileWeb:
    """The hostile web of that name. Raises ``BadWeb`` for an unknown kind of bad site or a seed that is not a number."""
    found = _NAME.match(name)
    part, seed = (found["part"] or "first", found["seed"]) if found else ("", None)
    if seed is not None and not (seed.isascii() and seed.isdecimal() and len(seed) < 19):
        raise BadWeb(f"web {name!r}", f"the seed after @ is {seed!r}; expected a whole number, as in hostile@7")
    number = DEFAULT_SEED if seed is None else int(seed)
    if part == "good":
        return HostileWeb(seed=number, share=0.0)
    kinds = [kind for word in part.split(",") if word.strip() for kind in GROUPS.get(word.strip(), (word.strip(),))]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        wish = f"expected `good`, or some of {', '.join([*GROUPS, *KINDS])}"
        raise BadWeb(f"web {name!r}", f"there is no kind {unknown[0]!r}; {wish}")
    return HostileWeb(seed=number, kinds=kinds)
