"""Opens the archive of a crawl folder and adds the pages that are missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from crawlproject.records import Topic
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.page_files import stored_body
from crawlproject.storage.read import read_visits
from crawlproject.storage.warc.archive import CrawlArchive, about


def open_archive(
    folder: CrawlFolder,
    topic: Topic,
    settings: Mapping[str, Any],
    *,
    worker: str,
    max_bytes: int,
    clock: Callable[[], float],
) -> CrawlArchive:
    """Open the archive in ``folder`` and complete it. Raises ``StorageFailed`` and ``BadCrawlDir``."""
    manifest = folder.manifest.found
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", f"{topic.name}-{worker}" if worker else topic.name)[:80]
    archive = CrawlArchive(
        folder.path,
        name,
        about(topic, settings, str(manifest["ordering"])),
        lambda visit: stored_body(folder.pages.folder, visit),
        clock=clock,
        seed=f"{topic.name}\n{worker}\n{manifest['started']}",
        max_bytes=max_bytes,
    )
    again = archive.repair(read_visits(folder.path))
    if archive.warnings:
        folder.warnings += [*archive.warnings, f"stored pages that were archived again: {again}"]
    return archive
