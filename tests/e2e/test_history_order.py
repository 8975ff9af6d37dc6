"""The order of the history in a crawl with many fetches at a time."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from support.crawling import ROOT, crawl

from crawlproject.storage.append_log import read_lines
from crawlproject.storage.read import read_links, read_visits
from crawlproject.urls.hosts import host_of


def test_lines_are_in_the_order_in_which_fetches_were_stored(tmp_path: Path) -> None:
    """For one host this is the order in which they ended; links and items have the same order, since they are read in step."""
    topic = ROOT / "topics" / "demo.toml"
    done = crawl(topic, tmp_path, ordering="best_first", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=120)
    assert done.returncode == 0, done.stderr
    visits = list(read_visits(tmp_path))
    times: dict[str, list[float]] = defaultdict(list)
    for visit in visits:
        times[host_of(visit.url)].append(visit.at)
    assert len(visits) > 120 and max(map(len, times.values())) >= 5
    for host, ends in times.items():
        assert ends == sorted(ends), host
    begun = [visit.at - visit.seconds for visit in visits]
    assert any(start < end.at for start, end in zip(begun[1:], visits, strict=False)), "no two fetches at a time"
    pages = [visit.url for visit in visits if visit.md5]
    assert [line["url"] for line in read_lines(tmp_path / "items.jsonl")] == pages
    linked = [source for source, _ in read_links(tmp_path)]
    assert linked == [visit.url for visit in visits if visit.is_page and visit.links]
