"""The page repository: one file per page, named by the MD5 of its canonical URL (paper 000 section 2.2); and ``items.jsonl``: one
line per stored page, for full-text indexes.

``item.schema.json`` beside this file defines the fields, as a JSON Schema (draft 2020-12). A page that changed has one line for
each version. A page that no longer belongs to the crawl has a line whose ``state`` says why. The last line of a URL counts. A
page that ``replaces`` another URL makes the page in that URL's earlier lines a duplicate.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import md5
from importlib.resources import files
from io import FileIO
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import StorageFailed
from crawlproject.records import RENDERED, Page, Visit
from crawlproject.urls.hosts import page_name, page_path

PAGES = "pages"  # the folder, in a crawl folder

Bring = Callable[[str], object]
_brought: dict[Path, Bring] = {}


def bring_pages(folder: Path, bring: Bring) -> None:
    """From now on, before a missing page file of ``folder`` is read, ``bring(name)`` is called to write it."""
    _brought[folder] = bring


def _brought_to(folder: Path, name: str) -> Path:
    """The path of a page file, after it was brought if possible."""
    path = folder / page_path(name)
    if _brought and folder in _brought and not path.exists():
        _brought[folder](name)
    return path


class PageRepository:
    """Bodies as received (after decompression) under ``folder/<2 hex>/<2 hex>/<32 hex>``.

    Files are written under a temporary name and renamed, so none is ever incomplete. Storing a page again replaces it. The last
    ``versions - 1`` earlier versions stay beside it, with the version number appended to their names, such as ``.3``. The
    previous version also stays until the new one is in the history (``settle``): after a killed crawl, the file may be newer.
    """

    def __init__(self, folder: Path, *, versions: int = 1) -> None:
        self.folder = folder
        self._earlier = versions - 1

    def path(self, url: str) -> Path:
        """The path of the page of the canonical ``url``, whether it exists or not."""
        return self.folder / page_path(page_name(url))

    def store(self, url: str, body: bytes, replaced: int = 0) -> str:
        """Write the page; return its name (32 hex digits). ``replaced`` is the version that it replaces, 0 for none.

        Raises ``StorageFailed``.
        """
        name = page_name(url)
        place = f"{self.folder}/{page_path(name)}"
        draft = f"{place}.tmp"
        try:
            with self._opened(draft) as file:
                if file.write(body) != len(body):
                    raise OSError("the write was incomplete (is the disk full?)")
            if replaced:
                _keep(place, replaced)
            os.replace(draft, place)
        except OSError as error:
            with suppress(OSError):
                os.unlink(draft)
            raise StorageFailed(f"cannot store the page {url} as {place}: {error}") from error
        return name

    def settle(self, url: str, replaced: int) -> None:
        """The version after ``replaced`` is in the history: remove the versions that need not be kept."""
        for number, path in self.versions(url).items():
            if number <= replaced - self._earlier:
                path.unlink(missing_ok=True)

    def load(self, url: str, digest: str = "") -> bytes:
        """The stored body. Raises ``FileNotFoundError`` for a page that was never stored, or whose file is damaged.

        The file is damaged if its MD5 is not ``digest`` (empty: not compared).
        """
        path = _brought_to(self.folder, page_name(url))
        body = _read(path)
        if not digest or _digest(body) == digest:
            return body
        for earlier in self.versions(url).values():  # a killed crawl may have stored the next version
            if _digest(body := _read(earlier)) == digest:
                return body
        if self.folder in _brought:  # it was damaged here only
            path.unlink(missing_ok=True)
            if _digest(body := _read(_brought_to(self.folder, page_name(url)))) == digest:
                return body
        raise FileNotFoundError(f"{path} was damaged: its bytes are not those that were stored")

    def load_version(self, url: str, version: int) -> bytes:
        """The body of ``version``, the latest that the history knows. Raises ``FileNotFoundError`` if it was never stored."""
        path = _brought_to(self.folder, page_name(url))
        with suppress(FileNotFoundError):
            return _read(path.with_name(f"{path.name}.{version}"))
        return _read(path)

    def versions(self, url: str) -> dict[int, Path]:
        """The earlier versions that are kept, by number."""
        path = _brought_to(self.folder, page_name(url))
        found = {each.name.partition(".")[2]: each for each in path.parent.glob(f"{path.name}.*")}
        return {int(number): each for number, each in found.items() if number.isdigit()}

    def __contains__(self, url: str) -> bool:
        return _brought_to(self.folder, page_name(url)).exists()

    def _opened(self, draft: str) -> FileIO:
        """Open the file for writing; create its folder if needed."""
        try:
            return open(draft, "wb", buffering=0)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(draft), exist_ok=True)
            return open(draft, "wb", buffering=0)


def stored_body(folder: Path, visit: Visit) -> bytes:
    """The body that a visit stored below ``folder``. Raises ``FileNotFoundError`` if that version no longer exists."""
    path = _brought_to(folder, visit.md5)
    for place in (path.with_name(f"{path.name}.{visit.version}"), path):
        if place.exists():
            body = _read(place)
            if not visit.digest or _digest(body) == visit.digest:
                return body
    raise FileNotFoundError(path)


def _keep(place: str, version: int) -> None:
    """Keep the file that is about to be replaced, unless a killed crawl has kept it already, or there is none."""
    kept = f"{place}.{version}"
    if os.path.exists(kept):
        return
    with suppress(FileNotFoundError):
        try:
            os.link(place, kept)
        except FileNotFoundError:
            raise
        except OSError:  # no hard links on this file system
            os.replace(place, kept)


def _read(path: Path) -> bytes:
    """Read a page file. Raises ``StorageFailed`` when the disk fails, the usual errors for one that is not there or forbidden."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, PermissionError):
        raise
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error}") from error


