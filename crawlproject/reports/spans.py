"""Times and spans, as people read them and write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from crawlproject.errors import BadInput

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def moment(at: float) -> str:
    """``2026-03-02 14:05 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def in_words(seconds: float) -> str:
    """``3 days``, ``2 hours``: a span in its largest unit, rounded."""
    for unit, name in _NAMES.items():
        number = round(seconds / _UNITS[unit])
        if number > 1 or (number == 1 and seconds >= _UNITS[unit]) or unit == "s":
            return f"{number:,} {name}{'' if number == 1 else 's'}"
    raise AssertionError


def read_moment(text: str, now: float) -> float:
    """The time that ``text`` names, in seconds since the epoch: a span before ``now`` (``7d``), or a date, UTC unless it says so.

    Raises ``BadInput``.
    """
    span = _SPAN.fullmatch(text.strip())
    if span:
        return now - float(span[1]) * _UNITS[span[2]]
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        wish = "expected a date such as 2026-03-02 or 2026-03-02T14:00, or a span such as 12h, 7d, 2w"
        raise BadInput(f"time {text!r}", wish) from None
