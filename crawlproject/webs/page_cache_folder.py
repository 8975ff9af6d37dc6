"""Where the read pages of a web are kept between rehearsals, and what makes them out of date."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from crawlproject.webs.page_store import PageStore

# The code that turns bytes into a page: when any of it changes, pages are read anew.
_READERS = (
    "pages",
    "pages/html",
    "pages/text",
    "urls",
    "records.py",
    "webs/page_format.py",
    "webs/page_store.py",
)
_LIBRARIES = ("ada-url", "lxml", "PyStemmer", "spacy", "spacy-lookups-data", "w3lib")


class PageCacheFolder:
    """The page stores of one web in ``folder``, one for each language and each set of reading settings.

    ``web`` is the name by which the web was opened: a file or a folder.
    """

    def __init__(self, folder: Path, web: str) -> None:
        self._folder = folder
        self._web = Path(web)

    def store(self, language: str, settings: str) -> PageStore | None:
        """The pages as ``language`` and the reading ``settings`` (as text) read them; None for a web without files.

        A store replaces an older one of the same web, so a web that changes does not leave a trail of files.
        """
        if not self._web.exists():
            return None
        name = _digest([str(self._web.resolve()), language, settings])
        stamp = _digest([*fingerprint(self._web), code_version()])
        return PageStore(self._folder / f"{self._web.name}.{name[:16]}.pages", stamp)


def fingerprint(web: Path) -> Iterator[str]:
    """Size and time of change of a web's file, or of each file of its folder."""
    files = sorted(path for path in web.rglob("*") if path.is_file()) if web.is_dir() else [web]
    for path in files:
        stat = path.stat()
        yield f"{path.relative_to(web)} {stat.st_size} {stat.st_mtime_ns}"


@cache
def code_version() -> str:
    """A digest of the source that reads pages and of the libraries it uses."""
    package = resources.files("crawlproject")
    sources = [file.read_bytes().decode() for name in _READERS for file in _sources(package.joinpath(name))]
    return _digest([*sources, *map(_version, _LIBRARIES)])


def _sources(place: Traversable) -> list[Traversable]:
    if place.is_file():
        return [place]
    return sorted((file for file in place.iterdir() if file.name.endswith(".py")), key=lambda file: file.name)


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
