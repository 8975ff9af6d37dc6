"""The access log of the server: one JSON line per request, in the order in which the requests ended.

    {"start": 1700000000.25, "end": 1700000000.26, "host": "h.example", "url": "http://h.example/", "method": "GET",
     "status": 200, "agent": "topical-crawler/0.1", "bytes": 4711}

``start`` is when the request was read and ``end`` when its response was written, in seconds since the epoch; ``status`` is
0 when the connection was closed without a response; ``bytes`` is the size of the body sent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Self, TypedDict


class Access(TypedDict):
    """A line of the log."""

    start: float
    end: float
    host: str
    url: str
    method: str
    status: int
    agent: str
    bytes: int


class AccessLog:
    """Appends lines to the file at ``path``; each is flushed before the next request is answered."""

    def __init__(self, path: Path) -> None:
        self._file: IO[str] = path.open("a", buffering=1, encoding="utf-8")

    def write(self, access: Access) -> None:
        self._file.write(json.dumps(access, separators=(",", ":")) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_log(path: Path) -> list[Access]:
    """The complete lines of a log, without one that is being written."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]
