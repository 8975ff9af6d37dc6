"""The pages that earlier crawls propose: ``earlier.jsonl`` of the crawl folder, written once, before the first fetch."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from crawlproject.errors import BadCrawlDir
from crawlproject.storage.append_log import json_of, read_lines, write_atomically

EARLIER = "earlier.jsonl"


class Proposal(NamedTuple):
    """A proposed page: its canonical URL, its title, the name of the crawl that has it, its similarity to the topic, 0 to 1."""

    url: str
    title: str
    crawl: str
    similarity: float


def read_proposals(folder: Path) -> list[Proposal]:
    """The proposals of a crawl, best first; none without a file. Raises ``BadCrawlDir``."""
    path = folder / EARLIER
    try:
        return [_checked(Proposal(**line)) for line in read_lines(path)]
    except TypeError as wrong:
        raise BadCrawlDir(str(path), f"expected pages of earlier crawls: {wrong}") from None


def _checked(one: Proposal) -> Proposal:
    if not all(isinstance(text, str) for text in one[:3]) or not isinstance(one.similarity, float | int):
        raise TypeError(f"{one!r} is not one")
    return one


def write_proposals(folder: Path, proposals: Iterable[Proposal]) -> None:
    """Write the proposals of a crawl. Raises ``StorageFailed``."""
    write_atomically(folder / EARLIER, [json_of(one._asdict()) + b"\n" for one in proposals])
