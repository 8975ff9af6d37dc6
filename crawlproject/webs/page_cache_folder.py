"""The folder that caches the parsed pages of a web between rehearsals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from crawlproject.webs.page_store import PageStore

# The code that parses pages: when any of it changes, pages are parsed again.
_READERS = ("pages", "pages/html", "pages/text", "urls", "records.py", "webs/page_format.py", "webs/page_store.py")
_LIBRARIES = ("ada-url", "lxml", "PyStemmer", "spacy", "spacy-lookups-data", "w3lib")


class PageCacheFolder:
    """The page stores of one web in ``folder``, one per language and set of parser settings.

    ``web`` is the name of the web: a file or a folder.
    """

    def __init__(self, folder: Path, web: str) -> None:
        self._folder = folder
        self._web = Path(web)

    def store(self, language: str, settings: str) -> PageStore | None:
        """The store for ``language`` and the parser ``settings`` (as text); None for a web without files.

        A store replaces older ones of the same web, so that they do not pile up when the web changes.
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
