"""What workers send each other about hosts: the owner of a host puts its URLs into its own frontier, whoever has found them.

A letter is a list for JSON: a change of a frontier (``changes.py``), or one of those below. It may arrive twice, and with a
worker that has no such host any more, which passes it on. What no server has yet lies in the *outbox* on disk, written before the
step of the frontier that it belongs to: it survives ``kill -9``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from crawlproject.storage.append_log import AppendLog, json_of, read_lines, unexpected

PAGE = "page"  # a page that was found, with the fields of ``CrawlUrl`` that it has: most letters are of this kind
WAIT, SCORE, HOLD, CLASS, DROP = "wait", "score", "hold", "class", "drop"
DONE = "done"  # URLs that are done
ANSWER = "answer"  # why (``shared.py``), then URLs that were sent, with their scores
HANDED = "handed"  # epoch: the hosts of that epoch's workers are handed over, as far as the sender had them

Letter = list[Any]

BETWEEN = b"\n"  # groups of letters that travel together: JSON has it nowhere

OUTBOX = "outbox.jsonl"
_WORTH_CUTTING = 1 << 22  # bytes of an outbox that is never quite empty
_FEW = 100  # groups that are left then


def dump(letters: Sequence[Letter], epoch: int = 0) -> bytes:
    """Letters as one text, to an owner of hosts at this ``epoch``. Times in them are by the server's clock."""
    return json_of([epoch, letters])


def load(content: bytes) -> tuple[int, list[Letter]]:
    """What was written so. Raises ``ValueError`` and ``TypeError`` for what are no letters."""
    epoch, letters = orjson.loads(content)
    return int(epoch), list(letters)


class Outbox:
    """Letters that no server has yet, by worker, in the file ``outbox.jsonl`` of ``folder``; in memory only without one.

    Raises ``BadCrawlDir`` for a damaged file, and ``StorageFailed``.
    """

    def __init__(self, folder: Path | None) -> None:
        self._new: list[tuple[str, Letter]] = []
        self._waiting: list[tuple[str, list[Letter]]] = []  # committed, each as it is in the file
        self._log: AppendLog | None = None
        self._unwritten = 0  # of those, the last ones that are not in the file yet
        self._size = 0  # bytes of the file
        if folder is not None:
            self._log = AppendLog(folder / OUTBOX)
            self._waiting = list(_read(folder / OUTBOX))
            self._cut()

    def add(self, worker: str, letter: Letter) -> None:
        """A letter of the step under way."""
        self._new.append((worker, letter))

    def collect(self) -> list[tuple[str, list[Letter]]]:
        """The letters of this step, by worker: they are to be sent, also when the disk refuses them (``write``)."""
        groups: dict[str, list[Letter]] = {}
        # What is done comes before what was found on its page: the limit of URLs of a host counts it.
        for worker, letter in sorted(self._new, key=lambda new: new[1][0] != DONE):
            groups.setdefault(worker, []).append(letter)
        self._new = []
        step = list(groups.items())
        self._waiting += step
        self._unwritten += len(step)
        return step

    def write(self) -> None:
        """Write what ``collect`` gave, unless that was done, or it has arrived."""
        if self._log is not None and self._unwritten:
            lines = _lines(self._waiting[-self._unwritten :])
            self._log.append_lines(lines)
            self._size += len(lines)
        self._unwritten = 0

    def arrived(self, number: int) -> None:
        """So many of the groups that ``collect`` gave first are with the server."""
        del self._waiting[:number]
        self._unwritten = min(self._unwritten, len(self._waiting))
        is_worth_it = self._size > _WORTH_CUTTING and len(self._waiting) < _FEW
        if self._size and (not self._waiting or is_worth_it):
            self._cut()

    def waiting(self) -> list[tuple[str, list[Letter]]]:
        """What has not arrived, as ``collect`` gave it."""
        return list(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def _cut(self) -> None:
        """Leave only what has not arrived. Killed in between, letters are sent twice."""
        if self._log is not None and self._waiting:
            self._log.replace_all([self._waiting])
            self._size = len(_lines(self._waiting))
            self._unwritten = 0
        elif self._log is not None:
            self._log.cut(0)
            self._size = 0


def _lines(groups: Iterable[tuple[str, list[Letter]]]) -> bytes:
    return b"".join(json_of(group) + b"\n" for group in groups)


def _read(path: Path) -> Iterator[tuple[str, list[Letter]]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            worker, letters = line
            yield str(worker), list(letters)
        except (ValueError, TypeError) as damage:
            raise unexpected(path, number, damage) from damage
