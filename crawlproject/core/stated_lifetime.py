"""For how long a server calls a response fresh: ``Cache-Control`` and ``Expires`` (RFC 9111 sections 4.2.1 and 5.2.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST = 365 * 86_400.0  # seconds that are believed of any statement
_LONGEST_HEADER = 1_000  # characters that are looked at
_SECONDS = re.compile(r'"?([0-9]{1,10})"?')


def stated_lifetime(headers: Mapping[str, str], now: float) -> float:
    """Seconds from ``now`` on, at most a year; 0: none are stated, or a copy is not to be kept. Names are in lower case.

    ``s-maxage`` counts before ``max-age``, and that before ``Expires``. ``immutable`` promises no more than they do.
    """
    stated: dict[str, str] = {}
    for directive in headers.get("cache-control", "")[:_LONGEST_HEADER].lower().split(","):
        name, _, value = directive.strip().partition("=")
        stated.setdefault(name.strip(), value.strip())
    if "no-store" in stated or "no-cache" in stated:
        return 0.0
    seconds = next((_number(stated[name]) for name in ("s-maxage", "max-age") if name in stated), None)
    if seconds is None:
        expires = _moment(headers.get("expires", ""))
        return min(max(0.0, expires - (_moment(headers.get("date", "")) or now)), LONGEST) if expires else 0.0
    return min(max(0.0, seconds - _number(headers.get("age", ""))), LONGEST)


def _number(value: str) -> float:
    found = _SECONDS.fullmatch(value.strip())
    return float(found[1]) if found else 0.0


def _moment(header: str) -> float:
    """Seconds since the epoch; 0 of what is no date."""
    try:
        return max(0.0, parsedate_to_datetime(header[:_LONGEST_HEADER]).timestamp()) if header else 0.0
    except (ValueError, OverflowError, TypeError):
        return 0.0
