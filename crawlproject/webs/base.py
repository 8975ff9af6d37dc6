"""The contract of every virtual web: a URL in, a reply out, always the same one.

A web answers *what would come back*; it never waits. How long the fetch would have taken is the number
``Reply.seconds``; the server and the download handler sleep that long when asked to, the rehearsal moves its clock.

**Lookup.** The exact URL wins. After it, the canonical spelling: the crawler asks for ``http://h/dir/`` where an
archive may hold ``http://h/dir/index.html`` only. A redirect from one spelling of a URL to another is not a redirect
for a crawler that knows canonical URLs only, but a loop: no web serves it. ``http`` and ``https`` are two different
webs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import canonical_url

# Why no HTTP reply came at all. An empty string: one came.
Failure = Literal["", "timeout", "connection refused"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What one fetch brings back.

    ``url`` is the URL asked for. ``headers`` have lower-case names and describe ``body`` as it is here: transfer and
    content encodings are undone and their headers gone. ``seconds`` is the simulated duration of the fetch. When
    ``error`` is set, no HTTP reply came, ``status`` is 0 and the body is empty.
    """

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    error: Failure = ""


@runtime_checkable
class Web(Protocol):
    """A finite or endless set of replies."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is wrong with the web although it can be used, one sentence each."""
        ...

    def get(self, url: str) -> Reply:
        """The reply to ``url``; a 404 for a URL that is not held. Never raises for a strange URL."""
        ...

    def urls(self) -> Iterator[str]:
        """The URLs that are stored, in no particular order: finite, though a web may answer more than these."""
        ...

    def __contains__(self, url: str) -> bool:
        """Whether ``get`` would answer with something other than "not held"."""
        ...

    def close(self) -> None:
        """Give files back; the web is not used afterwards."""
        ...


@runtime_checkable
class Cloaking(Protocol):
    """A web that does not answer everybody alike. Its ``get`` answers as a crawler that says so is answered."""

    def get_as(self, url: str, agent: str) -> Reply:
        """The reply to whoever sends ``agent`` as its User-Agent, which may be any text; else as ``Web.get``."""
        ...


def get_as(web: Web, url: str, agent: str) -> Reply:
    """The reply of any web to whoever sends ``agent`` as its User-Agent."""
    return web.get_as(url, agent) if isinstance(web, Cloaking) else web.get(url)


def media_type(content_type: str) -> str:
    """``Text/HTML; charset=x`` to ``text/html``."""
    return content_type.partition(";")[0].strip().lower()


def spellings(url: str) -> Iterator[str]:
    """The names under which to look a URL up, best first: as asked, then canonical."""
    yield url
    try:
        canonical = canonical_url(url)
    except InvalidUrl:
        return
    if canonical != url:
        yield canonical


def not_held(url: str) -> Reply:
    """The 404 of a URL that a web does not hold."""
    body = b"<!doctype html><title>Not found</title><h1>Not found</h1><p>This page is not in the virtual web.</p>\n"
    return Reply(url, 404, {"content-type": "text/html; charset=utf-8"}, body)
