"""``judgments.jsonl``: judgments of stored pages by a person, one line per click; the last line of a URL counts."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass
from pathlib import Path

from crawlproject.errors import BadInput, trying_to
from crawlproject.storage.append_log import AppendLog, read_lines, unexpected
from crawlproject.storage.page_files import PageRepository

NAME = "judgments.jsonl"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judgment of the canonical ``url``; ``relevant`` is None if it is withdrawn. ``at``: seconds since the epoch."""

    url: str
    relevant: bool | None
    at: float


def add_judgment(folder: Path, judgment: Judgment) -> None:
    """Append a line. Several processes may do so at once: the dashboard of a crawl, and a dashboard of many crawls.

    Raises ``BadInput`` for a URL whose page is not stored in ``folder``, and ``StorageFailed``.
    """
    if judgment.url not in PageRepository(folder / "pages"):
        raise BadInput("url", f"expected a page that the crawl has stored, not {judgment.url[:200]!r}")
    path = folder / NAME
    with trying_to("write", path), path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        log = AppendLog(path)
        try:
            log.append(judgment)
        finally:
            log.close()


def read_judgments(folder: Path) -> dict[str, bool]:
    """Judged URL -> whether it is relevant, the latest judgment last; empty without a file. Raises ``BadCrawlDir``."""
    return {url: relevant for url, relevant in last_judgments(folder).items() if relevant is not None}


def last_judgments(folder: Path) -> dict[str, bool | None]:
    """The last judgment of each URL, None if it was withdrawn. Raises ``BadCrawlDir``."""
    path = folder / NAME
    found: dict[str, bool | None] = {}
    for number, line in enumerate(read_lines(path), start=1):
        try:
            url, relevant = line["url"], line["relevant"]
            if not isinstance(url, str) or not isinstance(relevant, bool | None):
                raise TypeError("url must be a text, and relevant true, false or null")
        except (KeyError, TypeError) as damage:
            raise unexpected(path, number, damage) from damage
        found.pop(url, None)
        found[url] = relevant
    return found
