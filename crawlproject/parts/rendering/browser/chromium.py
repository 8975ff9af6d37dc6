"""One Chromium process: started without a way to the network, watched for its memory, killed with all that it started."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from crawlproject.parts.rendering.browser.devtools import BrowserGone, DevTools

logger = logging.getLogger(__name__)

# The headless shells come first: without a user interface, a page takes a quarter of the processor's time, and half the memory.
NAMES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
STARTING = 30.0  # seconds
LOOK = 0.25  # seconds between two looks at the memory
HEAP = 256  # megabytes of JavaScript objects of a page
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

# No name resolves, and the proxy that everything must go through, loopback as well, is one of these names: whatever the
# interception of requests does not see ends there (sockets, workers, prefetching, the browser's own errands).
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--proxy-server=http://no-network.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-dev-shm-usage",
    "--disable-file-system",
    "--disable-notifications",
    "--disable-remote-fonts",
    "--disable-speech-api",
    "--disable-popup-blocking",  # what opens is closed at once, and counted
    "--blink-settings=imagesEnabled=false",
    "--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate,InterestFeedContentSuggestions",
    "--mute-audio",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--window-size=1280,2000",
    f"--js-flags=--max-old-space-size={HEAP}",
)


def find_chromium(wanted: str = "") -> str:
    """The executable that ``CRAWL_BROWSER`` names, or the first that is installed; empty when there is none."""
    found = map(shutil.which, (wanted,) if wanted else NAMES)
    return next((path for path in found if path), "")


class Chromium:
    """A browser process. No process of it may have more than ``memory`` bytes: one that has is killed, and its pages with it."""

    def __init__(self, pid: int, devtools: DevTools, profile: str, memory: int) -> None:
        self.devtools = devtools
        self._pid = pid
        self._profile = profile
        self._memory = memory
        self._watch = asyncio.ensure_future(self._watch_memory())

    @classmethod
    async def start(cls, executable: str, user_agent: str, memory: int) -> Chromium:
        """Raises ``BrowserGone`` when it does not start, and ``OSError``."""
        profile = tempfile.mkdtemp(prefix="rendering-")
        arguments = [executable, *FLAGS, f"--user-data-dir={profile}", f"--user-agent={user_agent}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # it refuses to run as root with one
        commands, writing = os.pipe()
        reading, events = os.pipe()
        try:
            pid = os.posix_spawn(
                executable,
                [*arguments, "about:blank"],
                {"HOME": profile, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, commands, 3),
                    (os.POSIX_SPAWN_DUP2, events, 4),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setsid=True,
            )
        finally:
            os.close(commands)
            os.close(events)
        browser = cls(pid, await DevTools.connect(reading, writing), profile, memory)
        try:
            await asyncio.wait_for(browser.devtools.send("Browser.getVersion"), STARTING)
            await browser.devtools.send("Browser.setDownloadBehavior", behavior="deny")
        except (TimeoutError, BrowserGone) as failed:
            await browser.kill()
            raise BrowserGone from failed
        return browser

    @property
    def is_alive(self) -> bool:
        return not self.devtools.is_closed

    async def kill(self) -> None:
        """End it and whatever it started."""
        self._watch.cancel()
        self.devtools.close()
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        loop = asyncio.get_running_loop()
        with suppress(ChildProcessError):
            await loop.run_in_executor(None, os.waitpid, self._pid, 0)
        await loop.run_in_executor(None, lambda: shutil.rmtree(self._profile, ignore_errors=True))

    async def _watch_memory(self) -> None:
        while self.is_alive:
            for pid, size in _sizes(self._pid):
                if size > self._memory:
                    logger.info("A process of the browser had %d MB and was killed.", size >> 20)
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(LOOK)


def _sizes(session: int) -> Iterator[tuple[int, int]]:
    """Process and bytes of its own memory, of all processes of a session; none on systems without ``/proc``."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.joinpath("stat").read_bytes().rpartition(b") ")[2].split()[3]) == session:
                resident, shared = folder.joinpath("statm").read_bytes().split()[1:3]
                yield int(folder.name), (int(resident) - int(shared)) * _PAGE
        except (OSError, IndexError, ValueError):
            continue  # it has just ended
