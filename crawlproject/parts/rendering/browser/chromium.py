"""One Chromium process: started without access to the network, watched for its memory, killed with all that it started.

It is driven by the DevTools protocol over a pair of pipes: JSON messages, each ended by a zero byte. Little of the protocol is
used, and that part has been stable for years: targets, navigation, interception, evaluation.
https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

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
# No name resolves, and all traffic, loopback as well, must go through a proxy with such a name: whatever the interception of
# requests does not see ends there (sockets, workers, prefetching, the browser's own requests).
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
    "--disable-popup-blocking",  # windows that open are closed at once, and counted
    "--blink-settings=imagesEnabled=false",
    "--disable-features=MediaRouter,DialMediaRouteProvider,OptimizationHints,Translate,InterestFeedContentSuggestions",
    "--mute-audio",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--window-size=1280,2000",
    f"--js-flags=--max-old-space-size={HEAP}",
)
LARGEST = 2**26  # bytes of a message: snapshots are cut, so a larger message is an attack, and is dropped
Params = dict[str, Any]
Listener = Callable[[str, Params, int], None]

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def find_chromium(wanted: str = "") -> str:
    """The executable that ``CRAWL_BROWSER`` names, or the first that is installed; empty when there is none."""
    found = map(shutil.which, (wanted,) if wanted else NAMES)
    return next((path for path in found if path), "")


class Chromium:
    """A browser process. A child process with more than ``memory`` bytes is killed, and its pages with it."""

    def __init__(self, pid: int, devtools: DevTools, profile: str, memory: int) -> None:
        self.devtools = devtools
        self._pid = pid
        self._profile = profile
        self._memory = memory
        self._watch = asyncio.ensure_future(self._watch_memory())

    @classmethod
    async def start(cls, executable: str, user_agent: str, memory: int) -> Chromium:
        """Raises ``BrowserGone`` when the browser does not start, and ``OSError``."""
        profile = tempfile.mkdtemp(prefix="rendering-")
        arguments = [executable, *FLAGS, f"--user-data-dir={profile}", f"--user-agent={user_agent}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # with a sandbox, the browser refuses to run as root
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
        """Kill the browser and everything that it started."""
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
    """The id and the bytes of private memory of each process of a session; none on systems without ``/proc``."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.joinpath("stat").read_bytes().rpartition(b") ")[2].split()[3]) == session:
                resident, shared = folder.joinpath("statm").read_bytes().split()[1:3]
                yield int(folder.name), (int(resident) - int(shared)) * _PAGE
        except (OSError, IndexError, ValueError):
            continue  # the process has just ended


class BrowserGone(Exception):
    """The browser was closed or killed, or is shutting down."""


class CommandFailed(Exception):
    """The browser refused a command."""


class DevTools(asyncio.Protocol):
    """One connection to a browser. ``listen`` sets the listener for the events of a session."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._is_dropped = False  # the buffer holds the rest of a message that is too large
        self._answers: dict[int, asyncio.Future[Params]] = {}
        self._listeners: dict[str, Listener] = {}
        self._number = 0
        self._out: asyncio.WriteTransport | None = None
        self._in: asyncio.BaseTransport | None = None
        self.is_closed = False

    @classmethod
    async def connect(cls, reading: int, writing: int) -> DevTools:
        """Connect over two file descriptors, which the connection closes at its end."""
        loop, connection = asyncio.get_running_loop(), cls()
        connection._out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(writing, "wb", 0))
        connection._in, _ = await loop.connect_read_pipe(lambda: connection, os.fdopen(reading, "rb", 0))
        return connection

    async def send(self, method: str, session: str = "", **params: Any) -> Params:
        """Send a command; return its result. Raises ``BrowserGone``, and ``CommandFailed`` when the browser refuses."""
        answer: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        number = self.post(method, session, **params)
        self._answers[number] = answer
        try:
            return await answer
        finally:
            self._answers.pop(number, None)

    def post(self, method: str, session: str = "", **params: Any) -> int:
        """Send a command without waiting for its result; return its number. Raises ``BrowserGone``."""
        if self.is_closed or self._out is None:
            raise BrowserGone
        self._number += 1
        message: Params = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self._out.write(orjson.dumps(message) + b"\0")
        return self._number

    def listen(self, session: str, listener: Listener | None) -> None:
        """Call ``listener`` with name, parameters and bytes of each event of ``session``; None: call nothing."""
        if listener is None:
            self._listeners.pop(session, None)
        else:
            self._listeners[session] = listener

    def close(self) -> None:
        """Close the connection: waiting commands raise ``BrowserGone``, and listeners hear ``closed``."""
        self.is_closed = True
        for transport in (self._in, self._out):
            if transport is not None:
                transport.close()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserGone())
        for session, listener in list(self._listeners.items()):
            self.listen(session, None)
            listener("closed", {}, 0)

    # ------------------------------------------------------------ asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        searched = len(self._buffer)
        self._buffer += data
        while (end := self._buffer.find(b"\0", searched)) >= 0:
            message = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            searched = 0
            if not self._is_dropped:  # orjson rejects half of a surrogate pair, which pages may have
                self._dispatch(json.loads(message), len(message))
            self._is_dropped = False
        if len(self._buffer) > LARGEST:
            self._is_dropped = True
            self._buffer.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self.close()

    def _dispatch(self, message: Params, size: int) -> None:
        if "id" in message:
            answer = self._answers.get(message["id"])
            if answer is not None and not answer.done():
                if "error" in message:
                    answer.set_exception(CommandFailed(message["error"].get("message", "")))
                else:
                    answer.set_result(message.get("result", {}))
        elif listener := self._listeners.get(message.get("sessionId", "")):
            listener(message["method"], message.get("params", {}), size)
