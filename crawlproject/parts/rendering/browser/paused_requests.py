"""Requests that the browser has paused: what the page asks for, and the response that it gets."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass, replace

from crawlproject.parts.rendering.browser.chromium import Params
from crawlproject.parts.rendering.browser_requests import MOST_SENT, PageRequest


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """A response for a page."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def without(self, name: str) -> PageAnswer:
        """The same response without a header, by its lower-case name."""
        return replace(self, headers=tuple(pair for pair in self.headers if pair[0].lower() != name))

    def told(self) -> Params:
        """The response as parameters of ``Fetch.fulfillRequest``."""
        headers = [{"name": name, "value": value} for name, value in self.headers]
        return {"responseCode": self.status, "responseHeaders": headers, "body": b64encode(self.body).decode()}


def page_request(told: Params, depth: int) -> PageRequest:
    """What the page requests in a frame at this depth; ``told`` are the parameters of ``Fetch.requestPaused``."""
    asked = told["request"]
    headers = {name.lower(): value for name, value in asked.get("headers", {}).items()}
    return PageRequest(asked["url"], asked["method"], told["resourceType"], headers, _body(asked), depth)


def _body(asked: Params) -> bytes | None:
    """None for the content of a file, for what the browser withholds, and for more than is ever sent."""
    parts = [part.get("bytes") for part in asked.get("postDataEntries", ())]
    if not parts:
        return None if asked.get("hasPostData") else b""
    if None in parts or sum(map(len, parts)) > 2 * MOST_SENT:
        return None
    return b"".join(map(b64decode, parts))
