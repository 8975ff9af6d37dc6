"""What parsing leaves of an HTML document: its text, and its links with the contexts they stand in, as ranges of that text.

The context of a link is the text under its aggregation node (paper 003 section 4.4), the ancestor a given number of levels
above it: all text in the sub-tree rooted there, at any depth. In document order that text is one contiguous range, so it is
known the moment the node closes: contexts cost one dictionary look-up per element and one step per link, however many links
share a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from crawlproject.errors import BadInput
from crawlproject.pages.html.head import NO_RULES, MetaRobots

ROOT = "root"


class RawLink(NamedTuple):
    """A link as written: ``href`` is neither joined nor canonical.

    ``anchor`` and ``context`` are ranges ``[start, end)`` of ``Document.text``: the text inside the link, and that
    inside its aggregation node. ``tag_path`` is that of ``elements.TagPaths``.
    """

    href: str
    anchor: tuple[int, int]
    context: tuple[int, int]
    nofollow: bool
    tag_path: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """An HTML document, parsed.

    ``text`` is the visible text in document order, with white space as in the source and a line feed more wherever an
    element breaks the line, but none at its ends. ``title`` has its white space folded. ``language`` is the two-letter
    code of ``<html lang>``, or empty. ``published`` is the day of publication as ``YYYY-MM-DD``, or empty. ``base`` is
    the absolute URL that relative links are joined with. ``concealed`` counts the characters of ``text``, white space
    apart, that a browser does not show, and ``redirect`` is where it would go at once (an instant refresh, a script
    that does nothing else), as written. ``robots`` is what ``<meta name="robots">`` asks. ``encoding`` is a Python
    codec name. ``links_dropped`` counts links beyond the cap; ``truncated`` is True when text or tags beyond a cap were
    left out.
    """

    title: str = ""
    text: str = ""
    language: str = ""
    published: str = ""
    links: tuple[RawLink, ...] = ()
    concealed: int = 0
    redirect: str = ""
    base: str = ""
    robots: MetaRobots = NO_RULES
    encoding: str = "utf-8"
    links_dropped: int = 0
    truncated: bool = False


class AggregationNodes:
    """Follows the open elements of a document and finds anchor and context of each link, in any unit of position.

    ``level`` is the number of steps from the link up to its aggregation node: 0 the link itself, 1 its parent (the
    paper's choice), ``"root"`` the whole document. Above the outermost element there is nothing: a higher level means
    that element. Raises ``BadInput`` for any other level.

    ``starts`` has the position where each open element began, outermost first: an element opens by appending to it.
    ``waiting`` has the depths at which an open element is somebody's aggregation node, with its links; an element at
    another depth may close by removing its start, which saves the hot path a call.
    ``anchors`` and ``contexts`` have a range ``[start, end)`` for each link, in the order of the links.
    """

    __slots__ = ("anchors", "contexts", "level", "starts", "waiting")

    def __init__(self, level: int | str = 1) -> None:
        if level == ROOT:
            self.level: int | None = None
        elif isinstance(level, int) and level >= 0:
            self.level = level
        else:
            raise BadInput("aggregation level", f'wants a number from 0 up or "{ROOT}", got {level!r}')
        self.waiting: dict[int, list[int]] = {}
        self.starts: list[int] = []
        self.anchors: list[tuple[int, int]] = []
        self.contexts: list[tuple[int, int]] = []

    def link(self) -> int:
        """The innermost open element is a link; its number, from 0."""
        number = len(self.contexts)
        starts, waiting = self.starts, self.waiting
        here = (starts[-1], starts[-1])
        self.anchors.append(here)
        self.contexts.append(here)
        if self.level is not None:
            depth = max(1, len(starts) - self.level)
            if depth in waiting:
                waiting[depth].append(number)
            else:
                waiting[depth] = [number]
        return number

    def leave(self, position: int) -> None:
        """The innermost open element closes."""
        numbers = self.waiting.pop(len(self.starts), ())
        start = self.starts.pop()
        for number in numbers:
            self.contexts[number] = (start, position)

    def finish(self, position: int) -> None:
        """The document ends: every open element closes."""
        while self.starts:
            self.leave(position)
        if self.level is None:
            self.contexts = [(0, position)] * len(self.contexts)
