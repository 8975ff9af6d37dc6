"""A crawl in numbers."""

import math

import pytest

from crawlproject.reports.summary import BEST, summarise
from crawlproject.storage.read import CrawlInfo, read_info


def test_counts_worked_by_hand(page):
    visits = [
        page("http://a.example/", at=10.0, seconds=1.0, relevance=0.5, size=1000),
        page(
            "http://b.example/", at=11.0, seconds=0.5, relevance=0.25, size=500, parent="http://a.example/", score=0.7
        ),
        page("http://a.example/x", at=12.0, seconds=0.5, md5="", status=404, error="http 404"),
        page("http://a.example/y", at=13.0, seconds=0.5, md5="", status=404, error="http 404"),
        page("http://a.example/z", at=14.0, seconds=0.5, md5="", status=302, redirect="http://b.example/"),
        page("http://a.example/n", at=15.0, md5="", status=200, error="noindex"),
    ]
    summary = summarise(visits, CrawlInfo())
    assert (summary.pages, summary.fetches, summary.refetched, summary.size) == (2, 6, 0, 1500)
    assert (summary.first, summary.last, summary.active) == (9.0, 15.0, 6.0)
    assert summary.mean_relevance == 0.375
    assert summary.relevant(0.5) == 1
    assert summary.pages_per_second == pytest.approx(2 / 6)
    assert [(f.kind, f.count, f.sample) for f in summary.failures] == [
        ("http 404", 2, "http://a.example/x"),
        ("noindex", 1, "http://a.example/n"),
    ]
    assert (summary.redirects, summary.redirect_samples) == (1, (("http://a.example/z", "http://b.example/"),))
    assert math.isnan(summary.scores[0])
    assert summary.scores[1] == 0.7
    assert [(line.host, line.pages, line.fetches, line.failures) for line in summary.busiest] == [
        ("a.example", 1, 5, 2),
        ("b.example", 1, 1, 0),
    ]


def test_sitemaps_and_feeds_that_were_read_are_no_failures(page):
    visits = [
        page("http://a.example/sitemap.xml", md5="", kind="sitemap", links=3),
        page("http://a.example/feed", md5="", kind="feed"),
        page("http://a.example/news.xml", md5="", kind="sitemap", status=404, error="http 404"),
    ]
    summary = summarise(visits, CrawlInfo())
    assert [(kind.kind, kind.count) for kind in summary.failures] == [("http 404", 1)]
    assert (summary.listings, summary.busiest[0].failures) == (2, 1)


def test_nothing_was_fetched():
    summary = summarise([], CrawlInfo())
    assert (summary.pages, summary.mean_relevance, summary.pages_per_second, summary.first) == (0, 0.0, None, None)


def test_an_interruption_is_no_crawling_time(page):
    visits = [page("http://a.example/", at=10.0, seconds=1.0), page("http://b.example/", at=90_000.0, seconds=2.0)]
    assert summarise(visits, CrawlInfo()).active == 3.0


def test_crawling_time_begins_with_each_run(page, tmp_path):
    (tmp_path / "crawl.json").write_text('{"started": 100, "resumes": [200, 250.5, 400]}')
    visits = [
        page("http://a.example/", at=105.0, seconds=1.0),  # robots.txt took four seconds
        page("http://b.example/", at=110.0, seconds=1.0),
        page("http://c.example/", at=255.5, seconds=1.0),  # the run from 200 on fetched nothing
        page("http://d.example/", at=256.0, seconds=2.0),
        page("http://e.example/", at=5000.0, seconds=2.0),  # too late for the run that began at 400
    ]
    summary = summarise(visits, read_info(tmp_path))
    assert (summary.active, summary.first) == (10.0 + 5.5 + 2.0, 104.0)
    assert summarise(visits[:1], read_info(tmp_path)).pages_per_second == 0.2


def test_the_best_pages_are_the_most_relevant_the_earlier_first(page):
    visits = [page(f"http://a.example/{i}", relevance=(i % 50) / 50) for i in range(200)]
    best = summarise(visits, CrawlInfo()).best
    expected = sorted(visits, key=lambda visit: -visit.relevance)[:BEST]  # sorting is stable: earlier first
    assert list(best) == expected


def test_kinds_of_errors_are_bounded(page):
    visits = [page(f"http://a.example/{i}", md5="", error=f"error {i}") for i in range(1000)]
    failures = summarise(visits, CrawlInfo()).failures
    assert len(failures) <= 101
    assert sum(failure.count for failure in failures) == 1000


def test_a_fetch_that_sent_nothing_needs_no_pause(page):
    visits = [
        page("http://a.example/1", at=10.0, seconds=0.5),
        page("http://a.example/2", at=10.1, seconds=0.0, status=0, md5="", error="no such host"),
        page("http://a.example/3", at=12.0, seconds=0.5),
    ]
    summary = summarise(visits, CrawlInfo(settings={"POLITENESS_MIN_DELAY": 1.0}))
    assert (summary.too_soon, summary.smallest_gap) == (0, 1.5)


def test_overlapping_fetches_of_a_host_are_too_soon(page):
    visits = [page("http://a.example/1", at=10.0, seconds=1.0), page("http://a.example/2", at=10.5, seconds=1.0)]
    summary = summarise(visits, CrawlInfo())
    assert (summary.too_soon, summary.smallest_gap) == (1, -0.5)


def test_ports_of_a_host_are_one_host(page):
    visits = [page("http://a.example/1", at=10.0, seconds=0.1), page("http://a.example:8080/2", at=10.2, seconds=0.1)]
    summary = summarise(visits, CrawlInfo(settings={"POLITENESS_MIN_DELAY": 1.0}))
    assert (summary.hosts, summary.too_soon) == (1, 1)


def test_a_pause_that_the_host_asked_for_counts(page):
    info = CrawlInfo(settings={"POLITENESS_MIN_DELAY": 1.0})
    slow, wait = {"crawl_delay": 5.0}, {"crawl_delay": 5.0, "retry_after": 30.0}
    visits = [
        page("http://a.example/1", at=0.0, signs=slow),
        page("http://a.example/2", at=4.0, signs=slow),  # 4 s after the first: too soon
        page("http://a.example/3", at=9.0, md5="", error="block/503", signs=wait),
        page("http://a.example/4", at=43.0, signs=slow),  # 34 s where 35 s were asked for
        page("http://a.example/5", at=48.0, signs=slow),
    ]
    summary = summarise(visits, info)
    assert summary.too_soon == 2
    (host,) = summary.busiest
    assert (host.crawl_delay, host.rests, host.blocks) == (5.0, 1, 1)
