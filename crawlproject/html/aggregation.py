"""The context of a link: the text under its aggregation node (paper 003 section 4.4).

The aggregation node of a link is the ancestor a given number of levels above it; its context is all text in the sub-tree
rooted there, at any depth. In document order that text is one contiguous range, so it is known the moment the node
closes: contexts cost one dictionary look-up per element and one step per link, however many links share a node.
"""

from __future__ import annotations

from crawlproject.errors import BadInput

ROOT = "root"


class AggregationNodes:
    """Follows the open elements of a document and finds anchor and context of each link.

    ``level`` is the number of steps from the link up to its aggregation node: 0 the link itself, 1 its parent (the
    paper's choice), ``"root"`` the whole document. Above the outermost element there is nothing: a higher level means
    that element. Raises ``BadInput`` for any other level.
    """

    __slots__ = ("_level", "_starts", "_waiting", "anchors", "contexts")

    def __init__(self, level: int | str = 1) -> None:
        if level != ROOT and not (isinstance(level, int) and level >= 0):
            raise BadInput("aggregation level", f'wants a number from 0 up or "{ROOT}", got {level!r}')
        self._level = level
        self._starts: list[int] = []
        self._waiting: dict[int, list[int]] = {}
        self.anchors: list[tuple[int, int]] = []
        self.contexts: list[tuple[int, int]] = []

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._starts)

    def enter(self, position: int) -> int:
        """An element opens at ``position`` of the text; the new depth."""
        self._starts.append(position)
        return len(self._starts)

    def link(self) -> int:
        """The innermost open element is a link; its number, from 0."""
        number = len(self.contexts)
        link_depth = len(self._starts) - 1
        position = self._starts[-1]
        self.anchors.append((position, position))
        self.contexts.append((position, position))
        if self._level != ROOT:
            self._waiting.setdefault(max(0, link_depth - self._level), []).append(number)
        return number

    def leave(self, position: int) -> int:
        """The innermost element closes at ``position`` of the text; where it began."""
        start = self._starts.pop()
        numbers = self._waiting.pop(len(self._starts), None)
        if numbers is not None:
            for number in numbers:
                self.contexts[number] = (start, position)
        return start

    def finish(self, position: int) -> None:
        """The document ends at ``position``: every open element closes."""
        while self._starts:
            self.leave(position)
        if self._level == ROOT:
            self.contexts = [(0, position)] * len(self.contexts)
