"""A crawl folder that is read repeatedly: manifest and refusals when they change, the history as it grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawlproject.dashboard.crawl_json import changes_document, counted, crawl_document
from crawlproject.errors import BadCrawlDir
from crawlproject.orderings.registry import UNJUDGED
from crawlproject.parts.registry import part_module
from crawlproject.reports.live_summary import AGENTS, LiveSummary
from crawlproject.storage import logs
from crawlproject.storage.read import MANIFEST, REFUSED, CrawlInfo, read_info, read_refused

AT_ONCE = 2_000  # lines of history that are read in one go: some 30 ms
CHANGES = 30  # of pages that are visited again, which are listed


class FolderWatch:
    """One crawl folder. Raises ``BadCrawlDir`` when it is damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, tuple[int, int]] = {}  # file -> when it was written, and its size, as it was read last
        self._info = CrawlInfo()
        self._refused: dict[str, Any] = {"refused": [], "refused_total": 0}
        self._judged: dict[str, bool] = {}
        self._family: list[dict[str, Any]] = []  # the agents of an ordering that has some, as they were at the end
        self._latest_changes = logs.LatestChanges(folder, CHANGES)
        self._changes: list[dict[str, Any]] = []
        self._trail: LiveSummary | None = None

    def info(self) -> CrawlInfo:
        """The manifest; an empty one while there is none."""
        if self._changed(MANIFEST):
            try:
                self._info = read_info(self.folder)
            except BadCrawlDir:
                self._read.pop(MANIFEST, None)
                raise
        return self._info

    def document(self, most: int = AT_ONCE) -> dict[str, Any]:
        """What the dashboard shows; ``reading`` is true while more than ``most`` new lines of the history are unread."""
        info = self.info()
        if MANIFEST not in self._read:  # the crawl has not begun
            return {"reading": False}
        if self._trail is None:
            self._trail = LiveSummary(self.folder, info, info.threshold)
        whole = self._trail.advance(most)
        if self._changed(REFUSED):
            counts = {refused.reason: refused.count for refused in read_refused(self.folder)}
            self._refused = {"refused": counted(counts), "refused_total": sum(counts.values())}
        judgments = part_module("judgments", "judgments")
        if judgments is not None and self._changed(judgments.NAME):
            self._judged = judgments.read_judgments(self.folder)
        if self._changed(logs.AGENTS):
            self._family = logs.read_agents(self.folder)[:AGENTS]
        if self._changed(logs.CHANGES):
            self._changes = changes_document(self._latest_changes.read())
        judged = {"judged": self._judged, "judgeable": judgments is not None and info.ordering not in UNJUDGED}
        return {
            **crawl_document(info, self._trail),
            **self._refused,
            **judged,
            "family": self._family,
            "changes": self._changes,
            "reading": not whole,
        }

    def _changed(self, name: str) -> bool:
        try:
            state = (self.folder / name).stat()
        except OSError:
            return False
        mark = (state.st_mtime_ns, state.st_size)
        if self._read.get(name) == mark:
            return False
        self._read[name] = mark
        return True
