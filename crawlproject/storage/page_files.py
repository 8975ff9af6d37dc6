"""The page repository: one file per page, named by the MD5 of its canonical URL (paper 000 section 2.2)."""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from crawlproject.errors import StorageFailed
from crawlproject.urls.naming import page_name, page_path


class PageRepository:
    """Bodies as received (after decompression) under ``folder/<2 hex>/<2 hex>/<32 hex>``.

    Files are written under a temporary name and renamed, so none is ever incomplete. Storing a page again replaces it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, url: str) -> Path:
        """The path of the page of the canonical ``url``, whether it exists or not."""
        return self.folder / page_path(page_name(url))

    def store(self, url: str, body: bytes) -> str:
        """Write the page; return its name (32 hex digits). Raises ``StorageFailed``."""
        name = page_name(url)
        place = f"{self.folder}/{page_path(name)}"
        draft = f"{place}.tmp"
        try:
            with self._opened(draft) as file:
                if file.write(body) != len(body):
                    raise OSError("the write was incomplete (is the disk full?)")
            os.replace(draft, place)
        except OSError as error:
            with suppress(OSError):
                os.unlink(draft)
            raise StorageFailed(f"cannot store the page {url} as {place}: {error}") from error
        return name

    def load(self, url: str) -> bytes:
        """The stored body. Raises ``FileNotFoundError`` for a page that was never stored."""
        return self.path(url).read_bytes()

    def __contains__(self, url: str) -> bool:
        return self.path(url).exists()

    def _opened(self, draft: str) -> FileIO:
        """Open the file for writing; create its folder if needed."""
        try:
            return open(draft, "wb", buffering=0)
        except FileNotFoundError:
            _make_folder(os.path.dirname(draft))
            return open(draft, "wb", buffering=0)


def _make_folder(folder: str) -> None:
    try:
        os.mkdir(folder)
    except FileNotFoundError:  # the one above is not there either
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        pass