def _digest(body: bytes) -> str:
    return md5(body, usedforsecurity=False).hexdigest()


def item_schema() -> dict[str, Any]:
    """The JSON Schema of a line. Its ``properties`` are in the order of the fields."""
    schema: dict[str, Any] = orjson.loads(files(__package__).joinpath("item.schema.json").read_bytes())
    return schema


def item_fields(page: Page, visit: Visit) -> dict[str, object]:
    """The item of a page, a line of ``items.jsonl``, with the same fields as in Scrapy's feed exports."""
    return {
        "url": page.url,
        "title": page.title,
        "text": _lines_with_text(page.text),
        "text_main": page.text_main(),
        "language": page.language,
        "relevance": page.relevance,
        "score": visit.score,
        "depth": visit.depth,
        "parent": visit.parent,
        "anchor": visit.anchor,
        "context_score": visit.context_score,
        "status": visit.status,
        "at": visit.at,
        "md5": visit.md5,
        "published": page.published,
        "author": page.author,
        "license": page.license,
        "reserved": page.reserved,
        "parts": visit.parts,
        "duplicate_of": visit.duplicate_of if visit.is_left_out else "",
        "replaces": visit.replaces,
        "spam": visit.spam,
        "digest": visit.digest,
        "content_type": visit.content_type,
        "rendered": RENDERED in visit.signs,
        "topics": page.topics,
        "version": visit.version,
        "state": "",
    }


def withdrawn(url: str, at: float, version: int, state: str) -> dict[str, object]:
    """The item that withdraws a page; ``state`` says why: ``gone``, ``moved`` or ``retired``."""
    return {**item_fields(Page(url), Visit(url, 0, at, md5=page_name(url), version=version)), "state": state}


@lru_cache(maxsize=1)
def _lines_with_text(text: str) -> str:
    """``text`` without empty lines (markup leaves many) and without white space at the ends of lines.

    Called twice in succession: for feed exports, and for the file.
    """
    return "\n".join(filter(None, map(str.strip, text.split("\n"))))
