"""A log whose lines have checksums: a damaged line is reported until it is replaced."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from crawlproject.errors import StorageFailed
from crawlproject.storage.checked_log import CheckedLog


def test_a_damaged_line_is_damaged_until_it_is_replaced(tmp_path: Path) -> None:
    """A crawl may be killed, or the disk may be full, before the line is replaced."""
    path = tmp_path / "items.jsonl"
    log = CheckedLog(path)
    log.count()
    log.append(*({"url": f"http://a.example/{number}"} for number in range(5)))
    log.close()
    path.write_bytes(path.read_bytes().replace(b"example/2", b"exbmple/2"))
    for _ in range(2):
        log = CheckedLog(path)
        assert log.count() == 5 and list(log.damaged) == [3]
        log.close()
    log = CheckedLog(path)
    log.count()
    log.replace_all([[{"url": "http://a.example/0"}], [{"url": "http://a.example/1"}]])
    assert not list(log.damaged)
    log.append({"url": "http://a.example/5"})
    log.close()
    log = CheckedLog(path)
    assert log.count() == 3 and not list(log.damaged)
    log.close()


def test_a_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    log = CheckedLog(path)
    path.unlink()
    path.symlink_to("/proc/self/mem")  # its first bytes are an input/output error
    with pytest.raises(StorageFailed, match=f"^cannot read {path}: .*Input/output error"):
        log.count()
    log.close()


def test_a_line_whose_sum_was_refused_shifts_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, calls = os.pwrite, []

    def pwrite(*arguments: object) -> int:
        calls.append(arguments)
        if len(calls) == 2:  # the first one is of the line
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(*arguments)  # type: ignore[arg-type]

    path = tmp_path / "items.jsonl"
    log = CheckedLog(path)
    log.count()
    log.append({"number": 1}, {"number": 2})
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", pwrite)
        with pytest.raises(StorageFailed):
            log.append({"number": 3})
    assert log.trim(lambda line: line["number"] < 3) == 1
    log.append({"number": 4})
    log.close()
    log = CheckedLog(path)
    assert log.count() == 3 and not list(log.damaged)
    log.close()
