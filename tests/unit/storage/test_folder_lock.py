"""One process at a time in a folder; the kernel releases the lock when the process ends, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.crawling import ROOT

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.storage.crawl_files import FolderLock, holder_of

HOLD = "import sys; from pathlib import Path; from crawlproject.storage.crawl_files import FolderLock\n"
HOLD += "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def holding(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock of ``folder``."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    return other


def test_another_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with holding(folder) as other:
        assert holder_of(folder) == str(other.pid)
        with pytest.raises(BadCrawlDir, match=f"crawl: in use by process {other.pid}; wait until it has ended"):
            FolderLock(folder)
        other.kill()
    assert holder_of(folder) is None
    FolderLock(folder).close()


def test_a_folder_that_was_let_go_is_free(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    assert holder_of(tmp_path / "elsewhere") is None
    lock.close()
    lock.close()
    with holding(tmp_path) as other:
        other.kill()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailed, match="cannot open"):
        FolderLock(tmp_path / "file" / "crawl")


def test_a_refused_crawl_leaves_no_lock_where_there_was_none(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.withdraw()
    assert not (tmp_path / "lock").exists()
    FolderLock(tmp_path).close()
    FolderLock(tmp_path).withdraw()
    assert (tmp_path / "lock").exists(), "that of a crawl before"


TRY = "import sys; from pathlib import Path; from crawlproject.storage.crawl_files import FolderLock\n"
TRY += "FolderLock(Path(sys.argv[1]))"


def test_the_holder_keeps_the_lock_whatever_it_asks(tmp_path: Path) -> None:
    """For example a dashboard lists the folders of other crawls, and its own."""
    with closing(FolderLock(tmp_path)):
        assert holder_of(tmp_path) == str(os.getpid())
        with pytest.raises(BadCrawlDir, match=f"in use by process {os.getpid()}"):
            FolderLock(tmp_path)
        other = subprocess.run(
            [sys.executable, "-c", TRY, str(tmp_path)], capture_output=True, text=True, check=False, cwd=ROOT
        )
        assert other.returncode == 1 and f"in use by process {os.getpid()}" in other.stderr
    assert holder_of(tmp_path) is None


def test_a_fork_does_not_keep_the_lock(tmp_path: Path) -> None:
    """For example a pool of processes that a program forks while it holds the lock."""
    lock = FolderLock(tmp_path)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    lock.close()
    assert holder_of(tmp_path) is None
    os.close(writing)
    os.close(reading)
    os.waitpid(child, 0)
