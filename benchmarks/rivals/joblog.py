"""The job that a rival is given, and the log of processed pages that it keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO


def read_job(path: str) -> dict[str, Any]:
    """What to crawl: ``seeds``, ``keywords``, ``proxy``, ``log``, and what else the crawler was told."""
    return dict(json.loads(Path(path).read_text("utf-8")))


class PageLog:
    """Appends a line for each processed page; it is on its way to the disk at once, since the crawler gets killed."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("a", buffering=1, encoding="utf-8")

    def note(self, url: str) -> None:
        """The page at ``url`` has been processed."""
        self._file.write(json.dumps({"url": url}) + "\n")


def logged_urls(path: Path) -> Iterator[str]:
    """The URLs in a log, in order; a last line that was cut off is left out, and there may be no log at all."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)["url"]


def processed_pages(path: Path, canonicalize: Callable[[str], str | None]) -> int:
    """How many different pages a log tells of; ``canonicalize`` gives None for what is no URL."""
    return len({canonicalize(url) for url in logged_urls(path)} - {None})
