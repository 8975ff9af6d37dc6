"""Page files: named by the MD5 of the canonical URL, complete or absent."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from hashlib import md5
from pathlib import Path

import pytest

from crawlproject.errors import StorageFailed
from crawlproject.records import Visit
from crawlproject.storage.page_files import PageRepository, stored_body

IOWA = "http://www.uiowa.edu/"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_the_example_of_the_paper(tmp_path: Path) -> None:
    """Paper 000 section 2.2 names this page 160766577426e1d01fcb7735091ec584."""
    pages = PageRepository(tmp_path)
    assert pages.store(IOWA, b"<title>Iowa</title>") == "160766577426e1d01fcb7735091ec584"
    assert files(tmp_path) == ["16/07/160766577426e1d01fcb7735091ec584"]
    assert pages.path(IOWA).read_bytes() == b"<title>Iowa</title>"


def test_a_page_is_known_once_it_is_stored(tmp_path: Path) -> None:
    pages = PageRepository(tmp_path)
    assert IOWA not in pages
    with pytest.raises(FileNotFoundError):
        pages.load(IOWA)
    pages.store(IOWA, b"")
    assert IOWA in pages and pages.load(IOWA) == b""
    assert IOWA in PageRepository(tmp_path)


def test_storing_again_replaces_the_page(tmp_path: Path) -> None:
    pages = PageRepository(tmp_path)
    pages.store(IOWA, b"a long first version")
    pages.store(IOWA, b"second")
    assert pages.load(IOWA) == b"second"
    assert len(files(tmp_path)) == 1


def test_a_page_that_cannot_be_put_in_its_place_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    pages = PageRepository(tmp_path)
    pages.store(IOWA, b"old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StorageFailed, match=r"http://www\.uiowa\.edu/.*No space"):
        pages.store(IOWA, b"new")
    assert pages.load(IOWA) == b"old"
    assert len(files(tmp_path)) == 1, "no draft stays behind"


LIMITED = """
import resource, signal, sys
from hashlib import md5
from pathlib import Path
from crawlproject.errors import StorageFailed
from crawlproject.storage.page_files import PageRepository
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
pages = PageRepository(Path(sys.argv[1]))
pages.store("http://a.example/", b"x" * 1000)
try:
    pages.store("http://a.example/", b"y" * 1001)
except StorageFailed as failure:
    print(failure)
"""


def test_a_disk_that_takes_a_part_only_stores_nothing(tmp_path: Path) -> None:
    """A full disk may accept the beginning of a write without an error."""
    done = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "cannot store the page http://a.example/" in done.stdout
    assert PageRepository(tmp_path).load("http://a.example/") == b"x" * 1000
    assert len(files(tmp_path)) == 1


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pages").write_bytes(b"")
    with pytest.raises(StorageFailed, match="cannot store the page"):
        PageRepository(tmp_path / "pages").store(IOWA, b"")


@pytest.mark.parametrize("refusal", [0, errno.EPERM, errno.EOPNOTSUPP])
@pytest.mark.parametrize("versions", [1, 2])
def test_the_version_before_stays_until_the_new_one_is_in_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: int, refusal: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    if refusal:  # as on file systems without hard links
        monkeypatch.setattr(os, "link", refuse)
    pages = PageRepository(tmp_path, versions=versions)
    pages.store(IOWA, b"one")
    pages.store(IOWA, b"lost at a kill", 1)
    assert pages.load(IOWA) == b"lost at a kill" and pages.load_version(IOWA, 1) == b"one"
    assert pages.load(IOWA, md5(b"one").hexdigest()) == b"one"
    pages.store(IOWA, b"two", 1)
    assert pages.load_version(IOWA, 1) == b"one"
    pages.settle(IOWA, 1)
    assert pages.load(IOWA) == pages.load_version(IOWA, 2) == b"two"
    assert list(pages.versions(IOWA)) == ([1] if versions == 2 else [])


def test_a_page_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    pages, url = PageRepository(tmp_path), "http://a.example/"
    pages.store(url, b"text")
    path = pages.path(url)
    path.unlink()
    path.symlink_to("/proc/self/mem")  # its first bytes are an input/output error
    visit = Visit(url, 200, 1.0, md5=path.name)
    for read in (lambda: pages.load(url), lambda: pages.load_version(url, 2), lambda: stored_body(tmp_path, visit)):
        with pytest.raises(StorageFailed, match=f"^cannot read {path}: .*Input/output error"):
            read()
