"""The choice of pages to revisit."""

from __future__ import annotations

from pathlib import Path

from crawlproject.parts.revisits.collection import Collection
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.outcomes import replay_policy
from crawlproject.records import Visit
from crawlproject.storage.append_log import AppendLog
from crawlproject.urls.post import post_url


def test_an_answer_to_a_post_is_no_page_to_visit_again(tmp_path: Path) -> None:
    place = "http://a.example/find"
    log = AppendLog(tmp_path / "history.jsonl")
    for url in (place, post_url(place, "q=reef"), f"{place}?q=reef"):
        log.append(Visit(url, 200, 1.0, md5="0" * 32))
    log.close()
    collection = Collection(tmp_path)
    assert [page.url for page in collection.pages()] == [place, f"{place}?q=reef"]
    assert collection.find(post_url(place, "q=reef")) is None
    collection.close()
    replayed = replay_policy(tmp_path, RevisitOptions(crawl_revisit="uniform"))
    assert [(page.row, page.url) for page in replayed.pages] == [(0, place), (1, f"{place}?q=reef")], "the same rows"
