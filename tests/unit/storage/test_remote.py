"""Files at remote addresses: the supported addresses, atomic writes, and the error messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from s3fs import S3FileSystem
from support.s3server import BUCKET, SECRET, BreakingProxy, S3Server, s3_server

from crawlproject.errors import BadInput, MissingExtra, StorageFailed
from crawlproject.storage.remote import Remote, is_remote

LARGE = b"coral" * 4 * 2**20  # 20 MiB, which are sent to S3 in three parts


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    with s3_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        S3FileSystem.clear_instance_cache()  # instances for other servers
        yield server


def test_which_targets_are_addresses() -> None:
    assert is_remote("s3://bucket/key") and is_remote("file:///tmp/x") and is_remote("memory://x")
    assert not is_remote("pages.csv") and not is_remote("/tmp/s3:/x") and not is_remote("C:/x") and not is_remote("")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://", "expected a bucket"),
        ("sftp://ann:hidden@host/x", "no user, password or query"),
        ("az://box/x?sig=hidden", "no user, password or query"),
        ("simplecache::s3://bucket/x", "expected an address"),
        ("nosuch://x/y", "no file system for nosuch"),
    ],
)
def test_addresses_that_cannot_be_used(address: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as wrong:
        Remote(address)
    assert "hidden" not in str(wrong.value)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingExtra, match="gcsfs"):
        Remote("gs://bucket/x")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r's3:// needs fsspec: pip install "topical-crawler\[remote\]"'):
        Remote("s3://bucket/x")


@pytest.mark.parametrize("data", [b"small", LARGE], ids=["small", "large"])
def test_a_file_is_sent_to_a_folder_of_this_machine(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    assert Remote(f"file://{tmp_path}/new/place").send(tmp_path / "x", "a/b") == len(data)
    assert (tmp_path / "new/place/a/b").read_bytes() == data
    assert [path.name for path in (tmp_path / "new/place/a").iterdir()] == ["b"]


def test_a_broken_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = Remote("memory://broken")
    remote.put("x", b"old")

    def half(self: MemoryFileSystem, path: str, value: bytes) -> None:
        with self.open(path, "wb") as file:
            file.write(value[:2])
        raise OSError(f"gone, said the server of {SECRET}")

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", half)
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    with pytest.raises(StorageFailed, match=r"cannot write memory://broken/x: gone, said the server of \*\*\*$"):
        remote.put("x", b"new")
    assert remote.get("x") == b"old" and MemoryFileSystem().ls("/broken", detail=False) == ["/broken/x"]


def test_a_file_of_a_crawl_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "crawl.json").write_text("{}")
    with pytest.raises(BadInput, match="is for the crawl"):
        Remote(f"file://{tmp_path}/items.jsonl")


def test_reading_removing_and_what_is_missing() -> None:
    remote = Remote("memory://folder/of/ours/")
    assert remote.is_empty() and remote.get("x") is None
    remote.remove("x")
    remote.put("x", b"1")
    assert not remote.is_empty() and remote.get("x") == b"1"
    remote.remove("x")
    assert remote.get("x") is None


def test_a_folder_is_sent_whole_or_removed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/1", "a/2", "3"):
        (tmp_path / name).write_text(name)
    remote = Remote("memory://sent")
    remote.send_folder(tmp_path)
    assert remote.get("a/2") == b"a/2" and remote.get("3") == b"3"
    whole = MemoryFileSystem.pipe_file

    def fails(self: MemoryFileSystem, path: str, value: bytes) -> None:
        if value == b"a/2":
            raise OSError("full")
        whole(self, path, value)

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", fails)
    with pytest.raises(StorageFailed, match="full"):
        Remote("memory://unsent").send_folder(tmp_path)
    assert MemoryFileSystem().find("/unsent") == []


def test_s3_has_it_byte_for_byte(s3: S3Server, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(LARGE)
    Remote(f"s3://{BUCKET}/large").send(tmp_path / "x")
    Remote(f"s3://{BUCKET}/folder").put("small", b"1")
    assert s3.keys() == {"large", "folder/small"} and s3.files().cat_file(f"{BUCKET}/large") == LARGE


def test_an_upload_that_breaks_in_the_middle_leaves_nothing(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(LARGE)
    with BreakingProxy(int(s3.url.rpartition(":")[2])).running() as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        S3FileSystem.clear_instance_cache()
        proxy.breaks = lambda data: b"partNumber=3" in data
        with pytest.raises(StorageFailed, match=f"cannot write s3://{BUCKET}/large"):
            Remote(f"s3://{BUCKET}/large").send(tmp_path / "x")
        assert proxy.cut
    assert s3.keys() == set() and s3.unfinished() == []


def test_what_s3_refuses_is_said(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="no such bucket"):
        Remote("s3://nobodys/x").put("y", b"1")
    s3.refuse()
    with pytest.raises(BadInput, match="the server refuses") as wrong:
        Remote(f"s3://{BUCKET}/x").put("y", b"1")
    assert SECRET not in str(wrong.value)
