"""``probes.jsonl``: what second looks at pages and hosts found, one line a fetch. A resumed crawl learns it again from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawlproject.appendlog import AppendLog, read_lines

NAME = "probes.jsonl"


class ProbeLog:
    """Lines in the order in which probes ended. The file is made with its first line. Raises ``StorageFailed``."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._log: AppendLog | None = AppendLog(self._path) if self._path.exists() else None

    def append(self, record: Any) -> None:
        """Note a step of a probe: a dataclass."""
        self._log = self._log or AppendLog(self._path)
        self._log.append(record)

    def close(self) -> None:
        if self._log:
            self._log.close()
            self._log = None


def read_probe_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The lines of a crawl folder, in order. Raises ``BadCrawlDir``."""
    return read_lines(folder / NAME)
