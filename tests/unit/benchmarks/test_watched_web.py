"""What the server notes of a crawl, read back as a crawl folder."""

from __future__ import annotations

from pathlib import Path

from support.webs import DictWeb, page, robots

from benchmarks.watched_web import WatchedWeb, write_run
from crawlproject.evaluation.measures import target_recall
from crawlproject.evaluation.runs import find_runs, load_run
from crawlproject.options import read_options
from crawlproject.records import Topic
from crawlproject.webs.base import Reply

OPTIONS = read_options({})
HOST = "http://a.example"
WEB = DictWeb(
    dict(
        [
            page(f"{HOST}/"),
            page(f"{HOST}/one"),
            page(f"{HOST}/two"),
            page(f"{HOST}/three"),
            robots(HOST, "User-agent: *\nDisallow:\n"),
            (f"{HOST}/old", Reply(f"{HOST}/old", 301, {"location": "/two"})),
            (f"{HOST}/photo", Reply(f"{HOST}/photo", 200, {"content-type": "image/png"}, b"png")),
        ]
    )
)


def watched(limit: int) -> tuple[WatchedWeb, list[int]]:
    calls: list[int] = []
    web = WatchedWeb(WEB, OPTIONS, limit, lambda: calls.append(1))
    return web, calls


def test_a_page_counts_once_whatever_its_spelling() -> None:
    web, calls = watched(2)
    for url in ("/", "/index.html", "/#top", "/robots.txt", "/photo", "/gone", "/old"):
        web.get(HOST + url)
    assert web.pages == {f"{HOST}/"}
    assert not calls
    web.get(f"{HOST}/two")
    assert calls == [1]


def test_after_the_limit_replies_go_on_and_nothing_is_noted() -> None:
    web, calls = watched(1)
    web.get(f"{HOST}/one")
    assert web.get(f"{HOST}/two").status == 200
    assert web.pages == {f"{HOST}/one"}
    assert calls == [1]


def test_a_run_is_a_crawl_folder_to_compare(tmp_path: Path) -> None:
    """The target /old is the page /two, where it redirects to: found after two pages."""
    topic = Topic(name="t", keywords=("a",), seeds=(f"{HOST}/index.html",), targets=(f"{HOST}/old", f"{HOST}/three"))
    web, _ = watched(3)
    for url in ("/", "/gone", "/old", "/two", "/three"):
        web.get(HOST + url)
    write_run(tmp_path / "t" / "rival", topic, "rival", web, OPTIONS, "page budget")
    [folder] = find_runs(tmp_path)
    run = load_run(folder)
    assert (run.topic, run.ordering, run.fetches) == ("t", "rival", 5)
    assert run.urls == (f"{HOST}/", f"{HOST}/two", f"{HOST}/three")
    assert target_recall(run.urls, run.targets, run.redirects).tolist() == [0, 0.5, 1]
    assert folder.info.reason == "page budget"
