"""Opening a frontier from its rows: each URL is queued once, in the queue of its host, and a damaged row is reported."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadCrawlDir
from crawlproject.frontier.disk import opening
from crawlproject.frontier.disk.block_file import zstd
from crawlproject.frontier.disk.frontier import DiskFrontier
from crawlproject.frontier.disk.opening import CrowdedHosts
from crawlproject.frontier.disk.spill_file import SpillFile
from crawlproject.frontier.disk.url_table import CLASS_BITS, DTYPE, SHARED
from crawlproject.frontier.politeness import Politeness
from crawlproject.records import WASTE, CrawlUrl

URLS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, WASTE)))


@given(urls=URLS, crowd=st.integers(0, 6), together=st.integers(1, 9), chunk=st.integers(1, 20))
def test_crowded_hosts_come_once_with_all_their_urls(
    urls: list[tuple[int, float, int]], crowd: int, together: int, chunk: int
) -> None:
    rows = np.array([(score, 0, host, SHARED | CLASS_BITS[kind]) for host, score, kind in urls], DTYPE)
    numbers = np.arange(len(rows)) + 7
    on_host = np.bincount(rows["host"].astype(np.int64), minlength=10).astype(np.uint32)
    with TemporaryDirectory() as folder, patch.object(opening, "_TOGETHER", together):
        file = SpillFile(Path(folder) / "lines")
        crowded = CrowdedHosts(file, on_host, crowd)
        others = [crowded.take(numbers[at : at + chunk], rows[at : at + chunk]) for at in range(0, len(rows), chunk)]
        found = {host: tuple(map(np.ndarray.tolist, columns)) for host, *columns in crowded}
        file.close()
    expected = {}
    for host in np.flatnonzero(on_host > crowd).tolist():
        its = [at for at, (other, _, _) in enumerate(urls) if other == host]
        expected[host] = [urls[at][2] for at in its], [-urls[at][1] for at in its], [at + 7 for at in its]
    assert found == expected
    assert np.concatenate([*others, np.zeros(0, bool)]).tolist() == [host not in expected for host, _, _ in urls]


def open_in(folder: Path) -> DiskFrontier:
    return DiskFrontier(folder, politeness=Politeness(), random=Random(1), clock=lambda: 0.0)


@pytest.mark.parametrize(
    ("field", "value"), [("standing", 15), ("standing", 0xFFFFFFF1), ("host", 4_000_000_000), ("score", np.nan)]
)
def test_a_damaged_row_is_named(tmp_path: Path, field: str, value: float) -> None:
    frontier = open_in(tmp_path)
    frontier.put_many(CrawlUrl(f"http://a.test/{number}", 0.5) for number in range(9))
    frontier.close()
    data = bytearray((tmp_path / "rows").read_bytes())
    np.frombuffer(data, DTYPE)[field][3] = value
    (tmp_path / "rows").write_bytes(data)
    with pytest.raises(BadCrawlDir, match=f"rows, byte {3 * DTYPE.itemsize}: expected score, record, host and state"):
        open_in(tmp_path)


def test_a_record_of_another_url_is_named_when_its_turn_has_come(tmp_path: Path) -> None:
    frontier = open_in(tmp_path)
    frontier.put_many([CrawlUrl("http://a.test/missing", 0.5), CrawlUrl("http://b.test/", 0.9)])
    frontier.close()
    path = tmp_path / "urls.jsonl.zst"
    lines = zstd.decompress(path.read_bytes()).replace(b"a.test/missing", b"a.test.missing")
    path.write_bytes(zstd.compress(lines) + bytes(9))  # no shorter than before
    again = open_in(tmp_path)
    assert again.take(0.0) == CrawlUrl("http://b.test/", 0.9)
    with pytest.raises(
        BadCrawlDir, match=r"urls\.jsonl\.zst, byte 0: expected a record of a URL \(found 'http://a\.test\.missing'"
    ):
        again.take(0.0)
    again.close()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no names of open files")
def test_what_is_done_again_is_on_the_disk_before_its_journal_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be in neither after a power failure."""
    frontier = open_in(tmp_path)
    frontier.put_many(CrawlUrl(f"http://a.test/{number}", 0.5) for number in range(9))
    (journal,) = tmp_path.glob("journal.*")
    forced: list[str] = []
    fsync = os.fsync

    def force(file: int) -> None:
        fsync(file)
        if journal.exists():
            forced.append(Path(f"/proc/self/fd/{file}").readlink().name)

    monkeypatch.setattr(os, "fsync", force)
    again = open_in(tmp_path)
    assert {"urls.jsonl.zst", "rows", "seen", "seen.map", "hosts", "hosts.map"} <= set(forced)
    assert not journal.exists()
    assert len(again) == 9 and "http://a.test/3" in again
