"""One page in a browser: loaded from bytes that were fetched before, run, and read when its scripts have settled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from crawlproject.parts.rendering.browser.chromium import BrowserGone, CommandFailed, DevTools, Params
from crawlproject.parts.rendering.browser.frames import WORLD, Frames
from crawlproject.parts.rendering.browser.paused_requests import PageAnswer, page_request
from crawlproject.parts.rendering.browser_requests import DOCUMENT, PageRequest

if TYPE_CHECKING:
    from crawlproject.parts.rendering.browser.clicks import Clicks

SETTLING = 5_000  # milliseconds of the page's virtual time: its timers run ahead while nothing is being fetched
AFTER_CLICK = 1_000  # milliseconds of virtual time
HANDLING = 1.0  # seconds that the handlers of a click may run, and that it may take to examine the page
LONGER, LOOK = 2_500, 0.1  # more milliseconds of virtual time, after seconds of real time, while frames load
PATIENCE = 5.0  # seconds for opening and closing a page, which is normally immediate
READING = 4.0  # seconds: for a first answer of the page, then for its frames, then for its text
# A page that sends more events wastes the crawler's time; one with 100 requests has a thousand events.
MOST_EVENTS = 5_000
MOST_TOLD = 2**26  # bytes
RELOADS = 1  # of a page whose scripts have set a cookie

BLOCKED = "BlockedByClient"
ABORTED = "Aborted"  # leaves a frame empty, and a page as it is; ``BLOCKED`` would show an error page, at a price

_IS_EMPTY = 'location.href === "about:blank"'
_IS_CUT = f'document.readyState === "loading" || {_IS_EMPTY}'  # "loading" also after a mere document.write()

TIMEOUT = "timeout"
CRASH = "crash"
EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A page as its scripts left it: its ``html``, or the URL to which they redirected, or why there is neither.

    ``is_whole``: the browser has read the document to its end, not only up to a script that did not arrive in time.
    """

    html: str = ""
    redirect: str = ""
    failure: str = ""
    is_whole: bool = True


Answer = Callable[[PageRequest], Awaitable[PageAnswer | None]]


