"""Opens a virtual web by name: a WARC, a folder of hosts, an earlier crawl, or ``sample``. Defines the webs in folders.

**An earlier crawl** is the folder that ``scrapy crawl`` wrote, with its pages, redirects and failures. A page is served with
its status and the stored bytes, a fetch without a page with its result, robots.txt from ``robots.jsonl``. A URL that the
crawl never fetched is a 404. The only HTTP header is the content type; if it is unknown, it is guessed from the body.

**A folder of** ``<host>/<path>`` **files** has the layout of ``wget --mirror``: ``www.reef.example/corals/index.html`` is
served as ``http://www.reef.example/corals/index.html`` and as ``http://www.reef.example/corals/``;
``http://www.reef.example/corals`` redirects to the latter. A file name may include a query (``list?page=2``), and a host
name may include a port (``www.reef.example:8080``). The folder is listed once, on opening: files added later are not served,
and no request can reach files outside the folder, not even through a symbolic link.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crawlproject.configuration import program
from crawlproject.errors import BadWeb, InvalidUrl
from crawlproject.extras import need
from crawlproject.options import DOCUMENT_TYPES
from crawlproject.pages.text.printable import counted
from crawlproject.records import GONE, MOVED, Failure, Reply
from crawlproject.storage.append_log import read_lines, unexpected
from crawlproject.storage.logs import ROBOTS
from crawlproject.storage.page_files import PAGES
from crawlproject.storage.read import HISTORY
from crawlproject.urls.canonical import canonical_url
from crawlproject.urls.hosts import page_path
from crawlproject.urls.post import is_post
from crawlproject.webs.base import Web, not_held, spellings
from crawlproject.webs.sample import SampleWeb

WEB_WISH = (
    "expected a WARC file (.warc, .warc.gz), a folder of <host>/<path> files, a crawl folder, or the word `sample`"
)

_NAME_CHARACTERS = "/~!$&'()*+,;=:@?%"  # characters that stay unencoded in a URL


@cache
def sample_web() -> SampleWeb:
    """The sample web, planned only once: the download handler of each scheme and the checks of a topic all open it."""
    return SampleWeb()


def open_web(name: str | Path, *, cache_dir: Path) -> Web:
    """Open the web ``name``: a WARC file, a folder of ``<host>/<path>`` files, a crawl folder, or ``sample``.

    ``cache_dir`` holds the indexes of archives, so that an archive is parsed only once; it is created if missing.
    Raises ``BadWeb`` for an unknown web.
    """
    if str(name) == "sample":
        return sample_web()
    path = Path(name)
    if path.is_dir():
        return CrawledWeb(path) if is_crawl_folder(path) else HostFolder(path)
    if path.is_file():
        need("a WARC file", "warc")
        from crawlproject.webs.warc_file import WarcWeb

        return WarcWeb(path, cache_dir=cache_dir)
    if path.exists():
        raise BadWeb(f"web {str(name)!r}", f"neither a file nor a folder; {WEB_WISH}")
    raise BadWeb(f"web {str(name)!r}", f"there is no such file or folder; {WEB_WISH}")


@dataclass(frozen=True, slots=True)
class _Visit:
    """A fetch in the history; ``md5`` is empty if no page was stored."""

    status: int
    seconds: float
    md5: str
    redirect: str
    error: str
    content_type: str


class CrawledWeb:
    """The web in the crawl folder ``root``.

    Raises ``BadWeb`` if the folder has no page files (like that of a rehearsal), ``BadCrawlDir`` for a damaged history.
    """

    def __init__(self, root: Path) -> None:
        self.warnings: Sequence[str] = ()
        self._pages = root / PAGES
        self._visits = dict(_visits(root / HISTORY))
        self._robots = dict(_robots(root / ROBOTS))
        if not any(visit.md5 and (self._pages / page_path(visit.md5)).is_file() for visit in self._visits.values()):
            raise BadWeb(f"web {str(root)!r}", f"a crawl folder without pages; expected one made by `{program} crawl`")

    def get(self, url: str) -> Reply:
        for name in spellings(url):
            if visit := self._visits.get(name):
                return self._reply(url, visit)
        return self._robots.get(url) or not_held(url)

    def urls(self) -> Iterator[str]:
        return (url for url, visit in self._visits.items() if (visit.md5 or visit.redirect) and not is_post(url))

    def __contains__(self, url: str) -> bool:
        return url in self._robots or any(name in self._visits for name in spellings(url))

    def close(self) -> None:
        """Nothing to close."""

    def _reply(self, url: str, visit: _Visit) -> Reply:
        if visit.md5:
            return self._stored(url, visit)
        if visit.redirect:
            status = visit.status if 300 <= visit.status < 400 else 301
            return Reply(url, status, {"location": visit.redirect}, seconds=visit.seconds)
        if visit.status:
            # A 2xx without a page had another content type, or must not be stored: it is served as a 410.
            return Reply(url, visit.status if visit.status >= 300 else 410, seconds=visit.seconds)
        failure: Failure = "timeout" if "timeout" in visit.error.lower() else "connection refused"
        return Reply(url, 0, seconds=visit.seconds, error=failure)

    def _stored(self, url: str, visit: _Visit) -> Reply:
        try:
            body = (self._pages / page_path(visit.md5)).read_bytes()
        except FileNotFoundError:
            return not_held(url)
        return Reply(url, visit.status, {"content-type": visit.content_type or _guessed(body)}, body, visit.seconds)


def is_crawl_folder(path: Path) -> bool:
    """Whether a folder is a crawl folder."""
    return (path / HISTORY).is_file()


def _visits(path: Path) -> Iterator[tuple[str, _Visit]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            # The remaining visits showed nothing new.
            if line.get("number", 1) == 1 or line["md5"] or line["change"] in (GONE, MOVED):
                yield str(line["url"]), _visit(line)
        except (AttributeError, KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None


def _visit(line: Any) -> _Visit:
    fields = ("redirect", "error", "content_type")  # the last one is missing in older histories
    texts = (str(line.get(name, "")) for name in fields)
    return _Visit(int(line["status"]), float(line["seconds"]), str(line["md5"]), *texts)


def _robots(path: Path) -> Iterator[tuple[str, Reply]]:
    """The versions of each robots.txt in ``robots.jsonl``, the latest last."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            named = {"content-type": str(line["content_type"]), "location": str(line["location"])}
            headers = {name: value for name, value in named.items() if value}
            body = str(line["body"]).encode("latin-1", "replace")
            yield str(line["url"]), Reply(str(line["url"]), int(line["status"]), headers, body)
        except (KeyError, TypeError, ValueError) as damage:
            raise unexpected(path, number, damage) from None


