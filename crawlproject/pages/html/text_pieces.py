"""The text of a document while it is read, in Python."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate


class TextPieces(list[str]):
    """Pieces of text, kept as they come: ``append`` costs no Python call. A position is a number of pieces."""

    def since(self, start: int) -> str:
        """The text from ``start`` on."""
        return "".join(self[start:])

    def cut(self, start: int) -> None:
        """Leave out all from ``start`` on."""
        del self[start:]

    def finish(self, most: int) -> tuple[str, list[int]]:
        """The text, and for each position the characters before it: at most ``most``.

        What stands outside the outermost element is white space, which a tree does not have: none is kept at the ends.
        """
        whole = "".join(self)
        text = whole.strip()
        skipped, most = len(whole) - len(whole.lstrip()), min(len(text), most)
        at = list(accumulate(map(len, self), initial=-skipped))
        for outside, limit in (slice(bisect_left(at, 0)), 0), (slice(bisect_right(at, most), None), most):
            at[outside] = [limit] * len(at[outside])
        return text, at
