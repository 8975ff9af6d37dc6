"""The context of a link: the text under its aggregation node (paper 003 section 4.4).

The aggregation node of a link is the ancestor a given number of levels above it; its context is all text in the
sub-tree rooted there, at any depth. In document order that text is one contiguous range, so it is known the moment the
node closes: contexts cost one dictionary look-up per element and one step per link, however many links share a node.
"""

from __future__ import annotations

from crawlproject.errors import BadInput

ROOT = "root"


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
