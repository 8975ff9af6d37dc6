"""The page repository: one file per page, named by the MD5 of its canonical URL (paper 000 section 2.2)."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import md5
from io import FileIO
from pathlib import Path

from crawlproject.errors import StorageFailed
from crawlproject.records import Visit
from crawlproject.urls.naming import page_name, page_path

PAGES = "pages"  # the folder, in a crawl folder


class PageRepository:
    """Bodies as received (after decompression) under ``folder/<2 hex>/<2 hex>/<32 hex>``.

    Files are written under a temporary name and renamed, so none is ever incomplete. Storing a page again replaces it. Of its
    earlier versions the last ``versions - 1`` stay beside it, with the number of the version behind their name: ``.3``.
    """

    def __init__(self, folder: Path, *, versions: int = 1) -> None:
        self.folder = folder
        self._earlier = versions - 1

    def path(self, url: str) -> Path:
        """The path of the page of the canonical ``url``, whether it exists or not."""
        return self.folder / page_path(page_name(url))

    def store(self, url: str, body: bytes, replaced: int = 0) -> str:
        """Write the page; return its name (32 hex digits). ``replaced`` is the version that is there, 0 for none.

        Raises ``StorageFailed``.
        """
        name = page_name(url)
        place = f"{self.folder}/{page_path(name)}"
        draft = f"{place}.tmp"
        try:
            with self._opened(draft) as file:
                if file.write(body) != len(body):
                    raise OSError("the write was incomplete (is the disk full?)")
            if replaced and self._earlier:
                self._keep_earlier(place, replaced)
            os.replace(draft, place)
        except OSError as error:
            with suppress(OSError):
                os.unlink(draft)
            raise StorageFailed(f"cannot store the page {url} as {place}: {error}") from error
        return name

    def load(self, url: str) -> bytes:
        """The stored body. Raises ``FileNotFoundError`` for a page that was never stored."""
        return self.path(url).read_bytes()

    def versions(self, url: str) -> dict[int, Path]:
        """The earlier versions that were kept, by number."""
        path = self.path(url)
        found = {each.name.partition(".")[2]: each for each in path.parent.glob(f"{path.name}.*")}
        return {int(number): each for number, each in found.items() if number.isdigit()}

    def _keep_earlier(self, place: str, version: int) -> None:
        with suppress(FileNotFoundError):  # there was none after all
            with suppress(FileExistsError):  # a crawl that was killed has kept it
                os.link(place, f"{place}.{version}")
            os.unlink(f"{place}.{version - self._earlier}")

    def __contains__(self, url: str) -> bool:
        return self.path(url).exists()

    def _opened(self, draft: str) -> FileIO:
        """Open the file for writing; create its folder if needed."""
        try:
            return open(draft, "wb", buffering=0)
        except FileNotFoundError:
            _make_folder(os.path.dirname(draft))
            return open(draft, "wb", buffering=0)


def stored_body(folder: Path, visit: Visit) -> bytes:
    """The body that a visit stored below ``folder``. Raises ``FileNotFoundError`` when that version is not there any more."""
    path = folder / page_path(visit.md5)
    for place in (path.with_name(f"{path.name}.{visit.version}"), path):
        if place.exists():
            body = place.read_bytes()
            if not visit.digest or md5(body, usedforsecurity=False).hexdigest() == visit.digest:
                return body
    raise FileNotFoundError(path)


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder)
    except FileNotFoundError:  # the one above is not there either
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        pass
