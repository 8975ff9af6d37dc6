"""The crawls of the stand-alone dashboard: crawls below a folder, and crawls that the dashboard starts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from crawlproject.adapters.asker import keywords_of
from crawlproject.adapters.seed_search import NO_SEEDS, SeedSearch, SeedsFound
from crawlproject.dashboard import address_file, launch
from crawlproject.dashboard.crawl_json import FolderWatch
from crawlproject.dashboard.running_crawl import ACTIONS
from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.http.loopback import TOKEN
from crawlproject.reports.report import CUT_SHORT
from crawlproject.storage.read import MANIFEST

if TYPE_CHECKING:
    import aiohttp

LISTED = 200  # crawl folders in the list, most recently changed first
SEARCHED = 50  # crawls among these whose pages may become seeds
_DEPTH = 3  # levels below the root that are searched for crawl folders
_LOOK_AGAIN = 5.0  # seconds between two searches for new crawl folders
_PATIENCE = 30.0  # seconds that the crawls get to end when the dashboard ends
_INSIDE = {"pages", "frontier", "workers", "archive", "index"}  # folders inside a crawl folder, not searched


class CrawlManager:
    """Lists, shows, starts and stops the crawls below ``root``. ``settings`` are passed to each crawl that it starts."""

    def __init__(self, root: Path, settings: Mapping[str, Any], search: SeedSearch) -> None:
        self._search = search
        self._root = root
        self._settings = settings
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._watched: dict[str, FolderWatch] = {}
        self._folders: dict[str, Path] = {}
        self._looked = float("-inf")
        self._session: aiohttp.ClientSession | None = None

    can_start = True

    # ------------------------------------------------------------ reading

    def names(self) -> list[str]:
        """The names of the crawls, most recently changed first."""
        if monotonic() - self._looked > _LOOK_AGAIN:
            self._look()
        return list(self._folders)

    def folder(self, name: str) -> Path:
        """The folder of a listed crawl. Raises ``BadInput`` for any other name."""
        if name not in self._folders:
            self._look()
        try:
            return self._folders[name]
        except KeyError:
            raise BadInput("crawl", f"there is no crawl {name[:80]!r}") from None

    def crawls(self) -> list[dict[str, Any]]:
        """One entry per crawl: name, status, topic, ordering, start, pages."""
        lines = []
        for name in self.names():
            line: dict[str, Any] = {"name": name, "status": self._status(name)}
            with suppress(BadCrawlDir):
                info = self._watch(name).info()
                line |= {"topic": info.topic[:120], "ordering": info.ordering, "started": info.started}
                line["pages"] = info.stats.get("history/pages")
            lines.append(line)
        return lines

    async def state(self, name: str) -> dict[str, Any]:
        """The data of one crawl that the dashboard shows. Raises ``BadInput``."""
        folder, status = self.folder(name), self._status(name)
        document = {"name": name, "status": status, **self._watch(name).document()}
        if status in ("running", "starting") and (live := address_file.find(folder)):
            document |= await self._ask(live, "GET", "/api/live")
        if status == "starting":
            document["starting"] = max(0, round(time() - _changed(folder)))
        if status == "failed":
            document["output"] = launch.console_tail(folder)
        self._watch(name).spell(document.get("family", ()))
        document["resumable"] = status == "interrupted" and (folder / launch.TOPIC).is_file()
        return document

    # ------------------------------------------------------------ acting

    async def control(self, name: str, action: str) -> None:
        """Pause, resume or stop a crawl; ``resume`` also restarts a stopped one. Raises ``BadInput``, ``StorageFailed``."""
        folder = self.folder(name)
        if action not in ACTIONS:
            raise BadInput("action", f"expected one of {', '.join(ACTIONS)}")
        status = self._status(name)
        if action == "resume" and status not in ("running", "starting"):
            self._processes[name] = launch.launch(folder, self._settings)
            return
        live = address_file.find(folder)
        if live is None:
            raise BadInput("crawl", "it is not running, or was started without DASHBOARD=1")
        await self._ask(live, "POST", "/api/control", {"crawl": name, "action": action})

    async def seeds(self, query: str) -> SeedsFound:
        """Seeds for a query, from these crawls and the sources in the settings. Raises ``BadInput``, also if none is found."""
        folders = [self.folder(name) for name in self.names()[:SEARCHED]]
        found = await asyncio.to_thread(self._search.find, keywords_of(query), folders)
        if not found.seeds:
            raise BadInput("seeds", "; ".join((NO_SEEDS, *found.notes)))
        return found

    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]:
        """Start the crawls that the form describes. Return their names, and the seeds that were found if the form has none.

        Raises ``BadInput`` and ``StorageFailed``.
        """
        checked, found = launch.read_form(form), None
        if not checked.seeds:
            found = await self.seeds(checked.query)
            checked = replace(checked, seeds=found.seeds)
        names = []
        for folder in launch.prepare(checked, self._root):
            name = str(folder.relative_to(self._root))
            self._processes[name] = launch.launch(folder, self._settings)
            names.append(name)
        self._look()
        return names, found

    async def close(self) -> None:
        """Stop the crawls that this object started; they can be resumed."""
        if self._session is not None:
            await self._session.close()
        running = [process for process in self._processes.values() if process.poll() is None]
        for process in running:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        patience = monotonic() + _PATIENCE
        while any(process.poll() is None for process in running) and monotonic() < patience:
            await asyncio.sleep(0.1)

    # ------------------------------------------------------------ inside

    def _watch(self, name: str) -> FolderWatch:
        folder = self.folder(name)
        watched = self._watched.get(name)
        if watched is None or watched.folder != folder:
            watched = self._watched[name] = FolderWatch(folder)
        return watched

    def _status(self, name: str) -> str:
        """``starting``, ``running``, ``ended``, ``interrupted`` (can be resumed), or ``failed`` (never started, stored
        nothing, or has a damaged folder)."""
        folder = self._folders[name]
        process = self._processes.get(name)
        alive = process.poll() is None if process is not None else _runs(folder)
        if not (folder / MANIFEST).exists():
            return "starting" if alive else "failed"
        if alive:
            return "running"
        try:
            info = self._watch(name).info()
        except BadCrawlDir:
            return "failed"
        if info.reason in CUT_SHORT:
            return "interrupted"
        return "ended" if info.stats.get("history/pages", 1) else "failed"

    def _look(self) -> None:
        found = latest_crawls(self._root, LISTED)
        self._folders = {str(folder.relative_to(self._root)) or ".": folder for folder in found}
        self._looked = monotonic()

    async def _ask(self, live: address_file.AddressFile, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request to the process of a crawl. Return its answer; empty if it does not answer, as when it is ending."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3.0), trust_env=False)
        try:
            headers = {TOKEN: live.token}
            async with self._session.request(method, live.url + path, json=body, headers=headers) as reply:
                answer = await reply.json()
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return {}
        return answer if isinstance(answer, dict) and reply.status == 200 else {}


def latest_crawls(root: Path, most: int) -> list[Path]:
    """Up to ``most`` crawl folders below ``root``, most recently changed first."""
    return sorted(_crawl_folders(root, _DEPTH), key=_changed, reverse=True)[:most]


def _crawl_folders(root: Path, depth: int) -> Iterator[Path]:
    below: list[Path] = []
    try:
        is_crawl = (root / MANIFEST).exists() or ((root / launch.TOPIC).exists() and (root / launch.CONSOLE).exists())
        if not is_crawl and depth:
            below = [Path(entry.path) for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    except OSError:  # such as a folder of another user
        return
    if is_crawl:
        yield root
    for folder in below:
        if folder.name not in _INSIDE and not folder.name.startswith("."):
            yield from _crawl_folders(folder, depth - 1)


def _changed(folder: Path) -> float:
    """The time of the last write to the folder, in seconds since 1970."""
    times = [0.0]
    for name in ("history.jsonl", MANIFEST, launch.TOPIC):
        with suppress(OSError):
            times.append((folder / name).stat().st_mtime)
    return max(times)


def _runs(folder: Path) -> bool:
    """Whether the process named in the lock file is alive and holds the folder."""
    from crawlproject.storage.crawl_files import LOCK, holder_of

    try:
        os.kill(int((folder / LOCK).read_text()), 0)
    except PermissionError:
        return True  # the process of another user
    except (OSError, ValueError, OverflowError):
        return False
    return holder_of(folder) is not None
