"""A crawl of several topics: its members, the data of each, and the state after a resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.livecrawl import crawl_on
from support.parts import topics_of
from support.webs import DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.stopping import TOPICS_HAVE_ENOUGH
from crawlproject.errors import BadCrawlDir, BadSetting, BadTopic
from crawlproject.parts.topics.report import read_topic_rows
from crawlproject.parts.topics.topics_log import read_topics
from crawlproject.records import Topic
from crawlproject.reports.report import write_report
from crawlproject.topic.folder import together

IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 1, "CRAWL_SITE_BUDGET": 0}
TEXTS = {"reefs": "coral reef fish", "bread": "sourdough bread oven", "engines": "steam engine boiler"}


def topic(name: str, **fields: Any) -> Topic:
    return Topic(name, tuple(TEXTS[name].split()), (f"http://{name}.example/",), **fields)


def a_web(pages: int = 12) -> DictWeb:
    """One host per topic, whose pages link to further pages and to the hosts of other topics."""
    homes = [f"http://{name}.example/" for name in TEXTS]
    found = {}
    for name, text in TEXTS.items():
        own = [f"http://{name}.example/{number}" for number in range(pages)]
        found |= dict([page(f"http://{name}.example/", *own[:3], *homes, text=text)])
        found |= dict(page(url, *own[number : number + 3], text=f"{text} {number}") for number, url in enumerate(own))
    return DictWeb(found)


def opened(folder: Path, *members: Topic, ordering: str = "adaptive", **settings: object) -> Crawl:
    options = read_options({**IMPATIENT, "ORDERING": ordering, **settings})
    return assemble(together("all", members), options, clock=lambda: 1.0, folder=folder)


def end(crawl: Crawl, reason: str = "finished") -> None:
    crawl.close(reason, 2000.0)


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def own_pages(folder: Path, name: str) -> set[str]:
    return {line["url"] for line in lines(folder / "topics" / name, "items.jsonl")}


@pytest.mark.parametrize("ordering", ["adaptive", "best_first", "dom"])
def test_a_page_is_fetched_once_and_judged_for_every_topic(tmp_path: Path, ordering: str) -> None:
    crawl = opened(tmp_path, topic("reefs"), topic("bread"), ordering=ordering)
    crawl_on(crawl, a_web(), 60)
    end(crawl)
    visits = lines(tmp_path, "history.jsonl")
    assert len({line["url"] for line in visits}) == len(visits)
    assert all(set(line["topics"]) == {"reefs", "bread"} for line in visits if line["md5"])
    assert all(line["relevance"] == max(line["topics"].values()) for line in visits if line["md5"])
    assert all(set(line["topics"]) == {"reefs", "bread"} for line in lines(tmp_path, "items.jsonl"))
    for name in ("reefs", "bread"):
        assert own_pages(tmp_path, name) == {
            line["url"] for line in visits if line["topics"].get(name, 0) >= crawl.options.page_relevant
        }
        assert any(url.startswith(f"http://{name}.example/") for url in own_pages(tmp_path, name))


def test_the_folder_of_a_topic_is_a_crawl_folder_of_it(tmp_path: Path) -> None:
    crawl = opened(tmp_path, topic("reefs"), topic("bread", weight=2.0, pages=500))
    crawl_on(crawl, a_web(), 60)
    end(crawl)
    report = write_report(tmp_path / "topics" / "reefs").read_text()
    assert "coral" in report and "sourdough" not in report.partition("Setup")[0]
    whole = write_report(tmp_path).read_text()
    assert 'href="topics/reefs/report.html"' in whole and "of 500" in whole
    rows = {row.name: row for row in read_topic_rows(tmp_path, crawl.options.page_relevant)}
    assert rows["reefs"].pages == topics_of(crawl).found["reefs"] > 0  # type: ignore[union-attr]
    with pytest.raises(BadCrawlDir, match="shows one topic of the crawl in"):
        assemble(topic("reefs"), read_options({**IMPATIENT}), clock=lambda: 1.0, folder=tmp_path / "topics" / "reefs")


@pytest.mark.parametrize("ordering", ["adaptive", "dom"])
def test_a_topic_joins_and_has_what_was_stored_before(tmp_path: Path, ordering: str) -> None:
    crawl = opened(tmp_path, topic("reefs"), topic("bread"), ordering=ordering)
    web = a_web()
    crawl_on(crawl, web, 30)
    before = {line["url"] for line in lines(tmp_path, "history.jsonl")}
    assert topics_of(crawl) is not None
    topics_of(crawl).join(topic("engines"), "engines.toml", 1500.0)
    slices = 0
    while not topics_of(crawl).catch_up(lambda: False):
        slices += 1
    assert slices > 10, "in small slices"
    engines = {url for url in before if url.startswith("http://engines.example/")}
    assert engines and engines <= own_pages(tmp_path, "engines")
    crawl_on(crawl, web, 20, begin=1600.0)
    end(crawl)
    last = lines(tmp_path, "history.jsonl")[-1]
    assert set(last["topics"]) == {"reefs", "bread", "engines"}
    assert topics_of(crawl).found["engines"] == len(own_pages(tmp_path, "engines"))
    assert read_topics(tmp_path)["engines"].joined_at_page > 0
    assert json.loads((tmp_path / "crawl.json").read_text())["topic"]["members"] == ["reefs", "bread", "engines"]


def test_a_topic_that_joins_brings_its_seeds(tmp_path: Path) -> None:
    web = DictWeb(
        dict([page("http://reefs.example/", text=TEXTS["reefs"]), page("http://engines.example/", text="steam")])
    )
    crawl = opened(tmp_path, topic("reefs"))
    crawl_on(crawl, web, 5)
    assert topics_of(crawl) is not None
    topics_of(crawl).join(topic("engines"), "engines.toml", 1500.0)
    crawl_on(crawl, web, 5, begin=1600.0)
    end(crawl)
    assert {line["url"] for line in lines(tmp_path, "history.jsonl")} == set(web.urls())


def test_a_topic_that_leaves_keeps_its_folder_which_says_so(tmp_path: Path) -> None:
    crawl = opened(tmp_path, topic("reefs"), topic("bread"))
    web = a_web()
    crawl_on(crawl, web, 20)
    assert topics_of(crawl) is not None
    topics_of(crawl).leave("bread", 1500.0)
    kept = own_pages(tmp_path, "bread")
    crawl_on(crawl, web, 20, begin=1600.0)
    end(crawl)
    assert own_pages(tmp_path, "bread") == kept
    assert json.loads((tmp_path / "topics" / "bread" / "crawl.json").read_text())["reason"] == "topic left"
    assert set(lines(tmp_path, "history.jsonl")[-1]["topics"]) == {"reefs"}
    assert read_topics(tmp_path)["bread"].left == 1500.0
    with pytest.raises(BadTopic, match="is the last topic of the crawl"):
        topics_of(crawl).leave("reefs", 1600.0)


def test_a_resumed_crawl_knows_who_joined_and_who_left(tmp_path: Path) -> None:
    first = opened(tmp_path, topic("reefs"), topic("bread"))
    web = a_web()
    crawl_on(first, web, 30)
    end(first, "shutdown")
    crawl = opened(tmp_path, topic("reefs"), topic("engines"))
    assert topics_of(crawl) is not None
    assert list(topics_of(crawl).members) == ["reefs", "engines"]
    assert topics_of(crawl).found["reefs"] == topics_of(first).found["reefs"]  # type: ignore[union-attr]
    topics_of(crawl).catch_up()
    engines = {line["url"] for line in lines(tmp_path, "history.jsonl") if line["url"].startswith("http://engines")}
    assert engines <= own_pages(tmp_path, "engines")
    assert topics_of(crawl).found["engines"] == len(own_pages(tmp_path, "engines"))
    end(crawl)
    states = read_topics(tmp_path)
    assert [name for name, state in states.items() if state.left is None] == ["reefs", "engines"]
    again = opened(tmp_path, topic("reefs"), topic("bread"), topic("engines"))
    assert topics_of(again) is not None
    assert topics_of(again).found["bread"] == topics_of(first).found["bread"]  # type: ignore[union-attr]
    end(again)


def test_a_topic_that_changed_is_another_one(tmp_path: Path) -> None:
    end(opened(tmp_path, topic("reefs"), topic("bread")))
    other = Topic("bread", ("steam",), ("http://bread.example/",))
    with pytest.raises(BadCrawlDir, match=r"keywords: .* give a changed topic another name"):
        opened(tmp_path, topic("reefs"), other)
    crawl = opened(tmp_path, topic("reefs"))
    assert topics_of(crawl) is not None
    with pytest.raises(BadTopic, match="give a changed topic another name"):
        topics_of(crawl).join(other, "bread.toml", 1.0)
    end(crawl)


def test_what_does_not_fit_a_running_crawl_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    crawl = opened(tmp_path, topic("reefs"))
    assert topics_of(crawl) is not None
    for wrong, wish in (
        (
            topic("bread", settings={"CRAWL_MAX_PAGES": 5}),
            "crawl.CRAWL_MAX_PAGES: 5 is not a setting of the running crawl",
        ),
        (topic("bread", language="de"), "language: 'de', but the crawl's topic reefs has 'en'"),
        (topic("reefs"), "name: 'reefs' is the name of the topic in the crawl's topic reefs"),
        (Topic("bread", ("the",), ("http://bread.example/",)), "not a stop word"),
    ):
        with pytest.raises(BadTopic if "stop word" not in wish else ValueError, match=wish):
            topics_of(crawl).join(wrong, "bread.toml", 1.0)
    assert list(topics_of(crawl).members) == ["reefs"]
    assert list(read_topics(tmp_path)) == ["reefs"]
    end(crawl)


def test_a_crawl_of_one_topic_and_one_of_several_are_not_the_same(tmp_path: Path) -> None:
    end(opened(tmp_path, topic("reefs")))
    with pytest.raises(BadCrawlDir, match="of several topics, not of one"):
        assemble(topic("reefs"), read_options(IMPATIENT), clock=lambda: 1.0, folder=tmp_path)


@pytest.mark.parametrize("ordering", ["adaptive", "best_first"])
def test_a_topic_with_enough_pages_steers_no_more_and_all_with_enough_end_the_crawl(
    tmp_path: Path, ordering: str
) -> None:
    crawl = opened(tmp_path, topic("reefs", pages=3), topic("bread", pages=4), ordering=ordering)
    crawl_on(crawl, a_web(30), 90)
    assert topics_of(crawl) is not None
    assert crawl.end_reason(1500.0) == TOPICS_HAVE_ENOUGH
    assert topics_of(crawl).found["reefs"] >= 3 and topics_of(crawl).found["bread"] >= 4
    assert len(lines(tmp_path, "history.jsonl")) < 60
    end(crawl, TOPICS_HAVE_ENOUGH)
    again = opened(tmp_path, topic("reefs", pages=3), topic("bread", pages=4), ordering=ordering)
    assert again.end_reason(1.0) == TOPICS_HAVE_ENOUGH
    end(again)


def test_workers_of_a_shared_frontier_crawl_one_topic(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="needs FRONTIER memory or disk"):
        opened(tmp_path, topic("reefs"), FRONTIER="redis")


def test_a_folder_from_elsewhere_names_no_topic_outside_of_itself(tmp_path: Path) -> None:
    """A topic that is no longer in the crawl gets a last view, which would begin by emptying the files of the other crawl."""
    other, own = tmp_path / "other", tmp_path / "own"
    for folder in (other, own):
        crawl = opened(folder, topic("reefs"))
        crawl_on(crawl, a_web(), 5)
        end(crawl)
    before = (other / "history.jsonl").read_bytes()
    [line] = lines(own, "topics.jsonl")
    line["topic"]["name"] = "../../other"
    with (own / "topics.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(BadCrawlDir, match=r"topics\.jsonl, line 2"):
        crawl_on(opened(own, topic("reefs")), a_web(), 5)
    assert (other / "history.jsonl").read_bytes() == before


@pytest.mark.parametrize("link", ["topics", "topics/reefs", "topics/reefs/history.jsonl"])
def test_a_folder_from_elsewhere_writes_no_topic_outside_of_itself(tmp_path: Path, link: str) -> None:
    """A view of a topic that lacks its notes begins by emptying its files."""
    other, own = tmp_path / "other", tmp_path / "own"
    for folder in (other, own):
        crawl = opened(folder, topic("reefs"))
        crawl_on(crawl, a_web(), 5)
        end(crawl)
    place, target = own / link, other / link
    target.parent.joinpath("view.json").unlink(missing_ok=True)
    before = (other / "topics" / "reefs" / "history.jsonl").read_bytes()
    (own / "topics" / "reefs" / "view.json").unlink()
    place.rename(tmp_path / "away")
    place.symlink_to(target)
    with pytest.raises(BadCrawlDir, match=f"own/{link}: is a symbolic link"):
        crawl_on(opened(own, topic("reefs")), a_web(), 5)
    assert (other / "topics" / "reefs" / "history.jsonl").read_bytes() == before != b""


DAMAGED_TOPICS = [
    "null",
    "[]",
    '"reefs"',
    *(
        f'{{"name": "reefs", "keywords": ["a"], "seeds": [], {wrong}}}'
        for wrong in (
            '"name": 5', '"keywords": "a"', '"keywords": [5]', '"seeds": 5', '"positive": {}', '"language": null',
            '"weight": "heavy"', '"weight": 0', '"weight": -1', '"pages": [1]', '"pages": -1',
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED_TOPICS)
def test_a_damaged_line_about_topics_is_named(tmp_path: Path, damage: str) -> None:
    (tmp_path / "topics.jsonl").write_text(f'{{"event": "joined", "at": 1, "pages": 0, "topic": {damage}}}\n')
    with pytest.raises(BadCrawlDir, match=r"topics\.jsonl, line 1"):
        read_topics(tmp_path)


@pytest.mark.parametrize("wrong", [{"event": 5}, {"at": "now"}, {"pages": {}}])
def test_a_damaged_event_of_a_topic_is_named(tmp_path: Path, wrong: dict[str, object]) -> None:
    topic = {"name": "reefs", "keywords": ["a"], "seeds": []}
    line = {"event": "joined", "at": 1, "pages": 0, "topic": topic}
    (tmp_path / "topics.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps({**line, **wrong})}\n")
    with pytest.raises(BadCrawlDir, match=rf"topics\.jsonl, line 2: .*{next(iter(wrong))}"):
        read_topics(tmp_path)
