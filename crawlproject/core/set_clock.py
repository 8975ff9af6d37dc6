"""Detects whether the clock was set back since the last run, so that recorded times lie in the future."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from pathlib import Path

import orjson

WORTH_SAYING = 10.0  # seconds; smaller adjustments of clocks are common
_TAIL = 2**16  # bytes that are read: a line is shorter


def set_back(history: Path, now: float, ended: float | None = None) -> float:
    """The minimum of seconds by which the clock was set back since the last line of ``history`` was written; 0: it was not.

    If the last run ``ended`` before that line (None: it was killed), the clock was set back before that run, which knew it.
    """
    return max(0.0, min(_latest(history), inf if ended is None else ended) - now)


def warning(seconds: float) -> str:
    """The warning to show."""
    return (
        f"the clock was set back by {seconds:,.0f} s or more since the last run: "
        "hosts still rest for the time that was left"
    )


def _latest(history: Path) -> float:
    """When the last fetch of a history ended; 0 if unknown. Damaged lines are reported where the file is read."""
    if not history.exists():
        return 0.0
    with history.open("rb") as file:
        file.seek(max(0, history.stat().st_size - _TAIL))
        lines = file.read().split(b"\n")[:-1]
    with suppress(orjson.JSONDecodeError, TypeError, KeyError, ValueError, IndexError):
        return float(orjson.loads(lines[-1])["at"])
    return 0.0
