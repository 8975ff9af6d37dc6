"""What a crawl is to save, pages or time: from which score a host is spare (``frontier.base``)."""

from __future__ import annotations

import math
from typing import Literal

Scarce = Literal["pages", "time", "both"]

NEARLY = 0.9  # of the floor: hosts that are spare when both are scarce
MOST = 0.125  # share of the fetches that may go to spare hosts then
RECENT = 64  # fetches over which the share is taken


class Scarcity:
    """``CRAWL_SCARCE``. ``pages``: no host is spare. ``time``: every host is.

    ``both``: hosts that are ``NEARLY`` as good as the floor asks for, while no more than a share ``MOST`` of the recent fetches
    went to such hosts. So a crawl never pays more than that for not waiting.
    """

    def __init__(self, scarce: Scarce) -> None:
        self._scarce = scarce
        self._share = 0.0  # of the recent fetches, those below the floor
        self._has_room = True

    def spare(self, floor: float) -> float:
        """The second floor."""
        if self._scarce == "time":
            return -math.inf
        if self._scarce == "pages" or not self._has_room:
            return floor
        return floor * NEARLY if floor > 0 else floor / NEARLY

    def taken(self, score: float, floor: float) -> bool:
        """A URL of this score is fetched; whether the second floor changes with it."""
        if self._scarce != "both" or floor == -math.inf:
            return False
        self._share += ((score < floor) - self._share) / RECENT
        has_room, self._has_room = self._has_room, self._share < MOST
        return has_room != self._has_room
