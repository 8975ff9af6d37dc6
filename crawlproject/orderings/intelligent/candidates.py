"""Waiting URLs and the pages that link to them, for intelligent crawling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

SHARE = 64  # links of one page that are scored at once


@dataclass(slots=True, eq=False)
class LinkSource:
    """A fetched page with waiting links, and the results of its fetched links."""

    words: np.ndarray
    relevant: bool
    content: float = 0.0
    fetched: int = 0
    hits: int = 0
    waiting: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Candidate:
    """A waiting URL: the pages that link to it, and its tokens."""

    sources: list[LinkSource]
    tokens: np.ndarray


def links_in_turn(sources: Iterable[LinkSource]) -> Iterator[str]:
    """Some waiting links of each page, least recently scored first."""
    for source in sources:
        for url in list(islice(source.waiting, SHARE)):
            source.waiting[url] = source.waiting.pop(url)
            yield url
