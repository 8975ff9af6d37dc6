"""A folder of ``<host>/<path>`` files as a web, the layout of ``wget --mirror``.

``www.reef.example/corals/index.html`` is served as ``http://www.reef.example/corals/index.html`` and as
``http://www.reef.example/corals/``; ``http://www.reef.example/corals`` redirects to the latter. A file name may hold
a query (``list?page=2``), and a host name may include a port (``www.reef.example:8080``). The folder is listed once, on
opening: files added later are not served, and no request can reach files outside it.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from email.utils import formatdate
from pathlib import Path
from urllib.parse import quote

from crawlproject.errors import BadWeb, InvalidUrl
from crawlproject.records import Reply
from crawlproject.urls.canonical import canonical_url
from crawlproject.webs.base import not_held, spellings

_NAME_CHARACTERS = "/~!$&'()*+,;=:@?%"  # characters that stay unencoded in a URL


class HostFolder:
    """The web in the folder at ``root``. Raises ``BadWeb`` when it contains no file of any host."""

    def __init__(self, root: Path) -> None:
        self.warnings: Sequence[str] = ()
        self._exact = dict(_host_files(root))
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


def _host_files(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if len(parts) > 1 and path.is_file():
            yield "http://" + quote("/".join(parts), safe=_NAME_CHARACTERS, errors="replace"), path


def _by_canonical_url(exact: Mapping[str, Path]) -> dict[str, Path]:
    names: dict[str, Path] = {}
    for url, path in exact.items():
        try:
            names.setdefault(canonical_url(url), path)
        except InvalidUrl:
            continue  # not a valid host name: files keep their exact names
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
    guess, _ = mimetypes.guess_type(path.name.partition("?")[0], strict=True)
    if guess is None:
        guess = "text/html" if body[:256].lstrip().startswith(b"<") else "text/plain"
    return guess
