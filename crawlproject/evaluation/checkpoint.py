"""Where crawls are compared: after a number of pages, or after a time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from crawlproject.errors import BadInput

WISH = "expected numbers of pages or of seconds, after the folder, as in DIR --at 100 500 60s"


@dataclass(frozen=True, slots=True, order=True)
class Elapsed:
    """So many seconds after the start of a crawl, by its own clock: a rehearsal's is virtual."""

    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:g}s"


Checkpoint = int | Elapsed  # an int is a number of pages


def read_checkpoints(words: Iterable[str], option: str = "--at") -> tuple[Checkpoint, ...]:
    """Parse ``["100,250", "60s"]``. Raises ``BadInput``, which names ``option``."""
    return tuple(_checkpoint(part.strip(), option) for word in words for part in word.split(",") if part.strip())


def _checkpoint(text: str, option: str) -> Checkpoint:
    try:
        amount = float(text[:-1]) if text.endswith("s") else int(text)
    except ValueError:
        raise BadInput(f"{option} {text}", WISH) from None
    if isinstance(amount, int):
        if amount < 1:
            raise BadInput(f"{option} {text}", "expected a number of at least 1")
        return amount
    if not 0 < amount < math.inf:
        raise BadInput(f"{option} {text}", "expected a finite number of seconds above 0")
    return Elapsed(amount)


def of_pages(checkpoints: Iterable[Checkpoint]) -> tuple[int, ...]:
    """The numbers of pages among them, in order, each once."""
    return tuple(sorted({point for point in checkpoints if isinstance(point, int)}))


def of_time(checkpoints: Iterable[Checkpoint]) -> tuple[Elapsed, ...]:
    """The times among them, in order, each once."""
    return tuple(sorted({point for point in checkpoints if isinstance(point, Elapsed)}))


def in_words(point: Checkpoint) -> str:
    """``500 pages``, ``60 s``."""
    return f"{point.seconds:,g} s" if isinstance(point, Elapsed) else f"{point:,} pages"


def short(point: Checkpoint) -> str:
    """The heading of a column: ``@500``, ``@60s``."""
    return f"@{point}" if isinstance(point, Elapsed) else f"@{point:,}"


def equation(point: Checkpoint) -> str:
    """``N = 500``, ``t = 60 s``."""
    return f"t = {in_words(point)}" if isinstance(point, Elapsed) else f"N = {point:,}"
