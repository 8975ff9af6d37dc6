"""The parts that repeat on a page: elements with the same tag and class, such as the posts of a thread or the rows of a list.

As in the mining of data records by repeated tag paths (Miao and others, "Extracting data records from the web using tag path
clustering", WWW 2009); here a path is the element and its parent, since replies are nested in replies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lxml import etree

# What a unit may be.
_WHOLES = frozenset(("article", "div", "li", "section", "table", "tbody", "tr", "dl", "blockquote"))
_ALTERNATE = frozenset(("odd", "even", "first", "last", "alt", "alternate", "active", "new", "sticky", "unread"))
_BESIDE = frozenset(("nav", "header", "footer", "aside", "head", "form"))
_NAMED_BESIDE = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|menu|sidebar|side|footer|foot|header|breadcrumbs?|related|recommended|recent|widgets?|toc|pagination|"
    r"pager|paging|share|social|tags?|promo|trending|popular|advert|ads|sphinxsidebar|localtoc)(?:$|[\s_-])",
    re.I,
)
_MUCH = 0.4  # of the text of a page
_MOST_ELEMENTS = 20_000
MOST_PARTS = 500
MOST_TEXT = 50_000  # characters of a part

Path = tuple[str, str]


@dataclass(slots=True)
class RepeatedPart:
    """A member of a group: its element, and how many characters of text it has outside links and in them."""

    element: Any
    own: int
    linked: int


def path_of(element: Any) -> Path:
    """Tag and classes of an element and of its parent; if the element has a class, the parent does not count."""
    mine = _name_of(element)
    parent = element.getparent()
    return ("" if "." in mine or parent is None else _name_of(parent), mine)


class PartFrame:
    """The elements of a page that are menus, margins, headers or footers, and how much text each element has."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._sizes = _sizes_of(root)
        self._whole = self._sizes.get(root, (0, 0))[0]

    @cached_property
    def elements(self) -> list[Any]:
        """The elements outside the frame, in document order, at most 20,000."""
        kept: list[Any] = []
        stack = [self.root]
        while stack and len(kept) < _MOST_ELEMENTS:
            element = stack.pop()
            if element is not self.root and self.is_beside(element):
                continue
            kept.append(element)
            stack += reversed(list(element.iterchildren(etree.Element)))
        return kept

    def is_beside(self, element: Any) -> bool:
        """Whether an element belongs to the frame, by its tag or name, unless it has much of the text outside links."""
        if element.tag in ("html", "body", "main", "article") or self._sizes[element][0] > _MUCH * self._whole:
            return False
        if element.tag in _BESIDE:
            return element.tag != "header" or not any(parent.tag == "article" for parent in element.iterancestors())
        name = f"{element.get('class', '')} {element.get('id', '')}"
        return element.get("role") in ("navigation", "banner", "contentinfo") or _NAMED_BESIDE.search(name) is not None

    def groups(self, least: int = 2) -> dict[Path, list[RepeatedPart]]:
        """The parts of each repeated path, from ``least`` to 500 of them, in document order."""
        found: dict[Path, list[RepeatedPart]] = defaultdict(list)
        for element in self.elements:
            if element.tag in _WHOLES:
                own, linked = self._sizes[element]
                if 0 < own + linked <= MOST_TEXT:
                    found[path_of(element)].append(RepeatedPart(element, own, linked))
        return {path: parts for path, parts in found.items() if least <= len(parts) <= MOST_PARTS}

    @property
    def size(self) -> int:
        """Characters of text outside the frame."""
        total = 0
        for element in self.elements:
            total += _length(element.text) + sum(_length(child.tail) for child in element.iterchildren(etree.Element))
        return total


def _sizes_of(root: Any) -> dict[Any, tuple[int, int]]:
    """For each element, characters of its text outside links, and in links."""
    sizes: dict[Any, tuple[int, int]] = {}
    for element in reversed(list(root.iter(etree.Element))):
        own, linked = _length(element.text), 0
        for child in element.iterchildren(etree.Element):
            of_child = sizes.get(child, (0, 0))
            own += of_child[0] + _length(child.tail)
            linked += of_child[1]
        sizes[element] = (0, own + linked) if element.tag == "a" else (own, linked)
    return sizes


def _length(text: str | None) -> int:
    return len(" ".join(text.split())) if text else 0


def _name_of(element: Any) -> str:
    classes = [re.sub(r"\d+", "#", name) for name in element.get("class", "").split()]
    kept = sorted({name for name in classes if name.lower() not in _ALTERNATE and "#" not in name})
    return ".".join([str(element.tag), *kept[:3]])
