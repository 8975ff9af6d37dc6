"""Guards against overwriting: no output replaces the files of a crawl, and a crawl replaces only its own files.

A lock lets one process at a time write to a folder. ``finished.json`` is a small file that exists exactly while the crawl in
the folder is complete. Other programs can wait for it: it is written last, atomically, and removed when the crawl
resumes.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed, trying_to
from crawlproject.storage.append_log import write_atomically

MANIFEST = "crawl.json"
PROBES = "probes.jsonl"
SITEMAPS = "sitemaps.jsonl"
TOPICS = "topics.jsonl"
REPORT = "report.html"
SIGNS = (b'<meta name="generator" content="topical crawler">',)
REPORT_SIGNS = (*SIGNS, " – crawl report</title>".encode())  # the latter is that of older reports
LOCK = "lock"
MARKER = "finished.json"
MARKER_VERSION = 1

_BEGINNING = 4_096  # bytes at the start of a file among which a sign must be
_LOGS = (
    "answers.jsonl",
    "changes.jsonl",
    "earlier.jsonl",
    "history.jsonl",
    "items.jsonl",
    "judgments.jsonl",
    "links.jsonl",
    PROBES,
    "refused.json",
    "robots.jsonl",
    "rules.jsonl",
    "searches.jsonl",
    SITEMAPS,
    "sketches.jsonl",
    TOPICS,
    "websub.jsonl",
)
_FILES = frozenset(_LOGS) | {
    MANIFEST,
    REPORT,
    "agents.json",
    "bodies.sqlite",
    "collection.sqlite",
    "console.log",
    "crawl.json.damaged",
    "dashboard.json",
    "export",
    "finished.json",
    "frontier",
    "index",
    "items.sums",
    "learned",
    "learned.ordering",
    "lock",
    "merged",
    "mirror.json",
    "pages",
    "report.json",
    "segments",
    "sketches.others.jsonl",
    "topic.toml",
    "topics",
    "view.json",
    "warc",
    "workers",
}


def refuse_crawl_file(target: Path, *, crawl_dir: Path | None = None) -> None:
    """Raise ``BadInput`` if ``target`` is a file of a crawl: of ``crawl_dir``, which need not exist yet, or of any other."""
    place = target.parent.resolve() / target.name
    own = crawl_dir.resolve() if crawl_dir else None
    for folder in place.parents:
        first = place.relative_to(folder).parts[0]
        if first in _FILES and (folder == own or (folder / MANIFEST).is_file()):
            raise BadInput(str(target), f"is for the crawl in {folder}; choose another name")


def refuse_target(target: Path) -> None:
    """Raise ``BadInput`` if a command must not write a file to ``target``: it is a folder, or a file of a crawl."""
    if target.is_dir():
        raise BadInput(str(target), "expected the name of a file, not a folder")
    refuse_crawl_file(target)


def refuse_foreign_files(folder: Path) -> None:
    """Raise ``BadCrawlDir`` if a crawl in ``folder`` would overwrite files that are not a crawl's."""
    if not (folder / MANIFEST).exists():
        for name in _LOGS:
            path = folder / name
            if path.is_file() and path.stat().st_size:
                wish = f"holds {name}, but no {MANIFEST}: choose another folder, or restore the file (an empty one is enough)"
                raise BadCrawlDir(str(folder), wish)
    refuse_unsigned(folder / REPORT, REPORT_SIGNS)


def refuse_unsigned(path: Path, signs: tuple[bytes, ...]) -> None:
    """Raise ``BadInput`` if there is a file at ``path`` without one of our ``signs`` near its beginning."""
    try:
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error}") from error
    if beginning and not any(sign in beginning for sign in signs):
        raise BadInput(str(path), "was not written by this crawler and would be lost; move it away")


def replace_signed(path: Path, content: bytes, signs: tuple[bytes, ...]) -> None:
    """Write a file. Replace an earlier one only if it is ours. Raises ``BadInput`` and ``StorageFailed``."""
    refuse_unsigned(path, signs)
    write_atomically(path, [content], sync=False)


class FolderLock:
    """Holds ``folder`` for this process until ``close`` or until the process ends, however it ends.

    The lock is a kernel lock on the file ``lock``, which also contains the process id. The file stays, unless the crawl is
    refused before it begins (``withdraw``). Raises ``BadCrawlDir`` when this or another process holds the lock already, and
    ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self._path = path = folder / LOCK
        with trying_to("open", f"{path} for writing"):
            folder.mkdir(parents=True, exist_ok=True)
            self._is_new = not path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not _locked(self._file) or not _is_at(path, self._file):  # if not there, its owner has just withdrawn it
            self.close()
            wish = "wait until it has ended, or choose another folder"
            raise BadCrawlDir(str(folder), f"in use by process {_holder(path)}; {wish}")
        with suppress(OSError):  # on a full disk the lock works without the process id
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def withdraw(self) -> None:
        """Release the lock of a refused crawl, and remove the file if this lock created it."""
        if self._file >= 0 and self._is_new:
            with suppress(OSError):
                self._path.unlink()
        self.close()

    def close(self) -> None:
        """Release the lock; idempotent."""
        if self._file >= 0:
            with suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_UN)  # otherwise a fork of this process would still hold it
            os.close(self._file)
            self._file = -1


def holder_of(folder: Path) -> str | None:
    """The id of the process that holds ``folder``, which may be this one, or None. Writes nothing."""
    path = folder / LOCK
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _locked(file) else _holder(path)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Try to take the lock; return success. On a file system without locks, the crawl runs unlocked.

    ``flock`` ties the lock to the open file. ``lockf`` would tie it to the process, which loses it on closing any file here.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        return refused.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _is_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _holder(path: Path) -> str:
    try:
        return path.read_text().strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"


def write_marker(folder: Path, manifest: Mapping[str, Any], now: float) -> Path:
    """Write the marker from the manifest of the ended crawl; ``now`` in seconds since the epoch. Raises ``StorageFailed``."""
    stats = manifest["stats"]
    found = {
        "version": MARKER_VERSION,
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
    with trying_to("remove", folder / MARKER):
        (folder / MARKER).unlink(missing_ok=True)
