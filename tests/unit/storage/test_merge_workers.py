"""The folders of several workers as one crawl folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawlproject.errors import BadCrawlDir
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.crawl_folder import CrawlFolder
from crawlproject.storage.merge_workers import merge_workers, workers_of
from crawlproject.urls.naming import page_name

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
