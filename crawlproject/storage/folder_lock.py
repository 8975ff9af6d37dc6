"""One process at a time in a folder: two that write the same journal would destroy each other's."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from crawlproject.errors import BadCrawlDir, StorageFailed

NAME = "lock"


class FolderLock:
    """Holds ``folder`` for this process until ``close`` or until the process ends, however it ends.

    The lock is the kernel's, on the file ``lock``, which also tells the number of the process; the file stays. A process
    may open a folder again that it holds. Raises ``BadCrawlDir`` when another process holds it, and ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageFailed(f"cannot open {path} for writing: {error}") from error
        if not _locked(self._file):
            self.close()
            wish = "wait until it has ended, or choose another folder"
            raise BadCrawlDir(str(folder), f"in use by process {_holder(path)}; {wish}")
        with suppress(OSError):  # a full disk: the lock holds without the number
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let the folder go; idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def holder_of(folder: Path) -> str | None:
    """The number of the other process that holds ``folder``; None when nobody does. Nothing is written."""
    path = folder / NAME
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _locked(file) else _holder(path)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Whether the lock is ours now. On a file system without locks nothing can be known, and the crawl goes on."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        return refused.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _holder(path: Path) -> str:
    try:
        return path.read_text().strip() or "unknown"
    except (OSError, UnicodeDecodeError):
        return "unknown"
