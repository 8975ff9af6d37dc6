"""Whether a host is believed, by what its hints were worth so far."""

from __future__ import annotations

_PRIOR = 2.0, 1.0  # hints that were true, and not, before any was tried


class Truth:
    """How many hints were true, of those that were tried."""

    __slots__ = ("false", "true")

    def __init__(self) -> None:
        self.true = self.false = 0

    def add(self, was_true: bool) -> None:
        self.true += was_true
        self.false += not was_true

    @property
    def share(self) -> float:
        """The share of hints that is expected to be true."""
        return (self.true + _PRIOR[0]) / (self.true + self.false + sum(_PRIOR))

    @property
    def is_believed(self) -> bool:
        return self.share >= 0.5
