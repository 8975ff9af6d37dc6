"""For how long a host may be silent: one that has always been quick is given up sooner (000 section 2.3: time-outs)."""

from __future__ import annotations

from collections import OrderedDict

TIMES = 20.0  # times its slowest answer
FADING = 0.9  # what is left of the slowest answer after another one
_REMEMBERED = 10_000  # hosts


class HostTimeouts:
    """``least`` seconds of silence are allowed to every host; 0: all hosts have as long as their requests.

    A host that was given up is allowed more silence from then on: the next page may be quick, and the slow one comes again.
    """

    def __init__(self, least: float) -> None:
        self._least = least
        self._slowest: OrderedDict[str, float] = OrderedDict()  # seconds that a fetch from the host took

    def of(self, host: str, most: float) -> float:
        """Seconds without a byte after which ``host`` is given up, at most ``most``."""
        slowest = self._slowest.get(host) if self._least else None
        return most if slowest is None else min(most, max(self._least, TIMES * slowest))

    def answered(self, host: str, seconds: float) -> None:
        """A whole response came from ``host`` within so many seconds."""
        self._slowest[host] = max(seconds, FADING * self._slowest.pop(host, 0.0))
        if len(self._slowest) > _REMEMBERED:
            self._slowest.popitem(last=False)

    def failed(self, host: str, seconds: float) -> None:
        """``host`` was given up after ``seconds``: it takes longer than that."""
        self.answered(host, max(seconds, self._least))
