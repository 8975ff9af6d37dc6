"""The letters that workers send each other about hosts. Whichever worker finds a URL, the owner of its host queues it.

A letter is a list for JSON: a change of a frontier (``changes.py``), or one of the kinds below. It may arrive twice, or reach a
worker that no longer owns the host; that worker forwards it. Letters that have not reached a server lie in the *outbox* on
disk. They are written before the frontier step that they belong to, and survive ``kill -9``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from crawlproject.storage.append_log import AppendLog, json_of, read_lines, unexpected

PAGE = "page"  # a page that was found, with only the fields of ``CrawlUrl`` that it needs: the most frequent kind
WAIT, SCORE, HOLD, CLASS, DROP = "wait", "score", "hold", "class", "drop"
DONE = "done"  # URLs that are done
ANSWER = "answer"  # a reason (``shared.py``), then the URLs that were sent, with their scores
HANDED = "handed"  # an epoch: the sender has handed over all its URLs of hosts that other workers own in that epoch

Letter = list[Any]

BETWEEN = b"\n"  # separates groups of letters that travel together: it does not occur in the JSON

OUTBOX = "outbox.jsonl"
_WORTH_CUTTING = 1 << 22  # bytes from which an outbox that is never quite empty is rewritten,
_FEW = 100  # if fewer groups than these are left


def dump(letters: Sequence[Letter], epoch: int = 0) -> bytes:
    """The bytes of letters to an owner of hosts at this ``epoch``. Times in letters are by the server's clock."""
    return json_of([epoch, letters])


def load(content: bytes) -> tuple[int, list[Letter]]:
    """Read what ``dump`` wrote. Raises ``ValueError`` and ``TypeError`` for anything else."""
    epoch, letters = orjson.loads(content)
    return int(epoch), list(letters)


class Outbox:
    """Letters that have not reached a server, by worker, in the file ``outbox.jsonl`` of ``folder``; without one, in memory.

    Raises ``BadCrawlDir`` for a damaged file, and ``StorageFailed``.
    """

    def __init__(self, folder: Path | None) -> None:
        self._new: list[tuple[str, Letter]] = []
        self._waiting: list[tuple[str, list[Letter]]] = []  # collected, each as it is in the file
        self._log: AppendLog | None = None
        self._unwritten = 0  # how many of the last ones are not in the file yet
        self._size = 0  # bytes of the file
        if folder is not None:
            self._log = AppendLog(folder / OUTBOX)
            self._waiting = list(_read(folder / OUTBOX))
            self._cut()

    def add(self, worker: str, letter: Letter) -> None:
        """Add a letter to the step under way."""
        self._new.append((worker, letter))

    def collect(self) -> list[tuple[str, list[Letter]]]:
        """The letters of this step, grouped by worker. They must be sent even if the disk refuses them (``write``)."""
        groups: dict[str, list[Letter]] = {}
        # URLs that are done come before those found on their pages, for the limit of URLs per host counts them.
        for worker, letter in sorted(self._new, key=lambda new: new[1][0] != DONE):
            groups.setdefault(worker, []).append(letter)
        self._new = []
        step = list(groups.items())
        self._waiting += step
        self._unwritten += len(step)
        return step

    def write(self) -> None:
        """Write what ``collect`` returned, unless it was written already or has arrived."""
        if self._log is not None and self._unwritten:
            lines = _lines(self._waiting[-self._unwritten :])
            self._log.append_lines(lines)
            self._size += len(lines)
        self._unwritten = 0

    def arrived(self, number: int) -> None:
        """The first ``number`` of the waiting groups have reached the server."""
        del self._waiting[:number]
        self._unwritten = min(self._unwritten, len(self._waiting))
        is_worth_it = self._size > _WORTH_CUTTING and len(self._waiting) < _FEW
        if self._size and (not self._waiting or is_worth_it):
            self._cut()

    def waiting(self) -> list[tuple[str, list[Letter]]]:
        """The groups that have not arrived, as ``collect`` returned them."""
        return list(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def _cut(self) -> None:
        """Keep only what has not arrived. After a crash in the middle, letters are sent twice."""
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
