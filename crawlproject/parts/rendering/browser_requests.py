"""What a page in a browser may ask for: which of its requests are fetched, and what they may say.

A page asks for scripts, for data, and for the documents of its frames. It asks its own site by GET and, as far as
``CRAWL_RENDER_POSTS`` allows, by POST; other sites by GET, for scripts and data only. A click asks for nothing by POST, nor for
what a URL says does harm. Pure: ``browser/resources.py`` fetches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from crawlproject.parts.rendering.harmful_names import is_harmful
from crawlproject.urls.hosts import domain_of, host_of

MOST_REQUESTS = 100  # of a page, those included that a cache answers
MOST_ELSEWHERE = 30  # of these, requests that other hosts than that of the page are asked
MOST_BYTES = 2**24  # that are fetched for a page
MOST_FRAMES = 10  # documents of frames
DEEPEST = 2  # frames in frames
MOST_SENT = 2**14  # bytes of the body of a POST, and as many of the headers that scripts set
LONGEST_URL = 2**13  # bytes: servers take no more

DOCUMENT, SCRIPT = "Document", "Script"
_DATA = ("XHR", "Fetch")
_METHODS = ("HEAD", "PUT", "PATCH", "DELETE")  # that are counted by name
_AUTHORITY = re.compile(r"(https?)://([^/?#@\\]+)(?=[/?#]|$)")
_JSON = re.compile(r"application/(?:[a-z0-9.+-]{1,60}\+)?json", re.ASCII)
_URLENCODED = "application/x-www-form-urlencoded"
_MUTATION = re.compile(r"\bmutation\b")
_MOST_OPERATIONS = 100  # of one GraphQL request
_OURS = frozenset(("accept-encoding", "connection", "content-length", "content-type", "host", "referer", "user-agent"))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a page asks for. ``kind`` is a resource type of the DevTools protocol, such as ``Script`` or ``XHR``.

    ``headers`` have lower-case names. ``body`` is None when the browser does not say what it is. ``depth`` is that of the
    frame that asks: 0 for the page itself. ``clicked``: controls of the page are being clicked.
    """

    url: str
    method: str
    kind: str
    headers: Mapping[str, str]
    body: bytes | None = b""
    depth: int = 0
    clicked: bool = False


class RequestRules:
    """The rules for one page, at the canonical URL ``page``, whose scripts may POST ``posts`` times; and what it has used."""

    def __init__(self, page: str, *, posts: int = 0) -> None:
        self._page = page
        self._site = domain_of(page)
        self._posts = posts
        self.host = host_of(page)
        self._requests = self._elsewhere = self._frames = self._bytes = 0

    def refusal(self, asked: PageRequest) -> str:
        """Why it is not fetched: a short name to count by; empty when it is, and then it counts."""
        reason = self._kind_refusal(asked) or self._size_refusal(asked)
        if reason:
            return reason
        self._requests += 1
        if self._requests > MOST_REQUESTS or self._bytes > MOST_BYTES:
            return "over_budget"
        if asked.kind == DOCUMENT and asked.depth:
            self._frames += 1
            return "frames" if self._frames > MOST_FRAMES else ""
        self._posts -= asked.method == "POST"
        return ""

    def is_here(self, url: str) -> bool:
        """Whether a URL is of the host of the page, which is being visited."""
        return host_of(url) == self.host

    def goes_elsewhere(self) -> bool:
        """Whether one more request may go to another host; then it counts."""
        self._elsewhere += 1
        return self._elsewhere <= MOST_ELSEWHERE

    def fetched(self, size: int) -> None:
        """``size`` bytes came for the page."""
        self._bytes += size

    def is_own(self, url: str) -> bool:
        """Whether a URL is of the site of the page: of its registrable domain, on any port."""
        authority = _AUTHORITY.match(url)
        return authority is not None and domain_of(f"{authority[0]}/") == self._site

    def is_question(self, asked: PageRequest) -> bool:
        """Whether it is a POST of the kind that may be allowed: by a script, to the site of the page, of data."""
        if asked.method != "POST" or asked.kind not in _DATA or not self.is_own(asked.url) or not asked.body:
            return False
        return len(asked.body) <= MOST_SENT and is_query(asked.headers.get("content-type", ""), asked.body)

    def headers(self, asked: PageRequest) -> dict[str, str]:
        """What is sent: to the site of the page what its scripts want, its cookies too, but for what the crawler says itself.

        Other sites get little.
        """
        if not self.is_own(asked.url):
            return {name: asked.headers[name] for name in ("accept", "origin") if name in asked.headers}
        sent = {
            name: value for name, value in asked.headers.items() if name not in _OURS and not name.startswith("sec-")
        }
        if asked.method == "POST":
            sent["content-type"] = asked.headers.get("content-type", "")
        return sent

    def _kind_refusal(self, asked: PageRequest) -> str:
        if _AUTHORITY.match(asked.url) is None:  # another scheme, or a name and password
            return asked.kind
        if asked.method == "POST":
            return "" if self._posts > 0 and self.is_question(asked) and not asked.clicked else "POST"
        if asked.method != "GET":
            return asked.method if asked.method in _METHODS else "method"
        if asked.clicked and asked.kind != SCRIPT and is_harmful(asked.url.partition("://")[2].partition("/")[2]):
            return "harmful"
        if asked.kind == DOCUMENT:
            # Of another scheme it is another site to a browser, which shows it in another process.
            near = asked.depth <= DEEPEST and self.is_own(asked.url)
            return "" if near and asked.url.partition(":")[0] == self._page.partition(":")[0] else DOCUMENT
        return "" if asked.kind == SCRIPT or asked.kind in _DATA else asked.kind

    def _size_refusal(self, asked: PageRequest) -> str:
        if len(asked.url) > LONGEST_URL:
            return "long_url"
        sent = sum(len(name) + len(value) for name, value in self.headers(asked).items())
        return "headers" if sent > MOST_SENT else ""


def is_query(content_type: str, body: bytes) -> bool:
    """Whether the body of a POST is data that may be a question: JSON or a form's fields, and no mutation of GraphQL."""
    kind = content_type.partition(";")[0].strip().lower()
    try:
        text = body.decode("utf-8")
        if kind == _URLENCODED:
            return not any(_MUTATION.search(value) for name, value in parse_qsl(text) if name == "query")
        return _JSON.fullmatch(kind) is not None and not any(map(_MUTATION.search, _operations(json.loads(text))))
    except (ValueError, RecursionError):
        return False


def _operations(said: Any) -> Iterator[str]:
    """The documents of GraphQL in a request, of which there may be several in a list."""
    several = said if isinstance(said, list) else [said]
    if len(several) > _MOST_OPERATIONS:
        raise ValueError("too many to be a question")
    for each in several:
        if isinstance(each, dict) and isinstance(query := each.get("query"), str):
            yield query


def preflight(asked: PageRequest) -> tuple[tuple[str, str], ...]:
    """The headers of a server that allows what scripts ask of another origin; the rules above hold all the same."""
    origin = asked.headers.get("origin", "*")
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Headers", asked.headers.get("access-control-request-headers", "*")),
        ("Access-Control-Allow-Methods", "GET, POST"),
        *((("Access-Control-Allow-Credentials", "true"),) if origin != "*" else ()),
    )
