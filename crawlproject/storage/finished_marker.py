"""``finished.json``: a small file that exists exactly while the crawl in the folder is complete.

Other programs can wait for this file: it is written last, atomically, and removed when the crawl resumes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import StorageFailed
from crawlproject.storage.append_log import write_atomically

MARKER = "finished.json"
VERSION = 1


def write_marker(folder: Path, manifest: Mapping[str, Any], now: float) -> Path:
    """Write the marker from the manifest of the ended crawl; ``now`` in seconds since the epoch. Raises ``StorageFailed``."""
    stats = manifest["stats"]
    found = {
        "version": VERSION,
        "topic": manifest["topic"]["name"],
        "ordering": manifest["ordering"],
        "reason": manifest["reason"],
        "finished": now,
        "pages": stats.get("history/pages", 0),
        "fetches": stats.get("history/fetches", 0),
        "errors": stats.get("history/errors", 0),
        "waiting": stats.get("frontier/waiting", 0),
    }
    path = folder / MARKER
    write_atomically(path, [orjson.dumps(found, option=orjson.OPT_INDENT_2), b"\n"])
    return path


def clear_marker(folder: Path) -> None:
    """Remove the marker. Raises ``StorageFailed``."""
    try:
        (folder / MARKER).unlink(missing_ok=True)
    except OSError as error:
        raise StorageFailed(f"cannot remove {folder / MARKER}: {error}") from error
