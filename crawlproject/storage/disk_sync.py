"""Forces a crawl's files onto the disk at intervals, so that a power failure loses only what was written since the last time."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from threading import Event, Thread

from crawlproject.errors import StorageFailed


class PeriodicSync:
    """Every ``seconds`` seconds, a thread writes out the file system of ``folder``: page files, logs and frontier alike.

    One call for all of them costs less than one for each page file, and no files need to be listed. The order in which
    data reaches the disk does not matter: opening a crawl repairs a history that is behind the frontier, and a frontier that is
    behind the history. ``check`` raises ``StorageFailed`` if the disk has refused.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._failure: OSError | None = None
        self._ends = Event()
        self._thread = Thread(target=self._work, name="disk-sync", daemon=True)
        self._thread.start()

    def check(self) -> None:
        if self._failure is not None:
            raise StorageFailed(f"cannot force {self._folder} onto the disk: {self._failure}") from self._failure

    def stop(self) -> None:
        self._ends.set()
        self._thread.join()

    def close(self) -> None:
        """Stop the thread, and sync once more. Raises ``StorageFailed``."""
        self.stop()
        self.check()
        try:
            sync_file_system(self._folder)
        except OSError as error:
            self._failure = error
        self.check()

    def _work(self) -> None:
        while not self._ends.wait(self._seconds):
            try:
                sync_file_system(self._folder)
            except OSError as error:
                self._failure = error
                return


def sync_file_system(folder: Path) -> None:
    """Write out the file system of ``folder``, or all file systems if that is not possible. Raises ``OSError``."""
    sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None) if os.name == "posix" else None
    if sync is None:
        os.sync()
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        if sync(handle):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(handle)
