"""The crawls of a dashboard without a crawl of its own: those below a folder, and those that it starts."""

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

LISTED = 200  # crawl folders in the list, those that changed last
SEARCHED = 50  # of these, crawls whose pages may become seeds
_DEPTH = 3  # folders below the root in which crawl folders are looked for
_LOOK_AGAIN = 5.0  # seconds between two looks at the disk for new crawl folders
_PATIENCE = 30.0  # seconds for the crawls to end when the dashboard ends
_INSIDE = {"pages", "frontier", "workers", "archive", "index"}  # of a crawl folder


class CrawlManager:
    """``root`` holds the crawls; ``settings`` of the command line go to each crawl that is started."""

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

    # ------------------------------------------------------------ what there is

    def names(self) -> list[str]:
        """The crawls, those that changed last first."""
        if monotonic() - self._looked > _LOOK_AGAIN:
            self._look()
        return list(self._folders)

    def folder(self, name: str) -> Path:
        """The folder of a crawl that is listed; raises ``BadInput`` for any other name."""
        if name not in self._folders:
            self._look()
        try:
            return self._folders[name]
        except KeyError:
            raise BadInput("crawl", f"there is no crawl {name[:80]!r}") from None

    def crawls(self) -> list[dict[str, Any]]:
        """A line for each crawl."""
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
        """What the dashboard shows of one crawl. Raises ``BadInput``."""
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

    # ------------------------------------------------------------ what can be done

    async def control(self, name: str, action: str) -> None:
        """Pause, resume or stop a crawl; ``resume`` also starts a crawl again that was stopped. Raises ``BadInput``."""
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
        """Seeds for a query, from the crawls here and where the settings say. Raises ``BadInput``, also when there are none."""
        folders = [self.folder(name) for name in self.names()[:SEARCHED]]
        found = await asyncio.to_thread(self._search.find, keywords_of(query), folders)
        if not found.seeds:
            raise BadInput("seeds", "; ".join((NO_SEEDS, *found.notes)))
        return found

    async def start(self, form: Any) -> tuple[list[str], SeedsFound | None]:
        """Start the crawls that the form asks for: their names, and the seeds that were found for a form without any.

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
        """Stop the crawls that were started here; they can be resumed."""
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
        """``starting``, ``running``, ``ended``, ``interrupted`` (it can be resumed) or ``failed``: it never started, or stored
        nothing."""
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
        """Ask the process of a crawl; nothing when it is about to end."""
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
    """The crawl folders below ``root``, those that changed last first."""
    return sorted(_crawl_folders(root, _DEPTH), key=_changed, reverse=True)[:most]


def _crawl_folders(root: Path, depth: int) -> Iterator[Path]:
    if (root / MANIFEST).exists() or ((root / launch.TOPIC).exists() and (root / launch.CONSOLE).exists()):
        yield root
        return
    if depth == 0:
        return
    try:
        below = [Path(entry.path) for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for folder in below:
        if folder.name not in _INSIDE and not folder.name.startswith("."):
            yield from _crawl_folders(folder, depth - 1)


def _changed(folder: Path) -> float:
    """When something was written there last."""
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
        return True  # a process of somebody else
    except (OSError, ValueError, OverflowError):
        return False
    return holder_of(folder) is not None
