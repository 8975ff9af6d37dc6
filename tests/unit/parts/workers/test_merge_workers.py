"""The folders of several workers as one crawl folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.parts.workers.merge_workers import merge_workers, workers_of
from crawlproject.records import Link, Page, Span, Topic, Visit
from crawlproject.reports.changes import select_changes
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.logs import PageChange, PageChangeLog
from crawlproject.storage.read import first_visits
from crawlproject.urls.hosts import page_name, page_path

TOPIC = Topic("reef", ("reef",), ("http://a.test/",))


def worker(root: Path, name: str, *visits: Visit, reason: str = "finished", stats: dict | None = None) -> None:
    folder = CrawlFolder(root / "workers" / name, TOPIC, "dom", {})
    folder.manifest.begin({}, "", min(visit.at for visit in visits))
    for visit in visits:
        if visit.error:
            folder.note(visit)
        else:
            folder.store(visit.url, visit.title.encode())
            folder.keep(Page(visit.url, title=visit.title), visit)
        folder.refusals.add("trap/too_long", visit.url)
    if reason:
        folder.close(reason, max(visit.at for visit in visits), stats or {})
    else:
        folder.refusals.save()


def page(url: str, at: float, title: str = "") -> Visit:
    return Visit(url, 200, at, md5=page_name(url), title=title)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_url_once_by_time(tmp_path: Path) -> None:
    worker(tmp_path, "a", page("http://a.test/1", 1.0), page("http://a.test/2", 3.0), stats={"downloader/x": 2, "y": 1})
    worker(tmp_path, "b", page("http://a.test/3", 2.0), page("http://a.test/2", 4.0), stats={"downloader/x": 3})
    merge_workers(tmp_path)
    assert [line["url"][-1] for line in lines(tmp_path / "history.jsonl")] == ["1", "3", "2"]
    assert sorted(line["url"][-1] for line in lines(tmp_path / "items.jsonl")) == ["1", "2", "3"]
    assert len([path for path in (tmp_path / "pages").rglob("*") if path.is_file()]) == 3
    assert json.loads((tmp_path / "refused.json").read_text())["counts"] == {"trap/too_long": 4}
    manifest = json.loads((tmp_path / "crawl.json").read_text())
    assert (manifest["workers"], manifest["started"], manifest["finished"]) == (["a", "b"], 1.0, 4.0)
    assert (manifest["reason"], manifest["stats"]) == ("finished", {"downloader/x": 5})


def test_the_worker_that_stored_the_page_counts(tmp_path: Path) -> None:
    worker(tmp_path, "a", Visit("http://a.test/", 0, 1.0, error="TimeoutError"))
    worker(tmp_path, "b", page("http://a.test/", 2.0, "Reefs"))
    merge_workers(tmp_path)
    assert [line["title"] for line in lines(tmp_path / "history.jsonl")] == ["Reefs"]


def test_a_page_of_two_workers_counts_once(tmp_path: Path) -> None:
    """A worker was killed after its history line, and another fetched the page too: the first by name counts, entirely."""
    for name, at in (("b", 1.0), ("a", 2.0)):
        folder = CrawlFolder(tmp_path / "workers" / name, TOPIC, "dom", {})
        folder.manifest.begin({}, "", 0.0)
        url = "http://a.test/"
        folder.store(url, name.encode())
        links = (Link(f"http://a.test/{name}", "", Span(0, 0), Span(0, 0)),)
        folder.keep(Page(url, title=name, links=links), replace(page(url, at, name), links=1))
        folder.close("", 3.0, {})
    merge_workers(tmp_path)
    for name, field, value in (
        ("history.jsonl", "title", "a"),
        ("items.jsonl", "title", "a"),
        ("links.jsonl", "target", "http://a.test/a"),
    ):
        assert [line[field] for line in lines(tmp_path / name)] == [value]
    assert (tmp_path / "pages" / page_path(page_name(url))).read_bytes() == b"a"
    assert [visit.title for visit in first_visits(tmp_path)] == ["a"]


def test_a_worker_that_runs_leaves_the_crawl_unended(tmp_path: Path) -> None:
    worker(tmp_path, "a", page("http://a.test/1", 1.0))
    worker(tmp_path, "b", page("http://a.test/2", 2.0), reason="")
    with (tmp_path / "workers" / "b" / "history.jsonl").open("a") as history:
        history.write('{"url": "http://a.test/torn"')
    merge_workers(tmp_path)
    merge_workers(tmp_path)
    manifest = json.loads((tmp_path / "crawl.json").read_text())
    assert (manifest["reason"], manifest["finished"]) == ("", None)
    assert len(lines(tmp_path / "history.jsonl")) == 2
    assert json.loads((tmp_path / "refused.json").read_text())["counts"] == {"trap/too_long": 2}


def test_a_crawl_of_one_process_is_not_overwritten(tmp_path: Path) -> None:
    alone = CrawlFolder(tmp_path, TOPIC, "dom", {})
    alone.manifest.begin({}, "", 0.0)
    alone.close("finished", 1.0, {})
    assert workers_of(tmp_path) == []
    worker(tmp_path, "a", page("http://a.test/1", 1.0))
    with pytest.raises(BadCrawlDir, match="a crawl of its own"):
        merge_workers(tmp_path)


def again(url: str, at: float, number: int, change: str, version: int = 1) -> Visit:
    return Visit(
        url, 200, at, md5=page_name(url) if change == "changed" else "", number=number, change=change, version=version
    )


def test_visits_of_a_page_by_several_workers_are_one_page(tmp_path: Path) -> None:
    """Two workers made visit 3, because one was killed before it could publish it."""
    url = "http://a.test/1"
    one, two = (CrawlFolder(tmp_path / "workers" / name, TOPIC, "dom", {}) for name in "ab")
    for folder, visits in (
        (one, [page(url, 1.0, "first"), again(url, 3.0, 3, "changed", 2)]),
        (two, [again(url, 2.0, 2, "same"), again(url, 4.0, 3, "changed", 2), again(url, 5.0, 4, "same", 2)]),
    ):
        folder.manifest.begin({}, "", 1.0)
        log = PageChangeLog(folder.path)
        for visit in visits:
            shown = Page(url, title=f"{folder.path.name} {visit.number}")
            if visit.md5:
                folder.store(url, shown.title.encode())
            if visit.number == 1:
                folder.keep(shown, visit)
            else:
                folder.keep_again(visit, shown if visit.md5 else None)
            if visit.change == "changed":
                log.append(PageChange(url, "changed", visit.at, 1.0, visit.number, visit.version))
        log.close()
        folder.close("finished", 5.0, {})
    for _ in range(2):
        merge_workers(tmp_path)
        found = [(line["number"], line["at"]) for line in lines(tmp_path / "history.jsonl")]
        assert found == [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0)]
        assert lines(tmp_path / "items.jsonl")[-1]["title"] == "b 3"
        assert (tmp_path / "pages" / page_path(page_name(url))).read_text() == "b 3"
        assert [change.at for change in select_changes(tmp_path).found] == [4.0]
        assert not list((tmp_path / "pages").rglob("*.tmp"))


def test_items_of_pages_that_another_worker_found_outlive_a_restart(tmp_path: Path) -> None:
    url = "http://a.test/1"
    for _ in range(2):
        folder = CrawlFolder(tmp_path, TOPIC, "dom", {})
        folder.manifest.begin({}, "", 1.0)
        if not lines(tmp_path / "history.jsonl"):
            folder.keep_again(again(url, 2.0, 2, "changed", 2), Page(url, title="new"))
        folder.close("", 2.0, {})
    assert [line["version"] for line in lines(tmp_path / "items.jsonl")] == [2]
