"""What slows a crawl down beside politeness: the rate of its revisits, the pace of a person whom it accompanies."""

from __future__ import annotations

import math
from typing import Protocol


class Brake(Protocol):
    """Says when the next fetch may begin."""

    def next_time(self) -> float:
        """In seconds since the epoch; infinity: not before something else happens."""
        ...

    def taken(self, now: float) -> None:
        """A fetch begins."""
        ...


class Brakes(list[Brake]):
    """All brakes of one crawl."""

    def hold(self, now: float) -> bool:
        """Whether one of them forbids a fetch ``now``."""
        return any(now < brake.next_time() for brake in self)

    def delayed(self, due: float) -> float | None:
        """The time at which what is ``due`` may be fetched; None: at no time that is known."""
        time = max([due, *(brake.next_time() for brake in self)])
        return time if time < math.inf else None

    def taken(self, now: float) -> None:
        """A fetch begins."""
        for brake in self:
            brake.taken(now)
