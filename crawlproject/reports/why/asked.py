"""What the parts know of a URL: ``why.py`` of each is asked (``core/part.py``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.parts.registry import modules_beside
from crawlproject.records import CrawlUrl
from crawlproject.reports.why.lookup import Cause, UrlStatus
from crawlproject.storage.read import CrawlInfo


@dataclass(frozen=True, slots=True)
class Asked:
    """A URL that a person asks about, at ``now``, and the ``found`` facts of it.

    ``find`` gives the state and the record of a key in the frontier; None: the frontier is not on disk.
    """

    folder: Path
    info: CrawlInfo
    found: UrlStatus
    find: Callable[[str], tuple[str, CrawlUrl | None]] | None
    now: float


def sentences(asked: Asked) -> Iterator[str]:
    """What the parts know of the URL. Raises ``BadCrawlDir``."""
    for said in _functions("sentences"):
        yield from said(asked)


def learned_causes(folder: Path, url: str) -> Iterator[Cause]:
    """Why parts left out a URL, by what they have learned. Raises ``BadCrawlDir``."""
    for cause in _functions("cause"):
        if (found := cause(folder, url)) is not None:
            yield found


def why_waits(folder: Path, host: str, now: float) -> str:
    """Why a host is blocked or comes later, as the end of a sentence; empty: nobody knows. Raises ``BadCrawlDir``."""
    reasons = (reason(folder, host, now) for reason in _functions("why_waits"))
    return next(filter(None, reasons), "")


def _functions(name: str) -> Iterator[Callable[..., Any]]:
    for module in modules_beside("why"):
        if function := getattr(module, name, None):
            yield function
