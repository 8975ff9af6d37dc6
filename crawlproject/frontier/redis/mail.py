"""What workers send each other about hosts: the owner of a host puts its URLs into its own frontier, whoever has found them.

A letter is a list for JSON: a change of a frontier (``changes.py``), or one of those below. It may arrive twice, and with a
worker that has no such host any more, which passes it on. What no server has yet lies in the *outbox* on disk, written before the
step of the frontier that it belongs to: it survives ``kill -9``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.storage.append_log import json_of, write_atomically

PAGE = "page"  # a page that was found, with the fields of ``CrawlUrl`` that it has: most letters are of this kind
WAIT, SCORE, HOLD, CLASS, DROP = "wait", "score", "hold", "class", "drop"
DONE = "done"  # URLs that are done
ANSWER = "answer"  # why (``shared.py``), then URLs that were sent, with their scores
HANDED = "handed"  # epoch: the hosts of that epoch's workers are handed over, as far as the sender had them

Letter = list[Any]

OUTBOX = "outbox.jsonl"
_WORTH_CUTTING = 1 << 22  # bytes of an outbox that is never quite empty
_FEW = 100  # groups that are left then


def dump(letters: Sequence[Letter], epoch: int = 0) -> bytes:
    """Letters as one text, to an owner of hosts at this ``epoch``. Times in them are by the server's clock."""
    return json_of([epoch, letters])


def load(content: bytes) -> tuple[int, list[Letter]]:
    """What was written so. Raises ``ValueError`` and ``TypeError`` for what are no letters."""
    epoch, letters = orjson.loads(content)
    return int(epoch), letters


class Outbox:
    """Letters that no server has yet, by worker, in the file ``outbox.jsonl`` of ``folder``; in memory only without one.

    Raises ``BadCrawlDir`` for a damaged file, and ``StorageFailed``.
    """

    def __init__(self, folder: Path | None) -> None:
        self._new: list[tuple[str, Letter]] = []
        self._waiting: list[tuple[str, list[Letter]]] = []  # committed, each as it is in the file
        self._file: Any = None
        self._size = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._open(folder / OUTBOX)

    def add(self, worker: str, letter: Letter) -> None:
        """A letter of the step under way."""
        self._new.append((worker, letter))

    def commit(self) -> list[tuple[str, list[Letter]]]:
        """The letters of this step, by worker, which are on disk now."""
        if not self._new:
            return []
        groups: dict[str, list[Letter]] = {}
        for worker, letter in self._new:
            groups.setdefault(worker, []).append(letter)
        self._new = []
        step = list(groups.items())
        self._write(_lines(step))
        self._waiting += step
        return step

    def arrived(self, number: int) -> None:
        """So many of the groups that ``commit`` gave first are with the server."""
        del self._waiting[:number]
        is_worth_it = self._size > _WORTH_CUTTING and len(self._waiting) < _FEW
        if self._file is not None and (not self._waiting or is_worth_it):
            self._cut()

    def waiting(self) -> list[tuple[str, list[Letter]]]:
        """What has not arrived, as ``commit`` gave it."""
        return list(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _open(self, path: Path) -> None:
        try:
            content = path.read_bytes() if path.exists() else b""
            self._waiting = list(_read(content, path))
            self._begin(path)
        except OSError as error:
            raise StorageFailed(f"cannot open {path}: {error}") from error

    def _begin(self, path: Path) -> None:
        """A file with what has not arrived."""
        write_atomically(path, [_lines(self._waiting)], sync=False)
        self._file = path.open("ab", buffering=0)
        self._size = path.stat().st_size

    def _write(self, lines: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(lines)
        except OSError as error:
            raise StorageFailed(f"cannot write {self._file.name}: {error}") from error
        self._size += len(lines)

    def _cut(self) -> None:
        """Leave only what has not arrived. Killed in between, letters are sent twice."""
        try:
            if self._waiting:
                self._file.close()
                self._begin(Path(self._file.name))
            elif self._size:
                os.ftruncate(self._file.fileno(), 0)
                self._size = 0
        except OSError as error:
            raise StorageFailed(f"cannot write {self._file.name}: {error}") from error


def _lines(groups: Iterable[tuple[str, list[Letter]]]) -> bytes:
    return b"".join(json_of(group) + b"\n" for group in groups)


def _read(content: bytes, path: Path) -> Iterator[tuple[str, list[Letter]]]:
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # the last one is torn, or empty
        try:
            worker, letters = orjson.loads(line)
            yield str(worker), list(letters)
        except (ValueError, TypeError) as damage:
            raise BadCrawlDir(f"{path}, line {number}", f"expected letters of a worker, not {damage}") from damage
