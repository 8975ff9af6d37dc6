"""The pages of a virtual web, parsed and judged once for many rehearsals, or as an archive from which an ordering learns."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Protocol

from crawlproject.options import Options
from crawlproject.pages.html.encoding import is_page
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Reply
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.base import Web
from crawlproject.webs.page_store import PageStore, is_kept

BYTES_PER_SECOND = 1_000_000.0  # latency model: bandwidth
ROUND_TRIP = 0.1  # latency model: seconds from the request to the first byte of the reply

_REDIRECTS = 5  # as many as for robots.txt
# The code that parses pages: when any of it changes, pages are parsed again.
_READERS = ("pages", "pages/html", "pages/text", "parts/documents", "urls", "records.py", "webs/page_store.py")
_LIBRARIES = ("ada-url", "lxml", "pypdf", "PyStemmer", "python-docx", "spacy", "spacy-lookups-data", "w3lib")


def latency(reply: Reply) -> float:
    """The virtual duration of a fetch in seconds: that of the web, or else a round trip and the transfer."""
    return reply.seconds or ROUND_TRIP + len(reply.body) / BYTES_PER_SECOND


class PageSource(Protocol):
    """Returns the reply at a URL, without its body, and the page that was read from it."""

    def get(self, url: str) -> tuple[Reply, Page | None]: ...


class PageCache:
    """An LRU cache of at most ``size`` parsed replies of a web: page, redirect target, or neither.

    The text of a page is dropped and its terms are kept, since few orderings read the text. With a ``store``, pages parsed
    earlier are loaded from it, and new ones are saved to it.
    """

    def __init__(
        self, web: Web, reader: Reader, options: Options, *, size: int = 25_000, store: PageStore | None = None
    ) -> None:
        self.web = web
        self.reader = reader
        self._options = options
        self._size = size
        self._store = store
        self._read: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """The reply without its body, and its page, if any; relevance and scores are 0.

        The reply of a page has no headers, because they were evaluated already.
        """
        found = self._read.get(url)
        if found is not None:
            self._read.move_to_end(url)
            return found
        found = self._read[url] = (self._store and self._store.get(url)) or self._asked(url)
        if len(self._read) > self._size:
            self._read.popitem(last=False)
        return found

    def links(self, url: str) -> Sequence[str] | None:
        """The link targets of a page, in order, at the lowest cost; None if it is not a page."""
        if url not in self._read and self._store is not None:
            targets = self._store.targets(url)
            if targets is not None:
                return targets
        _, page = self.get(url)
        return None if page is None else [link.url for link in page.links]

    def is_kept(self, url: str) -> bool:
        """Whether a crawl counts the document at ``url`` as a page, at the lowest cost."""
        kept = self._store.kept(url) if self._store is not None and url not in self._read else None
        if kept is not None:
            return kept
        _, page = self.get(url)
        return page is not None and is_kept(page)

    def all_links(self, canonicalize: Callable[..., str]) -> Iterator[tuple[str, Sequence[str]]]:
        """Every stored page of the web, by canonical URL, with its link targets."""
        for name in self.web.urls():
            url = canonical_or_none(canonicalize, name)
            links = None if url is None else self.links(url)
            if url is not None and links is not None:
                yield url, links

    def flush(self) -> None:
        """Save parsed pages for other processes."""
        if self._store is not None:
            self._store.flush()

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    def _asked(self, url: str) -> tuple[Reply, Page | None]:
        reply = self.web.get(url)
        seconds = latency(reply)
        if reply.unread or not is_page(reply, self._options.page_content_types):
            return replace(reply, body=b"", seconds=seconds), None
        page = self._page(url, reply)
        empty = Reply(reply.url, reply.status, {}, b"", seconds)
        if self._store is not None:
            self._store.put(url, empty, page)
        return empty, page

    def text(self, url: str) -> str:
        """The text of a page, which is parsed anew, since texts are not kept."""
        reply = self.web.get(url)
        return self._read_page(url, reply).text if is_page(reply, self._options.page_content_types) else ""

    def _page(self, url: str, reply: Reply) -> Page:
        return replace(self._read_page(url, reply), text="")

    def _read_page(self, url: str, reply: Reply) -> Page:
        content_type = reply.headers.get("content-type", "")
        robots_tag = reply.headers.get("x-robots-tag", "")
        body = reply.body[: self._options.page_max_bytes]
        return self.reader.read(url, body, content_type=content_type, robots_tag=robots_tag)


class JudgedPages:
    """The pages of a ``PageCache``, judged for one topic: with relevance and context scores, and texts if ``with_text``."""

    def __init__(self, pages: PageCache, judge: TopicJudge, size: int = 25_000, *, with_text: bool = False) -> None:
        self._pages = pages
        self._with_text = with_text
        self.judge = judge
        self._size = size
        self._judged: OrderedDict[str, tuple[Reply, Page | None]] = OrderedDict()

    def get(self, url: str) -> tuple[Reply, Page | None]:
        """Reply and judged page."""
        found = self._judged.get(url)
        if found is None:
            reply, page = self._pages.get(url)
            found = self._judged[url] = reply, self._judged_page(url, page) if page else None
            if len(self._judged) > self._size:
                self._judged.popitem(last=False)
        return found

    def _judged_page(self, url: str, page: Page) -> Page:
        if not (self.judge.needs_text or self._with_text):
            return self.judge.judge(page)
        judged = self.judge.judge(replace(page, text=self._pages.text(url)))
        return judged if self._with_text else replace(judged, text="")


def location(reply: Reply) -> str:
    """The target of a redirect; empty for any other reply."""
    return reply.headers.get("location", "") if 300 <= reply.status < 400 else ""


class ArchivedPages:
    """The pages of a web as a ``PageArchive``: parsed by ``pages`` and judged by ``judged`` on demand."""

    def __init__(self, pages: PageCache, judged: PageSource, canonicalize: Callable[..., str]) -> None:
        self._pages = pages
        self._judged = judged
        self._canonicalize = canonicalize
        self.links = pages.links

    def urls(self) -> Iterator[str]:
        """The canonical URLs of pages and redirects, in alphabetical order."""
        return iter(self._urls)

    def page(self, url: str) -> Page | None:
        """The page at a canonical URL, after at most five redirects, with the final URL."""
        for _ in range(_REDIRECTS + 1):
            reply, page = self._judged.get(url)
            if page is not None or not location(reply):
                return page
            target = canonical_or_none(self._canonicalize, location(reply), url)
            if target is None or target == url:
                return None
            url = target
        return None

    @cached_property
    def _urls(self) -> list[str]:
        canonical = {canonical_or_none(self._canonicalize, url) for url in self._pages.web.urls()}
        return sorted(url for url in canonical if url and not url.endswith("/robots.txt"))


class PageCacheFolder:
    """The page stores of one web in ``folder``, one per language and set of parser settings.

    ``web`` is the name of the web: a file or a folder.
    """

    def __init__(self, folder: Path, web: str) -> None:
        self._folder = folder
        self._web = Path(web)

    def store(self, language: str, settings: str) -> PageStore | None:
        """The store for ``language`` and the parser ``settings`` (as text); None for a web without files.

        A store replaces older stores of the same web, so that they do not accumulate when the web changes.
        """
        if not self._web.exists():
            return None
        name = _digest([str(self._web.resolve()), language, settings])
        stamp = _digest([*fingerprint(self._web), code_version()])
        return PageStore(self._folder / f"{self._web.name}.{name[:16]}.pages", stamp)


def fingerprint(web: Path) -> Iterator[str]:
    """Size and modification time of the file of a web, or of each file in its folder."""
    files = sorted(path for path in web.rglob("*") if path.is_file()) if web.is_dir() else [web]
    for path in files:
        stat = path.stat()
        yield f"{path.relative_to(web)} {stat.st_size} {stat.st_mtime_ns}"


@cache
def code_version() -> str:
    """A digest of the source code that parses pages and of the versions of its libraries."""
    package = resources.files("crawlproject")
    sources = [file.read_bytes().decode() for name in _READERS for file in _sources(package.joinpath(name))]
    return _digest([*sources, *map(_version, _LIBRARIES)])


def _sources(place: Traversable) -> list[Traversable]:
    if place.is_file():
        return [place]
    if not place.is_dir():  # a part that is not installed
        return []
    return sorted(
        (file for file in place.iterdir() if file.name.endswith((".py", ".pyx", ".pxd"))), key=lambda file: file.name
    )


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
