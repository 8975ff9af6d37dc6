"""Earlier crawls propose pages: the choice of pages, the time of their fetches, and their limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.livecrawl import crawl_on, crawl_web
from support.webs import DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.errors import BadCrawlDir, BadSetting
from crawlproject.library import rehearse
from crawlproject.parts.earlier.part import EarlierCrawls
from crawlproject.parts.earlier.proposals import EARLIER, Proposal, read_proposals, write_proposals
from crawlproject.records import Reply, Topic
from crawlproject.storage.read import read_visits
from crawlproject.topic.found_seeds import SEEDS
from crawlproject.webs.sample import SampleWeb

SEED = "http://www.open-directory.example/"
QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}
REEFS = Topic("reefs", ("coral reef", "bleaching"), (SEED,))


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("crawls")
    crawl_web(Topic("sea", ("coral", "fish"), (SEED,)), SampleWeb(), root / "sea", **QUICK, CRAWL_MAX_PAGES=80)
    return root


def fetched(folder: Path) -> list[str]:
    return [visit.url for visit in read_visits(folder)]


def item(url: str, text: str, **others: object) -> str:
    return json.dumps({"url": url, "title": "", "text": text, **others}) + "\n"


def crawl_with(items: Sequence[str], place: Path) -> Path:
    (place / "earlier").mkdir(parents=True)
    (place / "earlier" / "items.jsonl").write_text("".join(items))
    return place / "earlier"


def proposals_of(earlier: Path, folder: Path, topic: Topic = REEFS, **settings: object) -> list[str]:
    options = read_options({"CRAWL_EARLIER": str(earlier), **settings})
    crawl = assemble(topic, options, clock=lambda: 0.0, folder=folder)
    crawl.close("done", 0.0)
    return [one.url for one in read_proposals(folder)]


def test_the_best_pages_of_earlier_crawls_come_right_after_the_seeds(crawls: Path, tmp_path: Path) -> None:
    crawl_web(REEFS, SampleWeb(), tmp_path, **QUICK, CRAWL_MAX_PAGES=30, CRAWL_EARLIER=str(crawls))
    proposed = read_proposals(tmp_path)
    assert len(proposed) == SEEDS and {one.crawl for one in proposed} == {"sea"}
    assert fetched(tmp_path)[0] == SEED
    assert {*fetched(tmp_path)[1 : SEEDS + 1]} == {one.url for one in proposed}
    visits = {visit.url: visit for visit in read_visits(tmp_path)}
    assert all(visits[one.url].relevance > 0.3 and visits[one.url].depth == 1 for one in proposed)


def test_without_the_setting_nothing_is_read(crawls: Path, tmp_path: Path) -> None:
    crawl_web(REEFS, SampleWeb(), tmp_path, **QUICK, CRAWL_MAX_PAGES=5)
    assert not (tmp_path / EARLIER).exists()


def test_pages_that_are_gone_copies_spam_or_about_something_else_are_not_proposed(tmp_path: Path) -> None:
    about = "Coral reef bleaching in the lagoon, a year after the heat."
    earlier = crawl_with(
        [
            item("http://good.example/", about),
            item("http://gone.example/", about),
            item("http://copy.example/", about, duplicate_of="http://good.example/"),
            item("http://spam.example/", about, spam=0.9),
            item("http://other.example/", "Sourdough bread, and how to bake it."),
            item("http://word.example/", "Reef knots for sailors. " * 9),  # one of three words, the most common one
            item("http://gone.example/", "", state="gone"),
            item(SEED, about),
            *(item(f"http://more.example/{number}", "A reef of rock by the road.") for number in range(9)),
        ],
        tmp_path,
    )
    assert proposals_of(earlier, tmp_path / "crawl") == ["http://good.example/"]


def test_hosts_take_turns(tmp_path: Path) -> None:
    about = "Coral reef bleaching."
    items = [item(f"http://one.example/{number}", about) for number in range(20)]
    earlier = crawl_with([*items, item("http://two.example/", f"{about} And fish.")], tmp_path)
    found = proposals_of(earlier, tmp_path / "crawl")
    assert len(found) == SEEDS and found[1] == "http://two.example/"


def test_the_scope_holds_for_them(tmp_path: Path) -> None:
    web = DictWeb({url: Reply(url, 200, body=b"<p>coral reef</p>") for url in (SEED, "http://far.example/")})
    earlier = crawl_with([item("http://far.example/", "Coral reef bleaching.")], tmp_path)
    settings = {"CRAWL_EARLIER": str(earlier), "CRAWL_ALLOWED_DOMAINS": "open-directory.example"}
    crawl_web(REEFS, web, tmp_path / "crawl", **QUICK, **settings)
    assert fetched(tmp_path / "crawl") == [SEED]


def test_a_crawl_that_was_killed_before_they_waited_has_them_too_and_is_given_no_others(
    crawls: Path, tmp_path: Path
) -> None:
    url = "http://www.reef-atlas.example/"
    assemble(REEFS, read_options(QUICK), clock=lambda: 0.0, folder=tmp_path).close("shutdown", 0.0)
    write_proposals(tmp_path, [Proposal(url, "Reef Atlas", "sea", 0.5)])
    options = read_options({"CRAWL_EARLIER": str(crawls), **QUICK})
    crawl = assemble(REEFS, options, clock=lambda: 0.0, folder=tmp_path)
    crawl_on(crawl, SampleWeb(), 2)
    crawl.close("done", 2000.0)
    assert fetched(tmp_path) == [SEED, url]
    assert proposals_of(crawls, tmp_path) == [url]


def test_a_crawl_that_cannot_be_read_is_told_and_the_others_are_read(crawls: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "items.jsonl").write_text("[]\n")
    options = read_options({"CRAWL_EARLIER": [str(tmp_path / "broken"), str(crawls)]})
    crawl = assemble(REEFS, options, clock=lambda: 0.0, folder=tmp_path / "crawl")
    assert len(crawl.folder.warnings) == 1 and "broken" in crawl.folder.warnings[0]
    assert len(read_proposals(tmp_path / "crawl")) == SEEDS
    crawl.close("done", 0.0)


@pytest.mark.parametrize(
    "line", ["{}", "7", "[]", '{"url": 7, "title": "", "crawl": "a", "similarity": 1}',
             '{"url": "http://a.example/", "title": "", "crawl": [], "similarity": 1}',
             '{"url": "http://a.example/", "title": "", "crawl": "a", "similarity": "x"}']
)  # fmt: skip
def test_a_damaged_list_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / EARLIER).write_text(f"{line}\n")
    with pytest.raises(BadCrawlDir, match=f"{EARLIER}: expected pages of earlier crawls"):
        read_proposals(tmp_path)


def test_a_rehearsal_begins_there_too_and_writes_no_list(crawls: Path, tmp_path: Path) -> None:
    (run,) = rehearse("sample", REEFS, "dom", pages=12, out=tmp_path, CRAWL_EARLIER=str(crawls))
    visits = list(run.visits())
    assert sum(visit.relevance > 0.3 for visit in visits[1 : SEEDS + 1]) == SEEDS
    assert not (run.folder / EARLIER).exists()


@pytest.mark.parametrize(
    ("topic", "wish"),
    [(REEFS, "expected a folder"), (Topic("all", ("a",), (SEED,), members=(REEFS, REEFS)), "one topic only")],
)
def test_a_wrong_setting_is_told(topic: Topic, wish: str, tmp_path: Path) -> None:
    options = read_options({"CRAWL_EARLIER": str(tmp_path / "nowhere")})
    with pytest.raises(BadSetting, match=wish):
        EarlierCrawls.make(SimpleNamespace(topic=topic, options=options))  # type: ignore[arg-type]
