"""The contract of every virtual web: a deterministic reply for each URL; and the rules for answering requests with it.

A web never waits. ``Reply.seconds`` is the simulated duration of the fetch: the server and the download handler can sleep
that long, and a rehearsal advances its clock by it.

**Lookup.** A web looks up the exact URL first, then the canonical URL: the crawler may request ``http://h/dir/`` where an
archive contains only ``http://h/dir/index.html``. A redirect between variants of one URL would be a loop for a crawler of
canonical URLs, so no web serves it. ``http`` and ``https`` are different. The answer to a POST is looked up by ``post_url``.

**Answers.** Server and download handler share the rules of an HTTP server: methods, conditional requests (RFC 9110 section
13) and omitted bodies, so that a crawl of a virtual web gets the same answers with and without sockets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, runtime_checkable

from crawlproject.errors import InvalidUrl
from crawlproject.records import Reply
from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.post import POST, body_name, is_post, post_url

METHODS = ("GET", "HEAD")
_BODYLESS = (204, 304)
_KEPT_BY_304 = ("cache-control", "date", "etag", "expires", "last-modified", "vary")  # RFC 9110 section 15.4.5


@runtime_checkable
class Web(Protocol):
    """A finite or endless set of replies."""

    @property
    def warnings(self) -> Sequence[str]:
        """Problems of the web that do not prevent its use, one sentence each."""
        ...

    def get(self, url: str) -> Reply:
        """The reply to ``url``; a 404 for an unknown URL. Never raises for a malformed URL."""
        ...

    def urls(self) -> Iterator[str]:
        """The stored URLs, in no particular order: finitely many, though the web may answer more, such as a POST."""
        ...

    def __contains__(self, url: str) -> bool:
        """Whether the web knows ``url``: ``get`` does not return the 404 of an unknown URL."""
        ...

    def close(self) -> None:
        """Close files; the web must not be used afterwards."""
        ...


@runtime_checkable
class Cloaking(Protocol):
    """A web whose replies depend on the User-Agent. ``get`` returns the reply to a crawler that identifies itself."""

    def get_as(self, url: str, agent: str) -> Reply:
        """The reply to a client with the User-Agent ``agent``, which may be any text; otherwise like ``Web.get``."""
        ...


def get_as(web: Web, url: str, agent: str) -> Reply:
    """The reply of any web to a client with the User-Agent ``agent``."""
    return web.get_as(url, agent) if isinstance(web, Cloaking) else web.get(url)


def spellings(url: str) -> Iterator[str]:
    """The names under which to look up a URL, best first: as requested, then canonical."""
    yield url
    if is_post(url):
        return
    try:
        canonical = canonical_url(url)
    except InvalidUrl:
        return
    if canonical != url:
        yield canonical


def not_held(url: str) -> Reply:
    """The 404 of an unknown URL."""
    body = b"<!doctype html><title>Not found</title><h1>Not found</h1><p>This page is not in the virtual web.</p>\n"
    return Reply(url, 404, {"content-type": "text/html; charset=utf-8"}, body)


def answer(web: Web, method: str, url: str, headers: Mapping[str, str], sent: bytes = b"") -> Reply:
    """The web's answer to a request. Of ``headers``, only User-Agent, If-Modified-Since and If-None-Match matter.

    405 for a method other than GET and HEAD, except a POST with a body ``sent`` whose answer the web contains; 304 for a
    page that has not changed. ``Reply.body`` is the body to send.
    """
    if method == POST and (posted := _post_url(url, sent)) in web:
        return replace(get_as(web, posted, headers.get("User-Agent", "")), url=url)
    if method not in METHODS:
        return Reply(url, 405, {"allow": ", ".join(METHODS)})
    reply = get_as(web, url, headers.get("User-Agent", ""))
    if reply.status == 200 and _is_fresh(reply, headers):
        kept = {name: value for name, value in reply.headers.items() if name in _KEPT_BY_304}
        return Reply(url, 304, kept, seconds=reply.seconds)
    if method == "HEAD":
        return replace(reply, headers={**reply.headers, "content-length": str(len(reply.body))}, body=b"")
    if reply.status in _BODYLESS:
        return replace(reply, body=b"")
    return reply


def _post_url(url: str, sent: bytes) -> str:
    """The URL under which a web stores the answer to a POST."""
    return post_url(canonical_or_none(canonical_url, url) or "", body_name(sent))


def _is_fresh(reply: Reply, headers: Mapping[str, str]) -> bool:
    """RFC 9110 section 13.2.2: If-None-Match takes precedence over If-Modified-Since."""
    tags = headers.get("If-None-Match")
    if tags is not None:
        etag = reply.headers.get("etag", "").removeprefix("W/")
        return tags.strip() == "*" or (
            bool(etag) and etag in (tag.strip().removeprefix("W/") for tag in tags.split(","))
        )
    since = _date(headers.get("If-Modified-Since", ""))
    changed = _date(reply.headers.get("last-modified", ""))
    return since is not None and changed is not None and changed <= since


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