class PageSession:
    """A single page in a browser, with its own cookies and storage.

    ``answer`` is called for each request of the page except that for its document; None is a network error. It is called for the
    document, too, when the page loads itself again with a new cookie. ``waited`` returns the seconds for which the page waited
    for other hosts; these are added to its time. Windows that scripts open are closed before they run, dialogs are dismissed. A
    page with too many events is read as it is. ``clicks`` are made in the same time; a page that they lose is kept as it was.
    """

    def __init__(
        self,
        devtools: DevTools,
        answer: Answer,
        waited: Callable[[], float] = lambda: 0.0,
        clicks: Clicks | None = None,
    ) -> None:
        self._devtools = devtools
        self._waited = waited
        self._clicks = clicks
        self._clicking: Clicks | None = None
        self._answer = answer
        self._context = self._target = self._session = ""
        self._document: PageAnswer | None = None
        self._url = ""
        self._reloads = self._events = self._told = 0
        self._frames = Frames("")
        self._end: asyncio.Future[Snapshot | None] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()  # the event loop keeps weak references only

    async def render(self, url: str, document: PageAnswer, *, seconds: float, most: int) -> Snapshot:
        """Render the page at ``url``, whose response is ``document``, for at most ``seconds``; of its HTML ``most`` characters.

        Raises ``BrowserGone``.
        """
        self._document, is_cut = document, _IS_CUT
        try:
            await asyncio.wait_for(self._open(), PATIENCE)
            with suppress(TimeoutError):  # what the page shows by then is read
                ended = await self._in_time(asyncio.ensure_future(self._run(url, most)), seconds)
                if ended is not None:
                    return ended
                is_cut = _IS_CUT if self._is_flooded else _IS_EMPTY
            try:
                return await asyncio.wait_for(self._read(most, is_cut), 3 * READING)
            except TimeoutError:
                return self._lost(TIMEOUT)
        except CommandFailed:
            return self._lost(CRASH)
        except TimeoutError:
            raise BrowserGone from None
        finally:
            await self._close()

    async def _open(self) -> None:
        send = self._devtools.send
        self._context = (await send("Target.createBrowserContext", disposeOnDetach=True))["browserContextId"]
        made = await send("Target.createTarget", url="about:blank", browserContextId=self._context)
        self._target = made["targetId"]
        self._session = (await send("Target.attachToTarget", targetId=self._target, flatten=True))["sessionId"]
        self._frames = Frames(self._target)
        self._devtools.listen(self._session, self._heard)
        auto = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        await asyncio.gather(
            send("Fetch.enable", self._session, patterns=[{"urlPattern": "*"}]),
            send("Page.enable", self._session),
            send("Inspector.enable", self._session),
            send("Target.setAutoAttach", self._session, **auto),
        )

    async def _in_time(self, running: asyncio.Future[Snapshot | None], seconds: float) -> Snapshot | None:
        """Raises ``TimeoutError``."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        try:
            while not running.done():
                left = end + self._waited() - clock()
                if left <= 0.0:
                    raise TimeoutError
                await asyncio.wait((running,), timeout=left)
            return running.result()
        finally:
            if running.cancel():
                await asyncio.wait((running,))

    async def _run(self, url: str, most: int) -> Snapshot | None:
        """Load the page and let its scripts settle. Returns what came of it if there is nothing to read any more."""
        loading = asyncio.ensure_future(self._devtools.send("Page.navigate", self._session, url=url))
        loading.add_done_callback(lambda done: done.cancelled() or done.exception())  # its result may never be awaited
        await asyncio.wait((loading, self._end), return_when=asyncio.FIRST_COMPLETED)
        if not self._end.done():
            if loading.result().get("errorText"):
                return Snapshot(failure=EMPTY)
            self._settle(SETTLING)
        ended = await self._end
        if ended is None and self._clicks is not None and not self._is_flooded:
            return await self._click(self._clicks, most)
        return ended

    async def _click(self, clicks: Clicks, most: int) -> Snapshot | None:
        """Click the controls of the page. Returns what is left if the page itself is lost."""
        self._clicking, self._end = clicks, asyncio.get_running_loop().create_future()
        send = partial(self._devtools.send, session=self._session)
        await send("Page.resetNavigationHistory")  # there is no page to go back to
        world = await send("Page.createIsolatedWorld", frameId=self._target, worldName=WORLD)
        options = {"contextId": world["executionContextId"], "returnByValue": True}

        async def evaluate(expression: str) -> Any:
            end = asyncio.get_running_loop().call_later(HANDLING, self._interrupt)
            try:
                found = await send("Runtime.evaluate", expression=expression, **options)
            except CommandFailed:
                return None
            finally:
                end.cancel()
            return None if "exceptionDetails" in found else found.get("result", {}).get("value")

        async def settle() -> bool:
            self._settle(AFTER_CLICK)
            if await self._end is not None or self._is_flooded:
                return False
            self._end = asyncio.get_running_loop().create_future()
            return True

        await clicks.run(evaluate, settle, most)
        ended = self._end.result() if self._end.done() else None
        return self._lost(ended.failure) if ended else None

    def _interrupt(self) -> None:
        with suppress(BrowserGone):
            self._devtools.post("Runtime.terminateExecution", self._session)

    def _lost(self, failure: str) -> Snapshot:
        """The page as it was before the first click; without clicks, the failure."""
        before = self._clicking.before if self._clicking else ""
        return Snapshot(html=before) if before else Snapshot(failure=failure)

    def _settle(self, budget: int) -> None:
        """Let timers run ahead; ``virtualTimeBudgetExpired`` reports the end."""
        if not self._end.done():
            policy = {"policy": "pauseIfNetworkFetchesPending", "budget": budget}
            with suppress(BrowserGone):
                self._devtools.post("Emulation.setVirtualTimePolicy", self._session, **policy)

    async def _read(self, most: int, is_cut: str) -> Snapshot:
        send = partial(self._devtools.send, session=self._session)
        async with asyncio.timeout(READING):  # a script of the page may have no end
            world = await send("Page.createIsolatedWorld", frameId=self._target, worldName=WORLD)
            asked = {"contextId": world["executionContextId"], "returnByValue": True}
            found = await send("Runtime.evaluate", expression=is_cut, **asked)
        html = await self._frames.read(send, most, READING)
        is_whole = found.get("result", {}).get("value") is not True
        return Snapshot(html=html, is_whole=is_whole) if html else Snapshot(failure=EMPTY)

    async def _close(self) -> None:
        """Raises ``BrowserGone`` when the browser fails to close the page."""
        self._devtools.listen(self._session, None)
        if not self._end.done():
            self._end.cancel()
        if self._context and not self._devtools.is_closed:
            try:
                closing = self._devtools.send("Target.disposeBrowserContext", browserContextId=self._context)
                await asyncio.wait_for(closing, PATIENCE)
            except (TimeoutError, CommandFailed):
                raise BrowserGone from None

    # ------------------------------------------------------------ what the browser tells

    def _heard(self, event: str, told: Params, size: int) -> None:
        self._events += 1
        self._told += size
        try:
            if event != "closed" and self._is_flooded:
                self._end_flood()
            else:
                self._react(event, told)
        except BrowserGone:
            self._finish(Snapshot(failure=CRASH))

    @property
    def _is_flooded(self) -> bool:
        return self._events > MOST_EVENTS or self._told > MOST_TOLD

    def _end_flood(self) -> None:
        """Stop the scripts of the page, and answer none of its requests any more."""
        if not self._end.done():
            self._devtools.post("Emulation.setScriptExecutionDisabled", self._session, value=True)
            self._finish(None)

    def _react(self, event: str, told: Params) -> None:
        post, session = self._devtools.post, self._session
        if event == "Fetch.requestPaused":
            self._asked(told)
        elif event == "Page.frameAttached":
            self._frames.attached(told["frameId"], told["parentFrameId"])
        elif event == "Page.frameDetached":
            self._frames.detached(told["frameId"])
        elif event == "Page.frameNavigated":
            self._frames.navigated(told["frame"])
            if told["frame"]["id"] == self._target and self._clicking:
                self._finish(Snapshot(failure=CRASH))
            elif told["frame"]["id"] == self._target and self._reloads:
                self._settle(SETTLING)
        elif event == "Page.frameStartedLoading":
            # Virtual time ignores frames, and may be over before the request of a frame is reported.
            if told["frameId"] != self._target:
                self._frames.requested(told["frameId"])
        elif event == "Page.frameStoppedLoading":
            self._frames.loaded(told["frameId"])
        elif event == "Emulation.virtualTimeBudgetExpired":
            if self._frames.are_loading:
                asyncio.get_running_loop().call_later(LOOK, self._settle, LONGER)
            else:
                self._finish(None)
        elif event == "Page.windowOpen" and self._clicking:
            self._clicking.note(told["url"])
        elif event == "Page.javascriptDialogOpening":
            post("Page.handleJavaScriptDialog", session, accept=False)
        elif event == "Target.attachedToTarget":
            if told["targetInfo"]["type"] == "page":
                post("Target.closeTarget", targetId=told["targetInfo"]["targetId"])
            else:  # a frame or a worker: its requests get no answer, but the page may wait for it
                post("Runtime.runIfWaitingForDebugger", told["sessionId"])
        elif event in ("Inspector.targetCrashed", "Inspector.detached", "closed"):
            self._finish(Snapshot(failure=CRASH))

    def _finish(self, ended: Snapshot | None) -> None:
        if not self._end.done():
            self._end.set_result(ended)

    def _asked(self, told: Params) -> None:
        request = told["requestId"]
        asked = replace(page_request(told, self._frames.depth(told["frameId"])), clicked=self._clicking is not None)
        if asked.kind == DOCUMENT and asked.depth == 0:
            if self._clicking:
                self._fail(request, ABORTED)
                if asked.method == "GET":
                    self._clicking.note(asked.url)
                return
            if self._document is not None:
                self._fulfil(request, self._document)
                self._document, self._url = None, asked.url
                return
            if asked.method != "GET" or asked.url != self._url or self._reloads >= RELOADS:
                self._leave(request, asked)
                return
            self._reloads += 1
            reply = self._reload
        else:
            reply = self._reply
        if asked.kind == DOCUMENT:
            self._frames.requested(told["frameId"])
        task = asyncio.ensure_future(reply(request, told["frameId"], asked))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _leave(self, request: str, asked: PageRequest) -> None:
        """End the page when it goes elsewhere: nothing loads in its place."""
        with suppress(BrowserGone):
            self._fail(request, BLOCKED)
        if asked.method == "GET":
            self._finish(Snapshot(redirect=asked.url))

    async def _reload(self, request: str, frame: str, asked: PageRequest) -> None:
        """Load the page again, with its cookies, if it has any.

        The cookies come from the browser: the request may lack one that a script has just set.
        """
        try:
            found = await self._devtools.send("Network.getCookies", self._session, urls=[asked.url])
        except (BrowserGone, CommandFailed):
            found = {"cookies": []}
        cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in found["cookies"])
        if cookies:
            await self._reply(request, frame, replace(asked, headers={**asked.headers, "cookie": cookies}))
        else:
            self._leave(request, asked)

    async def _reply(self, request: str, frame: str, asked: PageRequest) -> None:
        answer = await self._answer(asked)
        with suppress(BrowserGone):
            if answer is None and asked.kind == DOCUMENT:
                self._frames.loaded(frame)
                self._fail(request, ABORTED)
            elif answer is None:
                self._fail(request, BLOCKED)
            else:
                self._fulfil(request, answer)

    def _fail(self, request: str, reason: str) -> None:
        self._devtools.post("Fetch.failRequest", self._session, requestId=request, errorReason=reason)

    def _fulfil(self, request: str, answer: PageAnswer) -> None:
        self._devtools.post("Fetch.fulfillRequest", self._session, requestId=request, **answer.told())
