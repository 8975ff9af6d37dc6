"""The job of a rival, and the log of processed pages that it keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO


def read_job(path: str) -> dict[str, Any]:
    """Read a job: ``seeds``, ``keywords``, ``proxy``, ``log``, and the other options of the crawler."""
    return dict(json.loads(Path(path).read_text("utf-8")))


class PageLog:
    """Appends a line for each processed page and flushes it at once, because the crawler gets killed."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("a", buffering=1, encoding="utf-8")

    def note(self, url: str) -> None:
        """Record that the page at ``url`` has been processed."""
        self._file.write(json.dumps({"url": url}) + "\n")


def logged_urls(path: Path) -> Iterator[str]:
    """The URLs in a log, in order; a truncated last line is ignored, and a missing log is empty."""
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)["url"]


def processed_pages(path: Path, canonicalize: Callable[[str], str | None]) -> int:
    """The number of different pages in a log; ``canonicalize`` returns None for an invalid URL."""
    return len({canonicalize(url) for url in logged_urls(path)} - {None})
