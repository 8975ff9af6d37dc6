"""Report and map of a crawl folder as the dashboard serves them, each with the content security policy that it needs."""

from __future__ import annotations

from pathlib import Path

from crawlproject.errors import StorageFailed
from crawlproject.reports.report import write_report
from crawlproject.storage.crawl_files import REPORT

REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAP_NODES = 1_500


def report_page(folder: Path) -> tuple[bytes, str]:
    """The report and its policy; written again when the history has grown. Raises ``BadCrawlDir`` and ``StorageFailed``."""
    path = folder / REPORT
    if _age(path) < _age(folder / "history.jsonl"):
        path = write_report(folder)
    try:
        return path.read_bytes(), REPORT_POLICY
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error}") from error


def map_page(folder: Path) -> tuple[bytes, str]:
    """The map of the crawl and its policy. Raises ``BadCrawlDir``."""
    from crawlproject.reports.map import map_html
    from crawlproject.reports.map_data import read_map

    return map_html(read_map(folder, limit=MAP_NODES))


def _age(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1
