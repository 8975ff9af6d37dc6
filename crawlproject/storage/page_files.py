"""The page repository: one file a page, named by the MD5 of its canonical URL (paper 000 section 2.2)."""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from crawlproject.errors import StorageFailed
from crawlproject.urls.naming import page_name, page_path


class PageRepository:
    """Bodies as received (after decompression) under ``folder/<2 hex>/<2 hex>/<32 hex>``.

    A file appears whole or not at all: it is written beside its place and renamed. Storing a page again replaces it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, url: str) -> Path:
        """Where the page of the canonical ``url`` is, or would be."""
        return self.folder / page_path(page_name(url))

    def store(self, url: str, body: bytes) -> str:
        """Write the page; its name (32 hex digits). Raises ``StorageFailed``."""
        name = page_name(url)
        place = f"{self.folder}/{page_path(name)}"
        draft = f"{place}.tmp"
        try:
            with self._opened(draft) as file:
                if file.write(body) != len(body):
                    raise OSError("the disk took only a part of it (is it full?)")
            os.replace(draft, place)
        except OSError as error:
            with suppress(OSError):
                os.unlink(draft)
            raise StorageFailed(f"cannot store the page {url} as {place}: {error}") from error
        return name

    def load(self, url: str) -> bytes:
        """The stored body; ``FileNotFoundError`` when the page was never stored."""
        return self.path(url).read_bytes()

    def __contains__(self, url: str) -> bool:
        return self.path(url).exists()

    def _opened(self, draft: str) -> FileIO:
        """The file, opened for writing; its folder is made when there is none yet."""
        try:
            return open(draft, "wb", buffering=0)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(draft), exist_ok=True)
            return open(draft, "wb", buffering=0)
