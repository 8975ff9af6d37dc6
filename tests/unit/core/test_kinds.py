"""The kinds of fetches: their keys in the frontier, and how stored records represent them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from crawlproject.configuration import read_options
from crawlproject.frontier.changes import Waits, from_json, to_json
from crawlproject.frontier.disk.url_records import UrlRecords
from crawlproject.frontier.factory import make_frontier
from crawlproject.records import PROBE, SITEMAP, CrawlUrl

URL = "http://h.example/page"
ROBOTS_TXT = "http://h.example/robots.txt"
RECORDS = [
    CrawlUrl(URL, 1.0, 2, "http://h.example/", "an anchor", 0.5),
    CrawlUrl(URL, 1.0, 2, ROBOTS_TXT, kind=SITEMAP),
    CrawlUrl(URL, 1.0, 2, "http://h.example/a", kind=SITEMAP),
    CrawlUrl(URL, 1.0, 2, ROBOTS_TXT),  # a page that a robots.txt links to, which some servers send as HTML
    CrawlUrl(URL, 1.0, 3, URL, inherited=(2.0, 3.0), kind=PROBE, variant="browser-again"),
    CrawlUrl(URL + "#ab12", 1.0, request="{}"),
    CrawlUrl(URL, 1.0, kind="form", variant="q=reef"),
]
YESTERDAY = {  # key and parent, as an earlier version wrote them -> meaning
    (URL, "http://h.example/"): (URL, "page", ""),
    (URL, "http://h.example/a/robots.txt"): (URL, "page", ""),
    (URL, "http://h.example/?x=/robots.txt"): (URL, "page", ""),
    (URL, None): (URL, "page", ""),
    (URL, ROBOTS_TXT): (URL, "sitemap", ""),
    (f"{URL}#probe/browser", URL): (URL, "probe", "browser"),
    (f"{URL}#ab12", None): (f"{URL}#ab12", "page", ""),
}


def test_a_url_waits_once_for_each_key() -> None:
    probe = CrawlUrl(URL, 1.0, kind=PROBE, variant="missing")
    assert CrawlUrl(URL, 1.0, kind=SITEMAP).key == URL, "a page that is a sitemap is one fetch"
    assert (probe.key, probe.url) == (f"{URL}#probe/missing", URL)


def test_a_probe_may_wait_while_its_url_is_done() -> None:
    frontier = make_frontier(read_options({}))
    frontier.done(URL, 0.0, 0.1)
    probe = CrawlUrl(URL, 1.0, kind=PROBE, variant="browser")
    assert not frontier.put(CrawlUrl(URL, 2.0)) and frontier.put(probe) and not frontier.put(probe)
    assert frontier.take(100.0) == probe == frontier.leased(probe.key)
    frontier.done(probe.key, 100.0, 0.1)
    assert probe.key in frontier and len(frontier) == 0


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.kind}-{record.parent}")
def test_records_come_back_as_they_were(record: CrawlUrl, tmp_path: Path) -> None:
    records = UrlRecords(tmp_path)
    offset = records.add(record)
    assert records.load(offset, record.score, record.not_before) == record and records.url(offset) == record.key
    records.close()
    assert from_json(orjson.loads(orjson.dumps(to_json(Waits(record))))) == Waits(record)


@pytest.mark.parametrize(("written", "meant"), YESTERDAY.items())
def test_records_without_a_kind_are_understood(
    written: tuple[str, str | None], meant: tuple[str, str, str], tmp_path: Path
) -> None:
    key, parent = written
    path = tmp_path / "urls.jsonl"
    path.write_bytes(
        orjson.dumps([key, 3, parent, "", 0.0]) + b"\n" + orjson.dumps([key, 3, parent, "", 0.0, [], None]) + b"\n"
    )
    records = UrlRecords(tmp_path)
    second = path.read_bytes().index(b"\n") + 1
    journal = from_json(["wait", key, 1.0, 3, parent, "", 0.0, 0.0, [], None])
    found = [records.load(0, 1.0, 0.0), records.load(second, 1.0, 0.0)]
    records.close()
    assert isinstance(journal, Waits)
    for record in (*found, journal.record):
        assert (record.url, record.kind, record.variant) == meant and record.key == key
