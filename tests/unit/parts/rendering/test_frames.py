"""How the frames of a page are read, with a stand-in for the browser that only counts."""

from __future__ import annotations

import asyncio
from typing import Any

from crawlproject.parts.rendering.browser.frames import Frames
from crawlproject.parts.rendering.browser_requests import MOST_FRAMES


def page_of(*frames: str) -> Frames:
    page = Frames("main")
    for frame in frames:
        page.attached(frame, "main")
        page.navigated({"id": frame, "url": "http://frames.example/"})
    return page


def test_frames_are_read_at_the_same_time_so_that_a_slow_browser_is_in_time() -> None:
    marks: list[str] = []

    async def send(command: str, **told: Any) -> dict[str, Any]:
        await asyncio.sleep(0.02)
        if command == "Page.createIsolatedWorld":
            return {"executionContextId": told["frameId"]}
        if command == "Runtime.evaluate":
            frame = told["contextId"]
            return {"result": {"value": "<p>".join(["page", *marks]) if frame == "main" else f"text of {frame}"}}
        if command == "Runtime.callFunctionOn":
            marks.append(told["arguments"][0]["value"])
        return {"backendNodeId": 1, "object": {"objectId": "1"}}

    frames = [f"frame{number}" for number in range(MOST_FRAMES)]  # one after the other they take a second
    html = asyncio.run(page_of(*frames).read(send, 10_000, patience=0.6))
    assert sorted(html.split("<p>")) == sorted(["page", *(f"text of {frame}" for frame in frames)])
