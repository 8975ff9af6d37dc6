"""WARC files that were cut at any byte: the offset is reported, and all records before the cut are served."""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlproject.errors import BadWeb
from crawlproject.webs.warc_file import WarcWeb
from crawlproject.webs.warc_index import load_index

PAGES = 6


@cache
def archive(compressed: bool) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """A WARC with requests between its pages; and for each record its end, and its URL if it is served."""
    random, buffer = Random(5), io.BytesIO()
    writer = WARCWriter(buffer, gzip=compressed)
    ends = []

    def write(url: str, kind: str, body: bytes, line: str, protocol: str) -> None:
        http = StatusAndHeaders(line, [("Host", "h.example")], protocol=protocol, is_http_request=kind == "request")
        writer.write_record(writer.create_warc_record(url, kind, payload=io.BytesIO(body), http_headers=http))
        ends.append((buffer.tell(), url if kind == "response" else ""))

    writer.write_record(writer.create_warcinfo_record("web.warc", {"software": "tests"}))
    ends.append((buffer.tell(), ""))
    for number in range(PAGES):
        url = f"http://h.example/{number}"
        write(url, "request", b"", "/ HTTP/1.1", "GET")
        write(url, "response", b"WARC/1.0\r\n\r\n" + random.randbytes(200), "200 OK", "HTTP/1.1")
    return buffer.getvalue(), tuple(ends)


@pytest.mark.parametrize("compressed", [True, False])
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_cut_is_told_with_its_offset_and_what_is_whole_is_served(
    tmp_path: Path, compressed: bool, data: st.DataObject
) -> None:
    whole, ends = archive(compressed)
    near = [end + step for end, _ in ends for step in range(-4, 5) if 0 < end + step < len(whole)]
    cut = data.draw(st.one_of(st.sampled_from(near), st.integers(1, len(whole) - 1)), label="cut")
    path = tmp_path / ("web.warc.gz" if compressed else "web.warc")
    path.write_bytes(whole[:cut])
    served = [url for end, url in ends if url and end <= cut]
    begins = max((end for end, _ in ends if end <= cut), default=0)
    if not served:
        with pytest.raises(BadWeb) as refused:
            WarcWeb(path, cache_dir=tmp_path / "cache")
        assert begins in (0, cut) or f"byte {begins}," in str(refused.value)
        return
    web = WarcWeb(path, cache_dir=tmp_path / "cache")
    assert sorted(web.urls()) == served
    assert all(web.get(url).status == 200 and len(web.get(url).body) == 212 for url in served)
    told = [int(number) for warning in web.warnings for number in re.findall(r"cut short.* byte (\d+),", warning)]
    assert told == ([] if begins == cut else [begins]) and len(web.warnings) == len(told)
    web.close()


@pytest.mark.parametrize("compressed", [True, False])
def test_a_damaged_record_is_told_with_its_offset(tmp_path: Path, compressed: bool) -> None:
    whole, ends = archive(compressed)
    for (start, _), (end, _) in pairwise(ends[4:]):
        data = bytearray(whole)
        data[start : start + 40] = b"\0" * 40
        path = tmp_path / "web.warc"
        path.write_bytes(data)
        web = WarcWeb(path, cache_dir=tmp_path / "cache")
        assert sorted(web.urls())[:2] == ["http://h.example/0", "http://h.example/1"]
        assert any(f"byte {start} " in warning for warning in web.warnings), (start, end, web.warnings)


def test_a_kept_index_still_tells_of_the_cut(tmp_path: Path) -> None:
    whole, ends = archive(True)
    path = tmp_path / "web.warc.gz"
    path.write_bytes(whole[: ends[-1][0] - 3])
    first = WarcWeb(path, cache_dir=tmp_path / "cache").warnings
    [kept] = (tmp_path / "cache").iterdir()
    index = load_index(kept)
    assert index is not None and tuple(first) == index.warnings != ()
