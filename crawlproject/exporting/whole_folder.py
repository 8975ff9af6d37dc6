"""The crawl folder of several workers, whole: as the part ``workers`` merges it, where that is there."""

from __future__ import annotations

from pathlib import Path

from crawlproject.parts.registry import part_module


def whole_folder(folder: Path) -> Path:
    """Merge the folders of workers, if there are any, and return ``folder``. Raises ``BadCrawlDir`` and ``StorageFailed``."""
    if (found := part_module("workers", "merge_workers")) is not None:
        found.whole_folder(folder)
    return folder


def workers_of(folder: Path) -> list[Path]:
    """The folders of the workers in a crawl folder, by name; none if a single process crawled."""
    found = part_module("workers", "merge_workers")
    return list(found.workers_of(folder)) if found is not None else []
