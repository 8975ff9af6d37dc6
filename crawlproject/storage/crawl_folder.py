"""The crawl folder: opens, writes and closes its files together."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

from crawlproject.errors import BadCrawlDir, StorageFailed, trying_to
from crawlproject.records import GONE, MOVED, Page, Topic, Visit
from crawlproject.storage.append_log import ITEMS, AppendLog
from crawlproject.storage.checked_log import CheckedLog
from crawlproject.storage.crawl_files import LOCK, FolderLock, refuse_foreign_files
from crawlproject.storage.disk_sync import PeriodicSync
from crawlproject.storage.history import History
from crawlproject.storage.logs import ROBOTS, Refusals, RobotsLog, link_lines
from crawlproject.storage.manifest import Manifest
from crawlproject.storage.page_files import PAGES, PageRepository, item_fields, withdrawn
from crawlproject.storage.warc.archive import CrawlArchive
from crawlproject.urls.hosts import page_name

SAVE_EVERY = 200  # fetches between two saves of the refusal counts


class Closing(Protocol):
    """Anything with open files."""

    def close(self) -> None: ...


class CrawlFolder:
    """``crawl.json``, ``history.jsonl``, ``links.jsonl``, ``items.jsonl``, ``refused.json`` and ``pages/`` of one crawl,
    and the files of the parts in ``beside``.

    ``bodies=False`` (rehearsals) writes the history only, without page files, items and links. Since a rehearsal restarts
    after an interruption, its refusal counts are saved only at the end, not every ``SAVE_EVERY`` fetches. ``versions`` of each
    page are kept.
    Raises ``BadCrawlDir`` if the folder belongs to another crawl or another process crawls in it, ``StorageFailed`` if it
    cannot be written.
    """

    def __init__(
        self,
        path: Path,
        topic: Topic,
        ordering: str,
        parameters: Mapping[str, Any],
        *,
        bodies: bool = True,
        versions: int = 1,
    ) -> None:
        self.path = path
        self.bodies = bodies
        self._fetches_at_save = 0
        self.sync: PeriodicSync | None = None  # set if the crawl must be safe from power failures
        try:
            path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise BadCrawlDir(str(path), "expected a crawl folder, but this is a file") from None
        except OSError as error:
            raise StorageFailed(f"cannot make the crawl folder {path}: {error}") from error
        self._lock = FolderLock(path) if bodies else None
        self.is_new = bodies and [each.name for each in path.iterdir()] == [LOCK]
        try:
            self._open(topic, ordering, parameters, versions)
        except BaseException:
            self.abandon()
            raise

    def _open(self, topic: Topic, ordering: str, parameters: Mapping[str, Any], versions: int) -> None:
        path, bodies = self.path, self.bodies
        refuse_foreign_files(path)
        self.manifest = Manifest(path, topic, ordering, parameters)
        self.history = History(path / "history.jsonl")
        self.refusals = Refusals(path / "refused.json")
        self.pages = PageRepository(path / PAGES, versions=versions)
        self.store = self.pages.store if bodies else _not_stored
        self.links = AppendLog(path / "links.jsonl") if bodies else None
        self.items = CheckedLog(path / ITEMS) if bodies else None
        self._trim()
        self.robots = RobotsLog(path)
        self.archive: CrawlArchive | None = None  # set if the crawl writes an archive
        self.beside: list[Closing] = []  # other writers to the folder
        self.warnings = list(self.manifest.warnings)  # losses found when the folder was opened

    def abandon(self) -> None:
        """Give up a crawl that is refused before it begins: remove the folder if it was empty, and release the lock."""
        if self._lock is None:
            return
        if self.sync:
            self.sync.stop()
        if self.is_new:
            for place in self.path.iterdir():
                if place.is_dir():
                    rmtree(place, ignore_errors=True)
                elif place.name != LOCK:
                    with suppress(OSError):  # the cause of the refusal is what the user should read
                        place.unlink()
        self._lock.withdraw()
        if self.is_new:
            with suppress(OSError):  # another process has just begun a crawl there
                self.path.rmdir()

    def hide(self) -> None:
        """From now on no other program can read the logs, and they vanish when this process ends, killed or not.

        For crawls that keep no pages. Raises ``StorageFailed``.
        """
        self.robots.begin()
        with trying_to("remove the logs in", self.path):
            for name in ("history.jsonl", ROBOTS):
                (self.path / name).unlink(missing_ok=True)

    def keep(self, page: Page, visit: Visit) -> None:
        """Write the links of a fetched page, its item if it is stored, and last its visit: all of them or none."""
        try:
            if self.links:
                self.links.append(*link_lines(page))
            if self.items and visit.md5:
                self.items.append(item_fields(page, visit))
            self.note(visit)
        except StorageFailed:
            self._trim()
            raise

    def keep_again(self, visit: Visit, page: Page | None) -> None:
        """Write a further visit of a page. If its text changed, also write its new links and its item."""
        if page is not None and self.links:
            self.links.append(*link_lines(page))
        if self.items and page is not None and visit.md5:
            self.items.append(item_fields(page, visit))
        elif visit.change in (GONE, MOVED):
            self.withdraw(visit.url, visit.at, visit.version, visit.change)
        self.note(visit)

    def withdraw(self, url: str, at: float, version: int, state: str) -> None:
        """Write an item that withdraws a page, which is ``GONE``, ``MOVED`` or ``RETIRED``."""
        if self.items:
            self.items.append(withdrawn(url, at, version, state))

    def note(self, visit: Visit) -> None:
        """Write the visit of a fetch, after everything else that belongs to the fetch."""
        if self.archive:
            self.archive.commit(visit)
        if self.sync:
            self.sync.check()
        self.history.append(visit)
        if self.bodies and len(self.history) - self._fetches_at_save >= SAVE_EVERY:
            self._fetches_at_save = len(self.history)
            self.refusals.save()

    def _trim(self) -> None:
        """Remove the last links and items whose page is not in the history."""
        if self.links and self.items:
            self.links.trim(lambda line: self.history.has_line(line["source"]))
            self.items.trim(lambda line: self.history.has_line(line["url"]))

    def close(self, reason: str, now: float, stats: Mapping[str, Any]) -> None:
        """Save the counts and record why the crawl ended. If the disk refuses, still close all files and unlock."""
        logs = self.links, self.items, self.robots, self.archive, self.history, self.sync
        with ExitStack() as lock:
            if self._lock:
                lock.callback(self._lock.close)
            with ExitStack() as files:
                for log in reversed((*self.beside, *logs)):
                    if log is not None:  # an empty history is false
                        files.callback(log.close)
            self.refusals.save()
            self.manifest.finish(reason, now, stats)


def _not_stored(url: str, body: bytes, replaced: int = 0) -> str:
    """The name that ``PageRepository.store`` would return, without a file."""
    return page_name(url)
