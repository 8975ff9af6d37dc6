"""The frames of a page in a browser: which of them are read, and how their text takes the place of their elements."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.resources import files

from crawlproject.parts.rendering.browser.chromium import CommandFailed, Params
from crawlproject.parts.rendering.browser_requests import DEEPEST, MOST_FRAMES

WORLD = "crawl"  # each frame has an isolated world of this name, where the page's scripts have redefined nothing
MOST_KNOWN = 100  # frames of a page
SNAPSHOT = files(__package__).joinpath("snapshot.js").read_text(encoding="utf-8")
# What a browser shows in place of a refused document is no content, and data: and blob: URLs have no site.
_READ = ("http://", "https://", "about:srcdoc")
_MARK = (
    "function (mark) { if (this.localName !== 'iframe') return; const here = document.createElement('div');"
    " here.textContent = mark; (globalThis.states?.copyOf?.(this) ?? this).replaceWith(here); }"
)

Send = Callable[..., Awaitable[Params]]  # sends a command to the session of the page, by its name and parameters


class Frames:
    """``main`` is the frame of the page itself. What is kept of others is bounded: ``MOST_KNOWN``, ``DEEPEST``."""

    def __init__(self, main: str) -> None:
        self._main = main
        self._parents: dict[str, str] = {}  # in document order, or nearly
        self._shown: set[str] = set()
        self._loading: set[str] = set()

    def attached(self, frame: str, parent: str) -> None:
        known = frame == self._main or frame in self._parents or len(self._parents) >= MOST_KNOWN
        if not known and self.depth(parent) < DEEPEST:
            self._parents[frame] = parent

    def detached(self, frame: str) -> None:
        """A frame is gone, or another process shows it."""
        self._parents.pop(frame, None)
        self._shown.discard(frame)
        self._loading.discard(frame)

    def navigated(self, told: Params) -> None:
        """A frame shows another document: ``told`` is a ``Page.Frame`` of the protocol."""
        if told["id"] == self._main:
            for kept in (self._parents, self._shown, self._loading):
                kept.clear()
        elif told["id"] in self._parents and told["url"].startswith(_READ) and "unreachableUrl" not in told:
            self._shown.add(told["id"])
        else:
            self._shown.discard(told["id"])

    def requested(self, frame: str) -> None:
        """A frame requests a document, or the page itself requests another one."""
        if frame in self._parents or frame == self._main:
            self._loading.add(frame)

    def loaded(self, frame: str) -> None:
        """A frame has its document and what belongs to it, or gets none."""
        self._loading.discard(frame)

    @property
    def are_loading(self) -> bool:
        return bool(self._loading)

    def depth(self, frame: str) -> int:
        """0 for the page itself; more than ``DEEPEST`` for frames that are not read."""
        depth = 0
        while frame != self._main:
            if frame not in self._parents:
                return DEEPEST + 1
            frame, depth = self._parents[frame], depth + 1
        return depth

    async def read(self, send: Send, most: int, patience: float) -> str:
        """The HTML of the page with that of its frames inserted, at most ``most`` characters. Raises ``CommandFailed``.

        Frames that are not read after ``patience`` seconds are left out.
        """
        read = [frame for frame in self._parents if frame in self._shown][:MOST_FRAMES]
        if read:
            await send("DOM.enable")
        until = asyncio.get_running_loop().time() + patience
        reader = _Reader(send, {frame: self._parents[frame] for frame in read}, most, until)
        return await reader.read(self._main, is_frame=False)


class _Reader:
    """Reads a page once. ``parents`` are those of the frames to read, ``until`` is a time of the event loop."""

    def __init__(self, send: Send, parents: dict[str, str], most: int, until: float) -> None:
        self._send = send
        self._parents = parents
        self._most = most
        self._until = until

    async def read(self, frame: str, *, is_frame: bool) -> str:
        """Read a frame in an isolated world, where the page's scripts have redefined nothing. Its own frames are read first."""
        made = await self._send("Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
        world = made["executionContextId"]
        children = [child for child, parent in self._parents.items() if parent == frame]
        texts = dict(filter(None, await asyncio.gather(*(self._inner(child, world) for child in children))))
        asked = f"({SNAPSHOT})({self._most}, {str(is_frame).lower()})"
        found = await self._send("Runtime.evaluate", expression=asked, contextId=world, returnByValue=True)
        html = found.get("result", {}).get("value")
        if not isinstance(html, str):
            return ""
        for mark, text in texts.items():
            html = html.replace(mark, text, 1)  # scripts of the page may have seen the mark, and copied it elsewhere
        return html[: self._most]

    async def _inner(self, frame: str, world: int) -> tuple[str, str] | None:
        """The mark that now takes the place of an inner frame, and its text; None if the frame is not read."""
        with suppress(CommandFailed, TimeoutError):  # the frame is gone, or has its own process
            async with asyncio.timeout_at(self._until):
                mark, text = secrets.token_hex(16), await self.read(frame, is_frame=True)
                await self._mark(frame, world, mark)
                return mark, text
        return None

    async def _mark(self, frame: str, world: int, mark: str) -> None:
        """Put ``mark`` in the place of the element of an inner frame, in the world of its parent."""
        owner = await self._send("DOM.getFrameOwner", frameId=frame)
        node = await self._send("DOM.resolveNode", backendNodeId=owner["backendNodeId"], executionContextId=world)
        await self._send(
            "Runtime.callFunctionOn",
            objectId=node["object"]["objectId"],
            functionDeclaration=_MARK,
            arguments=[{"value": mark}],
        )
