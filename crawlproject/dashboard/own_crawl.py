"""The crawl of this process, for its own dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawlproject.adapters.seed_search import SeedsFound
from crawlproject.dashboard.folder_watch import FolderWatch
from crawlproject.dashboard.running_crawl import RunningCrawl
from crawlproject.errors import BadInput

_READING_ON = 500  # lines of a long history that are read at once, a few milliseconds in the event loop of the crawl


class OwnCrawl:
    """One crawl, named by its folder. It is read in the event loop of the crawl, a little at a time."""

    can_start = False

    def __init__(self, live: RunningCrawl, folder: Path) -> None:
        self._live = live
        self._folder = folder
        self._watched = FolderWatch(folder)

    @property
    def name(self) -> str:
        return self._folder.name

    def crawls(self) -> list[dict[str, Any]]:
        info = self._watched.info()
        return [{"name": self.name, "status": self._live.status, "topic": info.topic[:120], "ordering": info.ordering}]

    def folder(self, name: str) -> Path:
        if name != self.name:
            raise BadInput("crawl", f"this process crawls {self.name!r}, not {name[:80]!r}")
        return self._folder

    async def state(self, name: str) -> dict[str, Any]:
        self.folder(name)
        return {
            "name": self.name,
            "folder": str(self._folder),
            **self._watched.document(_READING_ON),
            **self._live.document(),
        }

    async def control(self, name: str, action: str) -> None:
        self.folder(name) if name else None
        try:
            self._live.control(action)
        except ValueError as wrong:
            raise BadInput("action", str(wrong)) from None

    async def seeds(self, query: str) -> SeedsFound:
        raise BadInput("request", "this dashboard shows one crawl; start others with `scrapy dashboard`")

    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]:
        return [], await self.seeds("")  # raises
