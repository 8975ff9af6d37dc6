"""``items.jsonl``: one line per stored page, for full-text indexes.

``item.schema.json`` beside this file defines the fields, as a JSON Schema (draft 2020-12). A page that changed has a line for
each version, and one whose ``state`` says why if it is no part of the crawl any more: the last line of a URL counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from crawlproject.records import RENDERED, Page, Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.history import History
from crawlproject.urls.naming import page_name


class Items:
    """Writes lines with URL, title, visible text, language, relevance, and the link that led to the page."""

    def __init__(self, path: Path, history: History) -> None:
        self._log = AppendLog(path)
        self.trim(history)

    def append(self, page: Page, visit: Visit) -> None:
        """Write the line of a stored page. Raises ``StorageFailed``."""
        self._log.append(item_fields(page, visit))

    def withdraw(self, url: str, at: float, version: int, state: str) -> None:
        """Write a line that takes a page back. Raises ``StorageFailed``."""
        self._log.append(withdrawn(url, at, version, state))

    def trim(self, history: History) -> None:
        """Remove the last lines whose page is not in the history."""
        self._log.trim(lambda line: history.has_line(line["url"]))

    def count(self) -> int:
        """The number of lines."""
        return self._log.count()

    def replace_all(self, steps: Iterable[Sequence[dict[str, Any]]]) -> None:
        """Replace all lines. Raises ``StorageFailed``; then the file is as before."""
        self._log.replace_all(steps)

    def close(self) -> None:
        self._log.close()


def item_schema() -> dict[str, Any]:
    """The JSON Schema of a line. Its ``properties`` are in the order of the fields."""
    schema: dict[str, Any] = orjson.loads(files(__package__).joinpath("item.schema.json").read_bytes())
    return schema


def item_fields(page: Page, visit: Visit) -> dict[str, object]:
    """The item of a page, with the same fields as in Scrapy's feed exports."""
    return {
        "url": page.url,
        "title": page.title,
        "text": _lines_with_text(page.text),
        "text_main": page.text_main(),
        "language": page.language,
        "relevance": page.relevance,
        "score": visit.score,
        "depth": visit.depth,
        "parent": visit.parent,
        "anchor": visit.anchor,
        "context_score": visit.context_score,
        "status": visit.status,
        "at": visit.at,
        "md5": visit.md5,
        "published": page.published,
        "parts": visit.parts,
        "duplicate_of": visit.duplicate_of,
        "spam": visit.spam,
        "digest": visit.digest,
        "content_type": visit.content_type,
        "rendered": RENDERED in visit.signs,
        "topics": page.topics,
        "version": visit.version,
        "state": "",
    }


def withdrawn(url: str, at: float, version: int, state: str) -> dict[str, object]:
    """The item that takes a page back; ``state`` says why: ``gone``, ``moved`` or ``retired``."""
    return {**item_fields(Page(url), Visit(url, 0, at, md5=page_name(url), version=version)), "state": state}


@lru_cache(maxsize=1)
def _lines_with_text(text: str) -> str:
    """``text`` without empty lines (markup leaves many) and without white space at the ends of lines.

    Asked for twice in a row: for feed exports, and for the file.
    """
    return "\n".join(filter(None, map(str.strip, text.split("\n"))))
