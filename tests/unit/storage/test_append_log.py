"""Append-only logs: they hold whole lines only, whatever happens to the process or the disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.storage.append_log import AppendLog, TailPosition, TailReader, parse_line, read_lines

records = st.dictionaries(st.text(max_size=5), st.none() | st.integers(-9, 9) | st.text(max_size=20), max_size=3)


def written(path: Path, *lines: object) -> bytes:
    """Write a log with these lines and close it; return its bytes."""
    log = AppendLog(path)
    log.append(*lines)
    log.close()
    return path.read_bytes()


# ------------------------------------------------------------ lines


def test_records_come_back_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    log = AppendLog(path)
    log.append({"n": 1})
    log.append({"n": 2}, {"text": "Größe\n\u2028"})
    log.append()
    log.append_lines(b'{"n":3}\n{"n":4}\n')
    log.close()
    assert list(read_lines(path)) == [{"n": 1}, {"n": 2}, {"text": "Größe\n\u2028"}, {"n": 3}, {"n": 4}]


def test_reopening_resumes_after_the_last_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 1, 2)
    written(path, 3)
    assert list(read_lines(path)) == [1, 2, 3]


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(tmp_path / "none.jsonl")) == []


@given(st.lists(records, max_size=6), st.data())
def test_cut_anywhere_the_whole_lines_stay(lines: list[dict], data: st.DataObject) -> None:
    """A process that is killed in the middle of a write leaves a prefix of the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        whole = written(path, *lines)
        cut = whole[: data.draw(st.integers(0, len(whole)))]
        path.write_bytes(cut)
        kept = lines[: cut.count(b"\n")]
        assert list(read_lines(path)) == kept, "a reader passes over the torn line"
        assert written(path) == cut[: cut.rfind(b"\n") + 1], "opening removes the torn line"
        written(path, {"after": True})
        assert list(read_lines(path)) == [*kept, {"after": True}]


def test_a_torn_line_of_a_megabyte_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"1\n" + b"x" * 1_000_000)
    assert written(path) == b"1\n"


