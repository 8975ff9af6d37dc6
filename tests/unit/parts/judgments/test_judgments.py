"""A person's judgments of stored pages are kept, one line per click."""

import errno
import os

import pytest

from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed
from crawlproject.parts.judgments.judgments import NAME, Judgment, add_judgment, read_judgments
from crawlproject.storage.page_files import PageRepository

REEF, BREAD = "http://a.example/reef", "http://a.example/bread"


@pytest.fixture
def folder(tmp_path):
    for url in (REEF, BREAD):
        PageRepository(tmp_path / "pages").store(url, b"text")
    return tmp_path


def test_the_last_line_of_a_url_counts(folder):
    assert read_judgments(folder) == {}
    for url, relevant in ((REEF, False), (BREAD, True), (REEF, True), (BREAD, None)):
        add_judgment(folder, Judgment(url, relevant, 1.0))
    assert read_judgments(folder) == {REEF: True}
    assert (folder / NAME).read_bytes().count(b"\n") == 4


def test_a_line_that_was_cut_is_replaced(folder):
    add_judgment(folder, Judgment(REEF, True, 1.0))
    with (folder / NAME).open("ab") as file:
        file.write(b'{"url": "http://a.exa')
    assert read_judgments(folder) == {REEF: True}
    add_judgment(folder, Judgment(BREAD, False, 2.0))
    assert read_judgments(folder) == {REEF: True, BREAD: False}


def test_only_stored_pages_are_judged(folder):
    with pytest.raises(BadInput, match="stored"):
        add_judgment(folder, Judgment("http://a.example/never-fetched", True, 1.0))
    assert not (folder / NAME).exists()


def test_a_full_disk_is_told_once(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StorageFailed) as failed:
        add_judgment(folder, Judgment(REEF, True, 1.0))
    assert str(failed.value) == f"cannot write to {folder / NAME}: [Errno 28] No space left on device"


@pytest.mark.parametrize(
    "line", ['{"url": "http://a.example/"}', '{"url": 3, "relevant": true}', "[]", '{"url": "x", "relevant": 1}']
)
def test_a_damaged_line_is_named(folder, line):
    (folder / NAME).write_text(line + "\n")
    with pytest.raises(BadCrawlDir, match="line 1"):
        read_judgments(folder)
