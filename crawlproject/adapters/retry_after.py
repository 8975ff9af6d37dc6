"""``Retry-After``: how many seconds a server asks to wait (RFC 9110 section 10.2.3)."""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime

ASKING = frozenset((429, 503))  # statuses whose Retry-After counts: too many requests, service unavailable


def asked_rest(status: int, value: str, now: float, longest: float) -> float:
    """Seconds of rest that a response asks for, ``longest`` at most; 0 when it asks for none or the header is invalid.

    ``value`` is the header: seconds, or an HTTP date, which is compared with ``now``, seconds since the epoch.
    """
    if status not in ASKING:
        return 0.0
    text = value.strip()
    try:
        seconds = float(text) if text.isdecimal() else parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
    return min(max(0.0, seconds), longest) if math.isfinite(seconds) else 0.0