# ------------------------------------------------------------ trim


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 3))
def test_trim_removes_last_lines_up_to_the_first_that_is_kept(numbers: list[int], least: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        written(path, *numbers)
        log = AppendLog(path)
        removed = log.trim(lambda number: number >= least)
        log.append(9)
        log.close()
        kept = numbers[: len(numbers) - removed]
        assert list(read_lines(path)) == [*kept, 9]
        assert not kept or kept[-1] >= least
        assert all(number < least for number in numbers[len(kept) :])


def test_trim_reads_lines_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    written(path, "keep", "x" * 200_000, "y" * 70_000)
    log = AppendLog(path)
    assert log.trim(lambda text: text == "keep") == 2
    log.close()
    assert list(read_lines(path)) == ["keep"]


# ------------------------------------------------------------ the disk refuses


def refuse(file: int, data: bytes, offset: int) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def take_a_half(file: int, data: bytes, offset: int, write: Callable[..., int] = os.pwrite) -> int:
    return write(file, data[: len(data) // 2], offset)


@pytest.mark.parametrize("full_disk", [refuse, take_a_half])
def test_a_failed_write_is_taken_back(
    tmp_path: Path, full_disk: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"1\n")
    log = AppendLog(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full_disk)
        with pytest.raises(StorageFailed, match=f"{path}.*(No space|full)") as failed:
            log.append({"some": "words"})
    assert failed.value.advice == "free some space and run the same command to resume"
    assert path.read_bytes() == b"1\n"
    log.append(2)
    log.close()
    assert path.read_bytes() == b"1\n2\n", "the same log can be used when there is space again"


def test_a_disk_that_is_gone_is_a_failed_write_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    log = AppendLog(tmp_path / "log.jsonl")
    monkeypatch.setattr(os, "pwrite", broken)
    monkeypatch.setattr(os, "ftruncate", broken)
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StorageFailed, match=str(log.path)):
        log.append(1)
    with pytest.raises(StorageFailed, match=str(log.path)):
        log.sync()
    with pytest.raises(StorageFailed, match=f"cannot write to {log.path}: "):
        log.cut(0)
    with pytest.raises(StorageFailed, match=f"cannot write to {log.path}: "):
        log.trim(lambda record: False)


def io_error(*_: object) -> bytes:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("shorten", [lambda log: log.cut(2), lambda log: log.trim(lambda number: number < 2)])
def test_a_log_that_cannot_be_shortened_goes_on_after_its_last_line(
    tmp_path: Path, shorten: Callable[[AppendLog], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 1, 2, 3)
    log = AppendLog(path)
    with monkeypatch.context() as patched:
        patched.setattr(os, "ftruncate", io_error)
        with pytest.raises(StorageFailed):
            shorten(log)
    log.append(4)
    log.close()
    assert path.read_bytes() == b"1\n2\n3\n4\n"


def test_a_log_that_is_not_trimmed_for_a_damaged_line_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"1\ndamaged\n3\n")
    log = AppendLog(path)
    with pytest.raises(BadCrawlDir):
        log.trim(lambda number: number < 2)
    log.append(4)
    log.close()
    assert path.read_bytes() == b"1\ndamaged\n3\n4\n"


@pytest.mark.parametrize(
    "read",
    [
        lambda path: [*read_lines(path, TailPosition(5))],
        lambda path: TailReader(path, TailPosition(5)),
        lambda path: [*TailReader(path)],
    ],
)
def test_a_file_without_positions_is_a_failed_read(read: Callable[[Path], object]) -> None:
    end, other = os.pipe()
    path = Path(f"/dev/fd/{end}")
    os.write(other, b"1\n")
    os.close(other)
    with pytest.raises(StorageFailed, match=f"cannot read {path}: "):
        read(path)
    os.close(end)


@pytest.mark.parametrize("read", [lambda log: log.count(), lambda log: log.place(3), lambda log: log.trim(bool)])
def test_a_log_that_cannot_be_read_is_named(
    tmp_path: Path, read: Callable[[AppendLog], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 1, 2, 3)
    log = AppendLog(path)
    monkeypatch.setattr(os, "pread", io_error)
    with pytest.raises(StorageFailed, match=f"^cannot read {path}: .*Input/output error"):
        read(log)
    log.close()
    with pytest.raises(StorageFailed, match=f"^cannot read {path}: .*Input/output error"):
        AppendLog(path)


@pytest.mark.parametrize("read", [read_lines, TailReader])
def test_lines_that_cannot_be_read_are_named(read: Callable[[Path], Iterator[object]]) -> None:
    broken = Path("/proc/self/mem")  # its first bytes are an input/output error
    with pytest.raises(StorageFailed, match=f"^cannot read {broken}: .*Input/output error") as failed:
        list(read(broken))
    assert failed.value.advice == "see to the disk and run the same command to resume"


LIMITED = """
import resource, signal, sys
from pathlib import Path
from crawlproject.storage.append_log import AppendLog, write_atomically
from crawlproject.errors import StorageFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
log = AppendLog(Path(sys.argv[1]) / "log.jsonl")
lines = 0
try:
    while True:
        log.append({"line": lines, "words": "x" * 50})
        lines += 1
except StorageFailed:
    print(lines)
try:
    write_atomically(Path(sys.argv[1]) / "file", [b"y" * 600, b"y" * 600])
except StorageFailed:
    print("refused")
"""


def test_a_file_at_its_limit_keeps_every_line_that_was_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True)
    lines, refused = done.stdout.split()
    assert [line["line"] for line in read_lines(tmp_path / "log.jsonl")] == list(range(int(lines)))
    assert int(lines) > 5 and refused == "refused"
    assert (tmp_path / "file").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "log.jsonl"]


@pytest.mark.parametrize("place", ["file/log.jsonl", "folder"])
def test_what_cannot_be_opened_is_a_storage_failure(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageFailed, match=place):
        AppendLog(tmp_path / place)


# ------------------------------------------------------------ damaged files


def test_a_damaged_line_is_named_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":\n{"n":3}\n')
    with pytest.raises(BadCrawlDir, match=f"{path}, line 2: expected a line of JSON"):
        list(read_lines(path))


def test_a_damaged_line_without_number_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with pytest.raises(BadCrawlDir, match=f"{path}: expected a line of JSON"):
        parse_line(b"\xff\n", path)
    path.write_bytes(b"damaged\n")
    with pytest.raises(BadCrawlDir, match=str(path)):
        AppendLog(path).trim(bool)
