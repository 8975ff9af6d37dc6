"""A page in a browser whose events arrive in an order that occurs on a busy machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crawlproject.parts.rendering.browser.page_session import PageSession, Snapshot
from crawlproject.parts.rendering.browser.paused_requests import PageAnswer
from crawlproject.parts.rendering.browser_requests import PageRequest

URL = "http://a.example/"
PAGE = PageAnswer(200, (("Content-Type", "text/html"),), b"<p>page")

Event = tuple[str, dict[str, Any]]
EXPIRED: Event = ("Emulation.virtualTimeBudgetExpired", {})


class Browser:
    """Answers commands like Chromium; each time that the session waits for the page to settle, it sends the next event."""

    is_closed = False
    is_cut = False

    def __init__(self, events: list[list[Event]], cookies: list[dict[str, str]] | None = None) -> None:
        self._told: Callable[[str, dict[str, Any], int], None] = lambda *_: None
        self._events: Iterator[list[Event]] = iter(events)
        self._results = {
            "Target.createBrowserContext": {"browserContextId": "context"},
            "Target.createTarget": {"targetId": "main"},
            "Target.attachToTarget": {"sessionId": "session"},
            "Page.createIsolatedWorld": {"executionContextId": 1},
            "Runtime.evaluate": {"result": {"value": "<p>read"}},
            "Network.getCookies": {"cookies": cookies or []},
        }
        self.settled = 0

    def listen(self, session: str, listener: Callable[[str, dict[str, Any], int], None] | None) -> None:
        self._told = listener or (lambda *_: None)

    async def send(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        if method == "Page.navigate":
            self._told(*_wants(URL), 1)
        await asyncio.sleep(0)
        if "readyState" in params.get("expression", ""):
            return {"result": {"value": self.is_cut}}
        return self._results.get(method, {})

    def post(self, method: str, session: str = "", **params: Any) -> int:
        if method == "Emulation.setVirtualTimePolicy":
            self.settled += 1
            for event in next(self._events):
                asyncio.get_running_loop().call_soon(self._told, *event, 1)
        return 1


def _wants(url: str, frame: str = "main") -> Event:
    asked = {"url": url, "method": "GET", "headers": {}}
    return "Fetch.requestPaused", {"requestId": "1", "frameId": frame, "resourceType": "Document", "request": asked}


def _render(browser: Browser, seconds: float = 5.0) -> tuple[Snapshot, list[PageRequest]]:
    asked: list[PageRequest] = []

    async def answer(request: PageRequest) -> PageAnswer:
        asked.append(request)
        return PAGE

    async def render() -> Snapshot:
        return await PageSession(browser, answer).render(URL, PAGE, seconds=seconds, most=1000)  # type: ignore[arg-type]

    return asyncio.run(render()), asked


def test_a_page_that_reloads_itself_is_asked_for_with_the_cookie_that_its_request_lacks() -> None:
    shown: Event = ("Page.frameNavigated", {"frame": {"id": "main", "url": URL}})
    browser = Browser(
        [[_wants(URL), shown], [EXPIRED]], [{"name": "n", "value": "1"}, {"name": "session", "value": "a=b"}]
    )
    snapshot, asked = _render(browser)
    assert [(request.url, request.headers["cookie"]) for request in asked] == [(URL, "n=1; session=a=b")]
    assert snapshot == Snapshot(html="<p>read")


def test_a_page_that_reloads_itself_without_a_cookie_is_a_redirect() -> None:
    snapshot, asked = _render(Browser([[_wants(URL)]]))
    assert asked == [] and snapshot == Snapshot(redirect=URL)


@pytest.mark.parametrize("end", ["Page.frameStoppedLoading", "Page.frameDetached"])
def test_a_frame_is_waited_for_from_its_start_not_from_its_request(end: str) -> None:
    begun: list[Event] = [
        ("Page.frameAttached", {"frameId": "inner", "parentFrameId": "main"}),
        ("Page.frameStartedLoading", {"frameId": "inner"}),
    ]
    browser = Browser([[*begun, EXPIRED], [(end, {"frameId": "inner"}), EXPIRED]])
    snapshot, _ = _render(browser)
    assert browser.settled == 2 and snapshot.html == "<p>read"


def test_the_page_itself_is_not_waited_for_when_it_loads_without_end() -> None:
    browser = Browser([[("Page.frameStartedLoading", {"frameId": "main"}), EXPIRED]])
    assert _render(browser)[0].html == "<p>read" and browser.settled == 1


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_page_says_whether_it_was_read_to_its_end(is_cut: bool) -> None:
    browser = Browser([[]])
    browser.is_cut = is_cut
    assert _render(browser, seconds=0.1)[0] == Snapshot(html="<p>read", is_whole=not is_cut)


def test_a_page_that_has_settled_is_whole_though_a_script_that_wrote_it_did_not_close_it() -> None:
    browser = Browser([[EXPIRED]])
    browser.is_cut = True
    assert _render(browser)[0] == Snapshot(html="<p>read")
