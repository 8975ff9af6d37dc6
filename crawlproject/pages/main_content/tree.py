"""Markup to a small tree that a library may look at: at most so large, so deep, with so few attributes.

Extractors take time that grows with the square or the cube of the depth of a tree (64 kB of nested ``div``: five seconds).
libxml2 ends at a depth of 256, and takes time in proportion to the rest, except to the attributes of an element.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from lxml import etree

try:
    from crawlproject.pages.html import tree_walk
except Exception:  # not built, in a zip file, or built for another lxml
    tree_walk = None  # type: ignore[assignment]

MAX_MARKUP = 524_288  # characters that are looked at
MAX_DEPTH = 250
_UNREAD = ("script", "style", "select", "template", "noscript", "svg", "iframe", "object", "canvas", "textarea")
_READ = frozenset((
    "class", "content", "datetime", "hidden", "href", "id", "itemprop", "itemscope",
    "itemtype", "name", "property", "rel", "role", "start",
    "style",
))  # fmt: skip


def read_tree(markup: str) -> Any | None:
    """The root element of ``markup``, without scripts, comments and the like; None when nothing can be read."""
    data = markup[:MAX_MARKUP].replace("\0", "").encode("utf-8", "replace")
    quick = tree_walk is not None and not tree_walk.is_crowded(data)
    target = None if quick else _FewAttributes()
    parser = etree.HTMLParser(
        target=target, encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, no_network=True
    )
    root = None
    with suppress(etree.XMLSyntaxError, AssertionError):  # lxml asserts that a target has built something
        root = etree.fromstring(data, parser)
    if root is not None:
        etree.strip_elements(root, *_UNREAD, with_tail=False)
    return root


class _FewAttributes:
    """A parser target that builds a tree without the attributes that nobody reads, in linear time."""

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder()
        self._depth = 0

    def start(self, tag: str, attributes: Any) -> None:
        self._depth += 1
        if self._depth <= MAX_DEPTH:
            self._builder.start(tag, {name: value for name, value in attributes.items() if name in _READ})

    def end(self, tag: str) -> None:
        if self._depth <= MAX_DEPTH:
            self._builder.end(tag)
        self._depth -= 1

    def data(self, text: str) -> None:
        if 0 < self._depth <= MAX_DEPTH:
            self._builder.data(text)

    def close(self) -> Any:
        return self._builder.close()
