"""Tag paths: where in the tree of a page a link is.

Links at like places of a template do like things: a menu entry, a result of a list, a footer. The path from the root to
the link, with the ids and classes of the elements, names such a place (the arms of Gauquier and others 2025,
SB-CLASSIFIER).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MAX_PATH = 400  # characters kept, from the link upwards

_DIGITS = re.compile(r"\d+")
_Element = tuple[str, Mapping[str, str]]


class TagPaths:
    """Follows the open elements of a document. ``elements`` has the tag and the attributes of each, outermost first.

    The path of an element is built when the first link below it asks, so that a document costs no more than its
    elements however many links share their ancestors.
    """

    __slots__ = ("_known", "_paths", "elements")

    def __init__(self) -> None:
        self.elements: list[_Element] = []
        self._paths: list[tuple[_Element, str]] = []
        self._known: dict[str, str] = {}

    def path(self) -> str:
        """The path of the innermost open element: labels divided by spaces, at most ``MAX_PATH`` characters."""
        elements, paths = self.elements, self._paths
        shared = min(len(elements), len(paths))
        while shared and paths[shared - 1][0] is not elements[shared - 1]:
            shared -= 1
        del paths[shared:]
        path = paths[-1][1] if paths else ""
        for element in elements[shared:]:
            path = f"{path} {_label(*element)}"[-MAX_PATH:]
            paths.append((element, path))
        path = path.lstrip()
        return self._known.setdefault(path, path)  # equal paths are one string


def _label(tag: str, attributes: Mapping[str, str]) -> str:
    return label(tag, attributes.get("id", ""), attributes.get("class", "")) if attributes else tag


@lru_cache(maxsize=10_000)
def label(tag: str, identity: str, classes: str) -> str:
    """``tag#id.class.class``; numbers become 0, since they tell items apart and not places."""
    identity = "-".join(identity.split())
    place = (f"#{identity}" if identity else "") + "".join([f".{name}" for name in sorted(classes.split())])
    return tag + _DIGITS.sub("0", place)
