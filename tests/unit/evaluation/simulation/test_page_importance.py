"""The importance of crawled pages, read from the crawled web."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlproject.errors import BadInput
from crawlproject.evaluation.importance import IMPORTANCE
from crawlproject.evaluation.runs import find_runs
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


def test_hot_pages_and_trusted_ones(web: str, tmp_path: Path) -> None:
    folder = Path(web) / "h.example"
    folder.joinpath("a.html").write_text("<title>Coral reefs of today</title><p>fish</p>")
    folder.joinpath("b.html").write_text("<p>" + "A coral reef. " * 10 + "</p>")
    folder.joinpath("c.html").write_text("<p>" + "A coral reef. " * 9 + "</p>")
    info = CrawlInfo(topic="t", keywords=("coral reef",), seeds=(urls()[1],), language="en")
    assert scores(web, "hot", tmp_path / "cache", info) == [1, 1, 0]
    assert scores(web, "trusted_pagerank", tmp_path / "cache", info) == pytest.approx([0, 3, 0])


def test_pagerank_over_the_pages_of_all_topics(web: str, tmp_path: Path, write_crawl, page) -> None:
    """Paper 001 section 4.2: a and c have no link in the first topic; in the second, page d links to c."""
    (Path(web) / "h.example" / "a.html").write_text("<p>reef</p>")
    (Path(web) / "h.example" / "c.html").write_text("<p>reef</p>")
    other = "http://h.example/d.html"
    (Path(web) / "h.example" / "d.html").write_text('<p>x</p><a href="c.html">c</a>')
    for topic, pages in (("t", [urls()[0], urls()[2]]), ("u", [other, urls()[2]])):
        facts = {"name": topic, "keywords": ["reef"], "seeds": pages[:1], "language": "en"}
        write_crawl(tmp_path / "runs" / topic / "dom", [page(url) for url in pages], topic=facts)
    runs = find_runs(tmp_path / "runs")
    found = {}
    for several in ((), runs):
        scorer = WebScorer([web], IMPORTANCE["keywords_pagerank"], cache_dir=tmp_path / "cache", runs=several)
        found[len(several)] = scorer(runs[0].info, [urls()[0], urls()[2]])
        scorer.close()
    assert list(found[0].values()) == [0.5, 0.5]
    assert list(found[2].values()) == [0, 1]


def test_another_web_is_refused(web: str, tmp_path: Path) -> None:
    scorer = WebScorer([web], IMPORTANCE["keywords"], cache_dir=tmp_path / "cache")
    with pytest.raises(BadInput, match="does not hold http://elsewhere"):
        scorer(CrawlInfo(topic="t", keywords=("reef",)), ["http://elsewhere.example/"])
    scorer.close()
