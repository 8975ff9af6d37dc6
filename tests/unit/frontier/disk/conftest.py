"""Fixtures for tests of the parts of the frontier on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import orjson
import pytest

from crawlproject.frontier.disk import files, hash_table, url_records

Earlier = Callable[[Path, int], AbstractContextManager[None]]


@pytest.fixture(params=["compiled", "in Python"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test with compiled look-ups in segments, and with Python ones."""
    if request.param == "in Python":
        monkeypatch.setattr(hash_table, "hash_slots", None)
    elif hash_table.hash_slots is None:
        pytest.skip("not compiled")


class LineFile:
    """The predecessor of ``BlockFile`` before version 4: lines, each at its offset in bytes."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.unwritten: dict[int, bytes] = {}
        path.touch()
        self.end = path.stat().st_size

    def add(self, line: bytes) -> int:
        self.unwritten[self.end] = line
        self.end += len(line)
        return self.end - len(line)

    def line(self, offset: int) -> bytes:
        return self.unwritten.get(offset) or self.path.read_bytes()[offset:].partition(b"\n")[0]

    def write(self) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(self.unwritten.values()))
        self.unwritten.clear()

    def cut(self, end: int) -> None: ...
    def sync(self) -> None: ...
    def close(self) -> None: ...


@pytest.fixture
def earlier() -> Earlier:
    """Make frontiers that are opened inside write the files of an earlier version."""

    @contextmanager
    def writing(folder: Path, version: int) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(url_records, "BlockFile", LineFile)
            patch.setattr(url_records, "_COMPRESSED", 0)
            for module in (url_records, files):
                patch.setattr(module, "RECORDS", "urls.jsonl")
                patch.setattr(module, "EARLIER", "times")  # there was no second file of records
            yield
        state = orjson.loads((folder / "state.json").read_bytes())
        assert state["version"] == 4
        (folder / "state.json").write_bytes(orjson.dumps({**state, "version": version}))

    return writing
