"""The WARC files of one crawl: appended to during the crawl, rotated, and repaired after ``kill -9``.

    warc/<name>-00000.warc.gz     records, each a gzip member
    warc/records.jsonl            a line for each response: where it is

The records of an exchange are one write, and their line in ``records.jsonl`` commits them. Uncommitted bytes of a killed
process are cut off when the folder is opened again. ``warnings`` lists these and all other losses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from crawlproject.errors import StorageFailed, trying_to
from crawlproject.storage.append_log import AppendLog
from crawlproject.storage.warc.capture import ArchivedPayloads, capture
from crawlproject.storage.warc.index import INDEX, mend_index, read_entries
from crawlproject.storage.warc.record import Exchange, WrittenRecord, identity_of, joined

Describe = Callable[[str, str], WrittenRecord]  # file name and URN -> the warcinfo record of the file


class WarcFiles:
    """Appends exchanges to the files in ``folder``, and starts a new file when one reaches ``max_bytes``.

    ``describe`` makes the first record of a file; ``seed`` is a string unique to the crawl. The lock of the crawl folder
    allows only one process. Raises ``StorageFailed``, and ``BadCrawlDir`` for a damaged ``records.jsonl``.
    """

    def __init__(self, folder: Path, name: str, describe: Describe, *, seed: str, max_bytes: int) -> None:
        self.folder = folder
        self.originals = ArchivedPayloads()
        self._name = name
        self._describe = describe
        self._seed = seed
        self._max_bytes = max_bytes
        self._file = -1
        self._size = 0
        self._beyond = 0  # bytes that were cut off the file when it was opened
        self.warnings = mend_index(folder)
        self._log = AppendLog(folder / INDEX)
        last = None
        for last in read_entries(folder):
            self.originals.note(last)
        if last is not None and last.file.startswith(f"{name}-"):
            self._number = _number(last.file)
            self._open_file(last.end)
            if beyond := self._beyond:
                told = f"{self._path}: {beyond} bytes from byte {last.end} on, which are not in {INDEX}, were cut off"
                self.warnings.append(told)
            for path in sorted(folder.glob(f"{name}-*.warc.gz")):
                if _number(path.name) > self._number:
                    self.warnings.append(f"{path}, which is not in {INDEX}, will be overwritten")
        else:  # files without a line in the index are not ours and stay unchanged
            self._number = max(map(_number, (path.name for path in folder.glob("*.warc.gz"))), default=-1)

    def append(self, exchange: Exchange, key: str = "", about: Sequence[tuple[str, str]] = ()) -> None:
        """Write the records of an exchange and the line that commits them; ``about`` is as in ``capture``."""
        if self._file < 0 or self._size >= self._max_bytes:
            self._begin_file()
        records, entry = capture(
            exchange,
            self.originals,
            file=self._path.name,
            offset=self._size,
            warcinfo=self._warcinfo,
            key=key,
            about=about,
        )
        self._write(joined(records))
        self._log.append(entry)

    def close(self) -> None:
        """Sync the files to the disk and close them."""
        try:
            with trying_to("write to", self._path):
                if self._file >= 0:
                    os.fsync(self._file)
            self._log.sync()
        finally:
            self._close_file()
            self._log.close()

    @property
    def _path(self) -> Path:
        return self.folder / f"{self._name}-{self._number:05}.warc.gz"

    @property
    def _warcinfo(self) -> str:
        return identity_of(self._seed, self._path.name)

    def _begin_file(self) -> None:
        self._close_file()
        self._number += 1
        self._open_file(0)
        self._write(self._describe(self._path.name, self._warcinfo).data)

    def _open_file(self, size: int) -> None:
        """Continue after ``size`` bytes. The bytes after them were never committed."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            self._beyond = os.fstat(self._file).st_size - size
            os.ftruncate(self._file, size)
        except OSError as error:
            self._close_file()
            raise StorageFailed(f"cannot open {self._path} for writing: {error}") from error
        self._size = size

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, data: bytes) -> None:
        try:
            if os.pwrite(self._file, data, self._size) != len(data):
                raise OSError("the write was incomplete (is the disk full?)")
        except OSError as error:
            with suppress(OSError):  # the incomplete bytes are cut off when the folder is opened again
                os.ftruncate(self._file, self._size)
            raise StorageFailed(f"cannot write to {self._path}: {error}") from error
        self._size += len(data)


def _number(name: str) -> int:
    number = name.removesuffix(".warc.gz").rpartition("-")[2]
    return int(number) if number.isdigit() else -1
