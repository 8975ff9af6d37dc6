"""Lines in compressed blocks: each can be read, wherever it is, or is reported as damaged."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import StorageFailed
from crawlproject.frontier.disk.block_file import BlockFile, place_of, zstd
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.url_records import EarlierRecords

LINES = st.one_of(st.binary(max_size=60), st.integers(1, 40_000).map(lambda size: Random(size).randbytes(size))).map(
    lambda line: line.replace(b"\n", b" ") + b"\n"
)
STEPS = st.lists(st.lists(LINES, max_size=30), max_size=8)


@given(steps=STEPS)
def test_each_line_comes_back_written_or_not(steps: list[list[bytes]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lines.zst"
        file = BlockFile(path)
        found: dict[int, bytes] = {}
        for step in steps:
            new = {file.add(line): line for line in step}
            assert len(new) == len(step) and not new.keys() & found.keys()
            found |= new
            assert [file.line(offset) + b"\n" for offset in found] == [*found.values()]
            file.write()
            assert file.end == path.stat().st_size
            assert [file.line(offset) + b"\n" for offset in found] == [*found.values()]
        file.close()
        again = BlockFile(path, readonly=True)
        assert [again.line(offset) + b"\n" for offset in reversed(found)] == [*reversed(found.values())]
        again.close()
        if found:
            assert zstd.decompress(path.read_bytes()) == b"".join(found.values()), "zstdcat shows them in order"


def test_the_lines_of_a_page_take_a_fifth(tmp_path: Path) -> None:
    file = BlockFile(tmp_path / "lines.zst")
    lines = [
        b'["http://example.org/docs/page-%d.html",1,"http://example.org/docs/","page %d",0.0]\n' % (n, n)
        for n in range(40)
    ]
    for line in lines:
        file.add(line)
    file.write()
    assert file.end < len(b"".join(lines)) / 5
    file.close()


def test_what_was_not_written_when_it_was_cut_is_gone(tmp_path: Path) -> None:
    file = BlockFile(tmp_path / "lines.zst")
    first = file.add(b"first\n")
    file.write()
    end = file.end
    lost = file.add(b"a line that is lost\n")
    file.write()
    assert file.line(lost) == b"a line that is lost"
    file.cut(end)
    with pytest.raises(ValueError, match="ends inside a block"):
        file.line(lost)
    second = file.add(b"second\n")
    file.write()
    assert second == lost and [file.line(first), file.line(second)] == [b"first", b"second"]
    file.close()


@pytest.mark.parametrize("kind", [BlockFile, EarlierRecords])
def test_a_cut_that_the_disk_refuses_is_a_storage_failure(
    tmp_path: Path, kind: type[BlockFile | EarlierRecords]
) -> None:
    path = tmp_path / "lines"
    path.touch()
    file = kind(path)
    with pytest.raises(StorageFailed, match=f"cannot write to {path}: "):
        file.cut(-1)
    file.close()


def test_what_the_disk_refuses_stays_and_is_written_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = BlockFile(tmp_path / "lines.zst")
    offsets = [file.add(b"%d " % number * 3000 + b"\n") for number in range(9)]  # several blocks
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", lambda file, data, at: len(data) // 2)
        with pytest.raises(StorageFailed, match="only a part"):
            file.write()
    offsets.append(file.add(b"one more\n"))
    assert file.line(offsets[0]).startswith(b"0 0 ")
    file.write()
    assert not file.unwritten
    assert [file.line(offset)[:2] for offset in offsets] == [b"%d " % number for number in range(9)] + [b"on"]
    assert place_of(offsets[-1]) > place_of(offsets[-2]) > place_of(offsets[0]) == 0
    file.close()


@pytest.mark.parametrize("kind", [BlockFile, EarlierRecords, SpillFile])
def test_a_line_that_cannot_be_read_is_no_damaged_one(
    tmp_path: Path, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "lines"
    path.write_bytes(b"1\n")
    file = kind(path)
    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(StorageFailed, match=f"^cannot read {path}: .*Input/output error"):
        file.read(0, 2) if kind is SpillFile else file.line(0)
    file.close()


@given(line=LINES, flip=st.integers(0, 1 << 20), cut=st.booleans())
def test_damage_is_found(line: bytes, flip: int, cut: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lines.zst"
        file = BlockFile(path)
        offset = file.add(line)
        file.write()
        data = bytearray(path.read_bytes())
        place, bit = divmod(flip % (8 * len(data)), 8)
        if cut:
            del data[place:]
        else:
            data[place] ^= 1 << bit
        path.write_bytes(data)
        with suppress(ValueError):
            assert file.line(offset) == line[:-1], "a bit without a meaning"
        file.close()
