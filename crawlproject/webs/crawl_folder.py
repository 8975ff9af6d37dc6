"""An earlier crawl as a web: the folder that ``scrapy crawl`` left, with its pages, redirects and failures.

A page is served with its status and the stored bytes, a fetch without a page with its result, robots.txt from
``robots.jsonl``. A URL that the crawl never fetched is a 404. The only HTTP header is the content type; if it is unknown,
it is guessed from the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlproject.errors import BadWeb
from crawlproject.records import GONE, MOVED, Failure, Reply
from crawlproject.storage.append_log import read_lines, unexpected
from crawlproject.urls.naming import page_path
from crawlproject.urls.post import is_post
from crawlproject.webs.base import not_held, spellings

HISTORY = "history.jsonl"
ROBOTS = "robots.jsonl"
PAGES = "pages"


@dataclass(frozen=True, slots=True)
class _Visit:
    """A fetch in the history; ``md5`` is empty if no page was stored."""

    status: int
    seconds: float
    md5: str
    redirect: str
    error: str
    content_type: str


class CrawledWeb:
    """The web in the crawl folder ``root``.

    Raises ``BadWeb`` when the folder has no page files (as in a rehearsal), ``BadCrawlDir`` for a damaged history.
    """

    def __init__(self, root: Path) -> None:
        self.warnings: Sequence[str] = ()
        self._pages = root / PAGES
        self._visits = dict(_visits(root / HISTORY))
        self._robots = dict(_robots(root / ROBOTS))
        if not any(visit.md5 and (self._pages / page_path(visit.md5)).is_file() for visit in self._visits.values()):
            raise BadWeb(f"web {str(root)!r}", "a crawl folder without pages; expected one made by `scrapy crawl`")

    def get(self, url: str) -> Reply:
        for name in spellings(url):
            if visit := self._visits.get(name):
                return self._reply(url, visit)
        return self._robots.get(url) or not_held(url)

    def urls(self) -> Iterator[str]:
        return (url for url, visit in self._visits.items() if (visit.md5 or visit.redirect) and not is_post(url))

    def __contains__(self, url: str) -> bool:
        return url in self._robots or any(name in self._visits for name in spellings(url))

    def close(self) -> None:
        """Nothing to close."""

    def _reply(self, url: str, visit: _Visit) -> Reply:
        if visit.md5:
            return self._stored(url, visit)
        if visit.redirect:
            status = visit.status if 300 <= visit.status < 400 else 301
            return Reply(url, status, {"location": visit.redirect}, seconds=visit.seconds)
        if visit.status:
            # A 2xx without a page had another content type, or must not be stored.
            return Reply(url, visit.status if visit.status >= 300 else 410, seconds=visit.seconds)
        failure: Failure = "timeout" if "timeout" in visit.error.lower() else "connection refused"
        return Reply(url, 0, seconds=visit.seconds, error=failure)

    def _stored(self, url: str, visit: _Visit) -> Reply:
        try:
            body = (self._pages / page_path(visit.md5)).read_bytes()
        except FileNotFoundError:
            return not_held(url)
        return Reply(url, visit.status, {"content-type": visit.content_type or _guessed(body)}, body, visit.seconds)


def is_crawl_folder(path: Path) -> bool:
    """Whether a folder is a crawl folder."""
    return (path / HISTORY).is_file()


def _visits(path: Path) -> Iterator[tuple[str, _Visit]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            # Other visits showed nothing new.
            if line.get("number", 1) == 1 or line["md5"] or line["change"] in (GONE, MOVED):
                yield str(line["url"]), _visit(line)
        except (AttributeError, KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None


def _visit(line: Any) -> _Visit:
    fields = ("redirect", "error", "content_type")  # the last one is missing in older histories
    texts = (str(line.get(name, "")) for name in fields)
    return _Visit(int(line["status"]), float(line["seconds"]), str(line["md5"]), *texts)


def _robots(path: Path) -> Iterator[tuple[str, Reply]]:
    """The last version of each robots.txt in ``robots.jsonl``."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            named = {"content-type": str(line["content_type"]), "location": str(line["location"])}
            headers = {name: value for name, value in named.items() if value}
            body = str(line["body"]).encode("latin-1", "replace")
            yield str(line["url"]), Reply(str(line["url"]), int(line["status"]), headers, body)
        except (KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None


def _guessed(body: bytes) -> str:
    """HTML if it has any tag, since the crawl stored only what it could parse as a page; else plain text."""
    return "text/html" if b"<" in body else "text/plain"
