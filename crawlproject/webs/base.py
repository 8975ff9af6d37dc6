"""The contract of every virtual web: a deterministic reply for each URL.

A web never waits. ``Reply.seconds`` is the simulated duration of the fetch: the server and the download handler sleep that
long if asked to, and a rehearsal advances its clock.

**Lookup.** The exact URL comes first, then the canonical URL: the crawler may request ``http://h/dir/`` where an archive
holds only ``http://h/dir/index.html``. A redirect between variants of one URL would be a loop for a crawler of canonical
URLs, so no web serves it. ``http`` and ``https`` are different. The answer to a POST is looked up by ``post_url``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from crawlproject.errors import InvalidUrl
from crawlproject.records import Reply
from crawlproject.urls.canonical import canonical_url
from crawlproject.urls.post import is_post


@runtime_checkable
class Web(Protocol):
    """A finite or endless set of replies."""

    @property
    def warnings(self) -> Sequence[str]:
        """Problems of a web that can be used nevertheless, one sentence each."""
        ...

    def get(self, url: str) -> Reply:
        """The reply to ``url``; a 404 for an unknown URL. Never raises for a malformed URL."""
        ...

    def urls(self) -> Iterator[str]:
        """The stored URLs, in no particular order: a finite number, though a web may answer more, such as those of a POST."""
        ...

    def __contains__(self, url: str) -> bool:
        """Whether ``get`` would return anything but the 404 of an unknown URL."""
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
