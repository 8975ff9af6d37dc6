"""Whether the clock was set back since the last run: what was noted then lies in the future now."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import orjson

WORTH_SAYING = 10.0  # seconds: clocks are adjusted all the time
_TAIL = 2**16  # bytes that are looked at: a line is shorter


def set_back(history: Path, now: float) -> float:
    """Seconds by which the clock was set back since the last line of ``history`` was written, at least; 0: it was not."""
    return max(0.0, _latest(history) - now)


def warning(seconds: float) -> str:
    """What is said of it."""
    return (
        f"the clock was set back by {seconds:,.0f} s or more since the last run: "
        "hosts rest as long as they would have, by the clock as it is now"
    )


def _latest(history: Path) -> float:
    """When the last fetch of a history ended; 0: nobody knows. A damaged line is for whoever reads the file."""
    if not history.exists():
        return 0.0
    with history.open("rb") as file:
        file.seek(max(0, history.stat().st_size - _TAIL))
        lines = file.read().split(b"\n")[:-1]
    with suppress(orjson.JSONDecodeError, TypeError, KeyError, ValueError, IndexError):
        return float(orjson.loads(lines[-1])["at"])
    return 0.0
