"""Checks of a frontier's arguments: each raises ``ValueError``."""

from __future__ import annotations

import math

from crawlproject.records import WASTE


def check_sizes(**sizes: int) -> None:
    """Raises ``ValueError`` for a ``batch_size`` or ``commit`` below 1, or a ``max_urls`` below 0."""
    for name, size in sizes.items():
        least = 0 if name == "max_urls" else 1
        if size < least:
            raise ValueError(f"{name} must be at least {least}, got {size!r}")


def refuse_nan(url: str, score: float | None) -> None:
    if score is not None and score != score:
        raise ValueError(f"a score must be a number, got {score!r}: {url!r}")


def refuse_class(name: str, precedence: int) -> None:
    if not 0 <= precedence <= WASTE:
        raise ValueError(f"a precedence class must be one of 0 to {WASTE}, got {precedence!r}: {name!r}")


def refuse_endless(name: str, until: float) -> None:
    if not math.isfinite(until):
        raise ValueError(f"a time to wait for must be finite, got {until!r}: {name!r}")
