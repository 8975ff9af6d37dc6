"""Archives as other tools read them: warcio's checker, FastWARC's digests, the CDXJ indexer of the pywb authors."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker


def check(*paths: Path) -> None:
    """Run ``warcio check``, and check every digest again with another program."""
    for path in paths:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = Checker(Namespace(inputs=[str(path)], verbose=True)).process_all()
        assert not code, said.getvalue()
        assert "digest pass" in said.getvalue() and "digest fail" not in said.getvalue()
        with path.open("rb") as file:
            for record in FastIterator(file, parse_http=False):
                assert record.verify_block_digest()


def records(path: Path) -> list[tuple[str, str, Any, bytes]]:
    """Return type, URL, headers and payload of each record."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            url = record.rec_headers.get_header("WARC-Target-URI") or ""
            found.append((record.rec_type, url, record, record.content_stream().read()))
    return found


def cdxj(path: Path, *more: str) -> list[str]:
    """The sorted lines of cdxj-indexer, run in a separate process because ``wacz`` changes its output."""
    pytest.importorskip("cdxj_indexer")
    command = [sys.executable, "-W", "ignore", "-c", "from cdxj_indexer.main import main; main()", "--sort"]
    command += [*more, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def same_index(ours: Iterable[str], theirs: Iterable[str]) -> None:
    """Assert that two CDXJ indexes list the same captures at the same places."""

    def told(line: str) -> tuple[str, ...]:
        key, stamp, fields = line.split(" ", 2)
        said = json.loads(fields)
        digest = said["digest"].removeprefix("sha1:")
        return key, stamp, said["url"], said["offset"], said["length"], digest, said.get("status", "")

    assert [told(line) for line in ours] == [told(line) for line in theirs]
