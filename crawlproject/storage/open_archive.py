"""Opens the archive of a crawl folder and adds the pages that are missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from crawlproject.records import Topic, Visit
from crawlproject.storage.append_log import read_lines
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.page_files import stored_body
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
    again = archive.repair(_visits(folder.path / "history.jsonl"))
    if archive.warnings:
        folder.warnings += [*archive.warnings, f"stored pages that were archived again: {again}"]
    return archive


def _visits(path: Path) -> Iterator[Visit]:
    known = frozenset(Visit.__dataclass_fields__)
    for line in read_lines(path):
        yield Visit(**{name: value for name, value in line.items() if name in known})
