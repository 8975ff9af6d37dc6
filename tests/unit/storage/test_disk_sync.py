"""A crawl syncs its files to disk periodically."""

from __future__ import annotations

import errno
from pathlib import Path
from threading import Event

import pytest

from crawlproject.errors import StorageFailed
from crawlproject.storage import disk_sync
from crawlproject.storage.disk_sync import PeriodicSync, sync_file_system


def test_the_file_system_is_written_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    sync_file_system(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync_file_system(tmp_path / "none")


def test_it_is_done_again_and_again_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, twice = [], Event()

    def sync(folder: Path) -> None:
        synced.append(folder)
        if len(synced) == 2:
            twice.set()

    monkeypatch.setattr(disk_sync, "sync_file_system", sync)
    periodic = PeriodicSync(tmp_path, 0.001)
    assert twice.wait(60)
    periodic.stop()
    before = len(synced)
    periodic.close()
    assert synced[before:] == [tmp_path]


def test_a_disk_that_refuses_ends_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Event()

    def sync(folder: Path) -> None:
        refused.set()
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(disk_sync, "sync_file_system", sync)
    periodic = PeriodicSync(tmp_path, 0.001)
    assert refused.wait(60)
    periodic.stop()
    with pytest.raises(StorageFailed, match="Input/output error"):
        periodic.check()
