"""Files that are replaced as a whole or not at all, whatever happens to the writer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest

from crawlproject.errors import StorageFailed
from crawlproject.exporting.whole import folder_written_whole, written_whole
from crawlproject.storage.append_log import write_atomically


def test_an_atomic_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "made" / "file"
    write_atomically(path, [b"one ", b"two"])
    write_atomically(path, [b"three"], sync=False)
    assert path.read_bytes() == b"three"
    assert list(path.parent.iterdir()) == [path], "no draft stays behind"


def test_a_writer_that_breaks_leaves_the_old_file(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise KeyError("the rest")

    path = tmp_path / "file"
    write_atomically(path, [b"old"])
    with pytest.raises(KeyError):
        write_atomically(path, chunks())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_threads_write_two_whole_files_and_the_last_one_stays(tmp_path: Path) -> None:
    def slow() -> Iterator[bytes]:
        yield b"half of "
        with ThreadPoolExecutor(1) as other:
            other.submit(write_atomically, path, [b"another one"]).result()
        assert path.read_bytes() == b"another one"
        yield b"one"

    path = tmp_path / "file"
    write_atomically(path, slow())
    assert path.read_bytes() == b"half of one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_to_read_the_new_content_is_told_as_it_is(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise StorageFailed("cannot read the other half")

    with pytest.raises(StorageFailed, match=r"^cannot read the other half$"):
        write_atomically(tmp_path / "file", chunks())
    with pytest.raises(StorageFailed, match=r"^cannot read the other half$"), folder_written_whole(tmp_path / "folder"):
        list(chunks())
    assert not list(tmp_path.iterdir())


def test_a_parent_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for place in ("file/inside", "file/deeper/inside"):
        with pytest.raises(StorageFailed, match=place):
            write_atomically(tmp_path / place, [b"x"])
    assert (tmp_path / "file").read_bytes() == b""


def test_a_folder_in_the_place_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageFailed, match="folder"):
        write_atomically(tmp_path / "folder", [orjson.dumps({})])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_private_file_is_read_by_its_owner_only(tmp_path):
    write_atomically(tmp_path / "profile", [b"words"], private=True)
    assert (tmp_path / "profile").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["x" * 250 + ".json", "é" * 125 + ".json"], ids=["ASCII", "two bytes a letter"])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, [b"one"])
    with written_whole(tmp_path / name) as file:
        file.write(b"two")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"two")]
    with folder_written_whole(tmp_path / f"{name[:-1]}!") as folder:
        (folder / "file").touch()
    assert {path.name for path in tmp_path.iterdir()} == {name, f"{name[:-1]}!"}
