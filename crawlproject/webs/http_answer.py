"""Converts a reply as an HTTP server does: rules shared by the server and the download handler.

These are methods, conditional requests (RFC 9110 section 13) and omitted bodies, so that a crawl of a virtual web gets the
same answers with and without sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawlproject.records import Reply
from crawlproject.urls.canonical import canonical_or_none, canonical_url
from crawlproject.urls.post import POST, body_name, post_url
from crawlproject.webs.base import Web, get_as

METHODS = ("GET", "HEAD")
_BODYLESS = (204, 304)
_KEPT_BY_304 = ("cache-control", "date", "etag", "expires", "last-modified", "vary")  # RFC 9110 section 15.4.5


def answer(web: Web, method: str, url: str, headers: Mapping[str, str], sent: bytes = b"") -> Reply:
    """The web's answer to a request. Of ``headers``, only User-Agent, If-Modified-Since and If-None-Match matter.

    405 for a method other than GET and HEAD, and for a POST of a body ``sent`` whose answer the web does not hold; 304 for a
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
    """What a web knows a POST by."""
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
