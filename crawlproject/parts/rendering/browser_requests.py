"""What a page in a browser may request: which of its requests are fetched, and what they may contain.

A page requests scripts, data, and the documents of its frames. It may use GET on its own site and, as far as
``CRAWL_RENDER_POSTS`` allows, POST; on other sites only GET, for scripts and data. A click may cause no POST, and no request
whose URL names something harmful. This module does no I/O: ``browser/resources.py`` fetches.
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

MOST_REQUESTS = 100  # of a page, including those that a cache answers
MOST_ELSEWHERE = 30  # of these, requests to other hosts than that of the page
MOST_BYTES = 2**24  # fetched for a page
MOST_FRAMES = 10  # documents of frames
DEEPEST = 2  # frames in frames
MOST_SENT = 2**14  # bytes of the body of a POST, and as many of the headers that scripts set
LONGEST_URL = 2**13  # bytes: servers take no more

DOCUMENT, SCRIPT = "Document", "Script"
_DATA = ("XHR", "Fetch")
_METHODS = ("HEAD", "PUT", "PATCH", "DELETE")  # counted by name
_AUTHORITY = re.compile(r"(https?)://([^/?#@\\]+)(?=[/?#]|$)")
_JSON = re.compile(r"application/(?:[a-z0-9.+-]{1,60}\+)?json", re.ASCII)
_URLENCODED = "application/x-www-form-urlencoded"
_MUTATION = re.compile(r"\bmutation\b")
_MOST_OPERATIONS = 100  # of one GraphQL request
_OURS = frozenset(("accept-encoding", "connection", "content-length", "content-type", "host", "referer", "user-agent"))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of a page. ``kind`` is a resource type of the DevTools protocol, such as ``Script`` or ``XHR``.

    ``headers`` have lower-case names. ``body`` is None when the browser does not disclose it. ``depth`` is that of the
    requesting frame: 0 for the page itself. ``clicked``: controls of the page are being clicked.
    """

    url: str
    method: str
    kind: str
    headers: Mapping[str, str]
    body: bytes | None = b""
    depth: int = 0
    clicked: bool = False


class RequestRules:
    """The rules for one page, at the canonical URL ``page``, whose scripts may POST ``posts`` times; and what it has used up."""

    def __init__(self, page: str, *, posts: int = 0) -> None:
        self._page = page
        self._site = domain_of(page)
        self._posts = posts
        self.host = host_of(page)
        self._requests = self._elsewhere = self._frames = self._bytes = 0

    def refusal(self, asked: PageRequest) -> str:
        """Why a request is not fetched: a short name to count by; empty when it is fetched, and then it counts."""
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
        """Whether a URL is on the host of the page, which is being visited."""
        return host_of(url) == self.host

    def goes_elsewhere(self) -> bool:
        """Whether one more request may go to another host; counts the request."""
        self._elsewhere += 1
        return self._elsewhere <= MOST_ELSEWHERE

    def fetched(self, size: int) -> None:
        """Count ``size`` bytes that were fetched for the page."""
        self._bytes += size

    def is_own(self, url: str) -> bool:
        """Whether a URL is on the site of the page: on its registrable domain, on any port."""
        authority = _AUTHORITY.match(url)
        return authority is not None and domain_of(f"{authority[0]}/") == self._site

    def is_question(self, asked: PageRequest) -> bool:
        """Whether a request is a POST that may be allowed: of data, by a script, to the site of the page."""
        if asked.method != "POST" or asked.kind not in _DATA or not self.is_own(asked.url) or not asked.body:
            return False
        return len(asked.body) <= MOST_SENT and is_query(asked.headers.get("content-type", ""), asked.body)

    def headers(self, asked: PageRequest) -> dict[str, str]:
        """The headers to send. The site of the page gets what its scripts set, its cookies too, except the crawler's own headers.

        Other sites get only ``accept`` and ``origin``.
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
            # To a browser, another scheme is another site, which it shows in another process.
            near = asked.depth <= DEEPEST and self.is_own(asked.url)
            return "" if near and asked.url.partition(":")[0] == self._page.partition(":")[0] else DOCUMENT
        return "" if asked.kind == SCRIPT or asked.kind in _DATA else asked.kind

    def _size_refusal(self, asked: PageRequest) -> str:
        if len(asked.url) > LONGEST_URL:
            return "long_url"
        sent = sum(len(name) + len(value) for name, value in self.headers(asked).items())
        return "headers" if sent > MOST_SENT else ""


def is_query(content_type: str, body: bytes) -> bool:
    """Whether the body of a POST is data that may be a query: JSON or form fields, and no GraphQL mutation."""
    kind = content_type.partition(";")[0].strip().lower()
    try:
        text = body.decode("utf-8")
        if kind == _URLENCODED:
            return not any(_MUTATION.search(value) for name, value in parse_qsl(text) if name == "query")
        return _JSON.fullmatch(kind) is not None and not any(map(_MUTATION.search, _operations(json.loads(text))))
    except (ValueError, RecursionError):
        return False


def _operations(said: Any) -> Iterator[str]:
    """The GraphQL documents of a request, which may have several in a list."""
    several = said if isinstance(said, list) else [said]
    if len(several) > _MOST_OPERATIONS:
        raise ValueError("too many to be a question")
    for each in several:
        if isinstance(each, dict) and isinstance(query := each.get("query"), str):
            yield query


def preflight(asked: PageRequest) -> tuple[tuple[str, str], ...]:
    """The headers of a server that allows scripts to make cross-origin requests; the rules above apply all the same."""
    origin = asked.headers.get("origin", "*")
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Headers", asked.headers.get("access-control-request-headers", "*")),
        ("Access-Control-Allow-Methods", "GET, POST"),
        *((("Access-Control-Allow-Credentials", "true"),) if origin != "*" else ()),
    )
