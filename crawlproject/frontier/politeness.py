"""How long a host is left alone after a visit."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any


class Politeness:
    """Next visit of a host at ``finish + max(min_delay, crawl_delay, factor * seconds)``.

    ``min_delay`` is in seconds (default 1), ``factor`` multiplies the duration of the last fetch (default 1: a host
    rests as long as it worked). ``margin`` seconds (default 0) are added to a rest that is not 0, for servers that note
    the end of a fetch a moment after the client does. All must be finite and not negative, else ``ValueError``.

    ``longest`` seconds is the longest rest that there can be, whatever hosts ask for (default: any). A frontier that is opened
    again believes no longer one: its clock was set back since.
    """

    def __init__(
        self, min_delay: float = 1.0, factor: float = 1.0, *, margin: float = 0.0, longest: float = math.inf
    ) -> None:
        for name, value in (("min_delay", min_delay), ("factor", factor), ("margin", margin)):
            if not 0.0 <= value < math.inf:
                raise ValueError(f"{name} must be a finite number and not negative, got {value!r}")
        self.min_delay = min_delay
        self.factor = factor
        self.margin = margin
        self.longest = longest
        self._delays: dict[Hashable, float] = {}

    def crawl_delay(self, host: Hashable, seconds: float) -> bool:
        """Remember the delay that the host's robots.txt asks for. False: that is what was known already.

        What is no finite, positive number takes the delay back: robots.txt is written by strangers.
        """
        asked = seconds if 0.0 < seconds < math.inf else 0.0
        if asked == self.asked(host):
            return False
        if asked:
            self._delays[host] = asked
        else:
            del self._delays[host]
        return True

    def asked(self, host: Hashable) -> float:
        """The delay that the host asks for in seconds; 0: none."""
        return self._delays.get(host, 0.0)

    def crawl_delays(self) -> Iterator[tuple[Any, float]]:
        """The hosts that asked for a delay, with the seconds."""
        return iter(self._delays.items())

    def next_visit(self, host: Hashable, finish: float, seconds: float) -> float:
        """The earliest time of the next visit after a fetch that ended at ``finish`` and took ``seconds``."""
        rest = max(self.min_delay, self._delays.get(host, 0.0), self.factor * seconds)
        return finish + rest + self.margin if rest else finish
