"""A lock that lets one process at a time write to a folder."""

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

    It is a kernel lock on the file ``lock``, which also contains the process id and stays behind, unless the crawl is refused
    before it begins (``withdraw``). A process may lock a folder twice. Raises ``BadCrawlDir`` when another process holds the
    lock, and ``StorageFailed``.
    """

    def __init__(self, folder: Path) -> None:
        self._path = path = folder / NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._is_new = not path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageFailed(f"cannot open {path} for writing: {error}") from error
        if not _locked(self._file) or not _is_at(path, self._file):  # else somebody has just withdrawn it
            self.close()
            wish = "wait until it has ended, or choose another folder"
            raise BadCrawlDir(str(folder), f"in use by process {_holder(path)}; {wish}")
        with suppress(OSError):  # on a full disk the lock works without the process id
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def withdraw(self) -> None:
        """Release the lock of a crawl that is refused, and leave no file where there was none."""
        if self._file >= 0 and self._is_new:
            with suppress(OSError):
                self._path.unlink()
        self.close()

    def close(self) -> None:
        """Release the lock; idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def holder_of(folder: Path) -> str | None:
    """The id of another process that holds ``folder``, or None. Writes nothing."""
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
    """Try to take the lock; return success. On a file system without locks, the crawl runs unlocked."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
