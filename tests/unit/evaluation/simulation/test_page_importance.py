"""The importance of crawled pages, read from the web they came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadInput
from crawlproject.evaluation.popularity import IMPORTANCE
from crawlproject.evaluation.simulation.page_importance import WebScorer
from crawlproject.storage.read import CrawlInfo

PAGES = {"a": "reef reef fish", "b": "coral reef", "c": "train"}


@pytest.fixture
def web(tmp_path: Path) -> str:
    for name, text in PAGES.items():
        path = tmp_path / "web" / "h.example" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        links = '<a href="b.html"></a>'
        path.write_text(f"<p>{text}</p>{links}")
    return str(tmp_path / "web")


def urls() -> list[str]:
    return [f"http://h.example/{name}.html" for name in PAGES]


def scores(web: str, name: str, cache: Path, info: CrawlInfo) -> list[float]:
    scorer = WebScorer(["sample", web], IMPORTANCE[name], cache_dir=cache)
    try:
        return list(scorer(info, urls()).values())
    finally:
        scorer.close()


def test_pages_are_judged_by_what_the_web_holds(web: str, tmp_path: Path) -> None:
    info = CrawlInfo(topic="t", keywords=("coral reef",), seeds=(urls()[1],), language="en")
    for _ in range(2):  # the second time from the cache
        assert scores(web, "keywords", tmp_path / "cache", info) == [0.5, 1, 0]
        assert scores(web, "backlinks", tmp_path / "cache", info) == [0, 2, 0]
        assert scores(web, "seed_similarity", tmp_path / "cache", info)[1] == pytest.approx(1)


def test_examples_may_be_files(web: str, tmp_path: Path) -> None:
    (tmp_path / "trains.html").write_text("<p>train steam train</p>")
    info = CrawlInfo(keywords=("reef",), positive=(urls()[0],), negative=(str(tmp_path / "trains.html"), "gone.html"))
    found = scores(web, "classifier", tmp_path / "cache", info)
    assert min(found[:2]) > found[2]


def test_another_web_is_refused(web: str, tmp_path: Path) -> None:
    scorer = WebScorer([web], IMPORTANCE["keywords"], cache_dir=tmp_path / "cache")
    with pytest.raises(BadInput, match="does not hold http://elsewhere"):
        scorer(CrawlInfo(topic="t", keywords=("reef",)), ["http://elsewhere.example/"])
    scorer.close()