def _guessed(body: bytes) -> str:
    """HTML if it has any tag, since the crawl stored only what it could parse as a page; else plain text."""
    return "text/html" if b"<" in body else "text/plain"


class HostFolder:
    """The web in the folder at ``root``. Raises ``BadWeb`` when it contains no file of any host."""

    def __init__(self, root: Path) -> None:
        self._exact, outside = _host_files(root)
        self.warnings: Sequence[str] = [_outside(outside)] if outside else ()
        self._canonical = _by_canonical_url(self._exact)
        self._folders = _folder_redirects(self._exact)
        if not self._exact:
            raise BadWeb(f"web {str(root)!r}", "no files: expected a folder of <host>/<path> files")

    def get(self, url: str) -> Reply:
        for name in spellings(url):
            if path := self._exact.get(name) or self._canonical.get(name):
                return _file_reply(url, path)
            if target := self._folders.get(name):
                return Reply(url, 301, {"location": target})
        return not_held(url)

    def urls(self) -> Iterator[str]:
        return iter(self._exact)

    def __contains__(self, url: str) -> bool:
        return any(name in self._exact or name in self._canonical or name in self._folders for name in spellings(url))

    def close(self) -> None:
        """Nothing to close."""


def _host_files(root: Path) -> tuple[dict[str, Path], list[str]]:
    """The files of hosts by URL, and the symbolic links that lead out of the folder, whose targets are not served."""
    files: dict[str, Path] = {}
    outside: list[str] = []
    inside = root.resolve()
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            outside.append("/".join(parts))
        elif len(parts) > 1 and path.is_file():
            files["http://" + quote("/".join(parts), safe=_NAME_CHARACTERS, errors="replace")] = path
    return files, outside


def _outside(links: Sequence[str]) -> str:
    return (
        f"{counted(len(links), 'symbolic link')} out of the folder not followed, such as {links[0]}; "
        "`cp -rL` makes a folder with copies of the files"
    )


def _by_canonical_url(exact: Mapping[str, Path]) -> dict[str, Path]:
    names: dict[str, Path] = {}
    for url, path in exact.items():
        try:
            names.setdefault(canonical_url(url), path)
        except InvalidUrl:
            continue  # not a valid host name: the file is only served under its exact URL
    return names


def _folder_redirects(exact: Mapping[str, Path]) -> dict[str, str]:
    """``http://h/dir`` -> ``http://h/dir/`` for each folder with an index page."""
    indexes = (url.rpartition("/")[0] for url, path in exact.items() if path.stem == "index")
    return {folder: f"{folder}/" for folder in indexes if folder.count("/") > 2 and folder not in exact}


def _file_reply(url: str, path: Path) -> Reply:
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return not_held(url)
    except PermissionError:
        return Reply(url, 403)
    headers = {
        "content-type": _content_type(path, body),
        "last-modified": formatdate(path.stat().st_mtime, usegmt=True),
    }
    return Reply(url, 200, headers, body)


def _content_type(path: Path, body: bytes) -> str:
    name = path.name.partition("?")[0]
    guess = DOCUMENT_TYPES.get(name.rpartition(".")[2].lower()) or mimetypes.guess_type(name, strict=True)[0]
    if guess is None:
        guess = "text/html" if body[:256].lstrip().startswith(b"<") else "text/plain"
    return guess
