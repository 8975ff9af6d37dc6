"""Copies, spellings and templates in a whole crawl: rehearsed, and resumed from its folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from support.events import page_event
from support.livecrawl import crawl_on
from support.parts import duplicates_of
from support.webs import HTML, DictWeb

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.reading import make_reader
from crawlproject.errors import BadSetting
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.duplicates.part import Duplicates
from crawlproject.parts.duplicates.seen_shingles import SeenShingles
from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_learner import UrlRuleLearner
from crawlproject.parts.duplicates.url_rule_store import OFF, UrlRuleStore, read_rules
from crawlproject.parts.duplicates.url_templates import UrlTemplates
from crawlproject.parts.duplicates.url_versions import UrlVersions
from crawlproject.records import ACTIVE, REDUNDANT, CrawlUrl, Link, Page, Reply, Span, Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import JudgedPages, PageCache

A = "http://a.example"
TOPIC = Topic("reefs", ("coral reef",), (f"{A}/",))
QUICK = {"ORDERING": "breadth_first", "POLITENESS_MIN_DELAY": 0, "CRAWL_SITE_BUDGET": 0, "FRONTIER_BATCH_SIZE": 1}
SID = UrlRule("a.example", "param", "sid")


def words(seed: int, count: int = 120) -> str:
    random = Random(seed)
    return " ".join(
        f"{random.choice('bcdfg')}{random.choice('aeiou')}{random.choice('klmnp')}{seed}x{n}" for n in range(count)
    )


def page(text: str, *links: str, title: str = "A page of reefs") -> bytes:
    anchors = "".join(f'<li><a href="{link}">go</a>' for link in links)
    return f"<!doctype html><title>{title}</title><p>{text}</p><ul>{anchors}</ul>".encode()


class Shop:
    """A web of ten articles. Each link has a different session ID, and the article is the same in all sessions."""

    def __init__(self, articles: int = 10) -> None:
        self.articles = articles
        self.session = 0
        self.asked: list[str] = []

    def get(self, url: str) -> Reply:
        if url.endswith("/robots.txt"):
            return Reply(url, 404)
        self.asked.append(url)
        path, _, _query = url.removeprefix(A).partition("?")
        number = int(path.strip("/") or 0)
        links = []
        for other in range(self.articles):
            self.session += 1
            links.append(f"/{other}?sid={self.session}")
        if number >= self.articles:
            return Reply(url, 404)
        return Reply(url, 200, dict(HTML), page(words(number), *links, title=f"The reef, chapter {words(number, 2)}"))


def rehearse(web: Any, folder: Path, pages: int, **settings: object) -> Crawl:
    options = read_options({**QUICK, "CRAWL_MAX_PAGES": pages, **settings})
    analyzer = Analyzer("en")
    cache = PageCache(web, make_reader(options, analyzer, make_canonicalizer(options)), options)
    rehearsal = CrawlSimulation(TOPIC, options, web, agent="test", folder=folder)
    return rehearsal.run(JudgedPages(cache, TopicJudge(TOPIC.keywords, analyzer)))


def fetched(folder: Path) -> list[dict[str, Any]]:
    return list(read_lines(folder / "history.jsonl"))


def test_copies_are_marked_and_their_links_come_last(tmp_path: Path):
    web = DictWeb(
        {
            f"{A}/": Reply(f"{A}/", 200, HTML, page(words(1), "/one/reef", "/two/reef")),
            f"{A}/one/reef": Reply("", 200, HTML, page(words(2), "/one/a", title="The great reef")),
            f"{A}/two/reef": Reply("", 200, HTML, page(words(2), "/two/a", title="The great reef")),
            f"{A}/one/a": Reply("", 200, HTML, page(words(3))),
            f"{A}/one/b": Reply("", 200, HTML, page(words(5))),
            f"{A}/two/a": Reply("", 200, HTML, page(words(4))),
        }
    )
    web.replies[f"{A}/one/a"] = Reply("", 200, HTML, page(words(3), "/one/b"))
    rehearse(web, tmp_path, 10)
    lines = {line["url"]: line for line in fetched(tmp_path)}
    assert lines[f"{A}/two/reef"]["duplicate_of"] == f"{A}/one/reef"
    assert list(lines)[-3:] == [f"{A}/one/a", f"{A}/one/b", f"{A}/two/a"]
    rehearse(web, tmp_path / "off", 10, PAGE_DUPLICATES=False)
    assert [line["url"] for line in fetched(tmp_path / "off")][-2:] == [f"{A}/two/a", f"{A}/one/b"]


def translated(*languages: str) -> DictWeb:
    """A manual in which each page is the English one, in the order of the languages."""
    start = page(words(1), *(f"/{language}/reef" for language in languages))
    copies = {
        f"{A}/{language}/reef": Reply("", 200, HTML, page(words(2), f"/{language}/next", title="The great reef"))
        for language in languages
    }
    return DictWeb({f"{A}/": Reply("", 200, HTML, start), **copies})


def test_the_copy_in_the_language_of_the_topic_takes_the_place_of_those_before(tmp_path: Path) -> None:
    rehearse(translated("de", "fr", "en", "da"), tmp_path, 10, ORDERING="breadth_first")
    lines = {line["url"]: line for line in fetched(tmp_path) if line["status"] == 200}
    first, english = f"{A}/de/reef", f"{A}/en/reef"
    assert [line["duplicate_of"] for line in lines.values()] == ["", "", first, first, first]
    assert {url: line["replaces"] for url, line in lines.items() if line["replaces"]} == {english: first}
    assert lines[english]["signs"]["own_links"] == 1.0, "its links are followed as those of an original"


def test_of_copies_in_one_language_the_shorter_url_is_kept(tmp_path: Path) -> None:
    web = DictWeb(
        {
            f"{A}/": Reply("", 200, HTML, page(words(1), "/archive/2024/reef", "/x/reef", "/y/z/reef")),
            **{
                f"{A}{path}": Reply("", 200, HTML, page(words(2), title="The great reef"))
                for path in ("/archive/2024/reef", "/x/reef", "/y/z/reef")
            },
        }
    )
    rehearse(web, tmp_path, 10, ORDERING="breadth_first")
    replaced = {line["url"]: line["replaces"] for line in fetched(tmp_path) if line["replaces"]}
    assert replaced == {f"{A}/x/reef": f"{A}/archive/2024/reef"}


def test_a_copy_of_a_page_that_may_not_be_kept_is_kept(tmp_path: Path) -> None:
    web = translated("en", "de")
    body = web.replies[f"{A}/en/reef"].body.replace(b"<p>", b'<meta name="robots" content="noindex"><p>')
    web.replies[f"{A}/en/reef"] = Reply("", 200, HTML, body)
    rehearse(web, tmp_path, 10, ORDERING="breadth_first")
    replaced = {line["url"]: line["replaces"] for line in fetched(tmp_path) if line["replaces"]}
    assert replaced == {f"{A}/de/reef": f"{A}/en/reef"}


def test_a_session_trap_comes_last_and_ends_when_its_rule_is_certain(tmp_path: Path):
    crawl = rehearse(Shop(), tmp_path, 1000)
    lines = fetched(tmp_path)
    originals = {line["url"].partition("?")[0] for line in lines[:60] if not line["duplicate_of"]}
    assert len(originals) >= 10
    assert 268 < len(lines) < 1000
    refused = crawl.folder.refusals.counts
    assert refused["dust/respelled"] + refused["dust/copy"] > 0
    assert crawl.stats.counters()["refused/dust/copy"] > 0


def test_what_a_rule_put_behind_others_comes_forward_when_it_is_withdrawn():
    known: set[str] = set()
    moved: list[tuple[str, int]] = []
    rules = UrlRuleLearner(known.__contains__)
    part = Duplicates(rules=rules, reclass=lambda key, precedence: moved.append((key, precedence)))

    def fetch(url: str, first: str = "") -> None:
        known.add(url)
        part.learn(page_event(Page(url, duplicate_of=first)))

    for number in range(5):
        for session in "abc":
            fetch(f"{A}/{number}?sid={session}", f"{A}/{number}?sid=a" if session != "a" else "")
    waiting = CrawlUrl(f"{A}/3?sid=z", 0.5, depth=1)
    assert part.precedence(waiting, 0.0) == REDUNDANT and part.respelled(waiting.url) == waiting.url
    assert part.precedence(CrawlUrl(f"{A}/3?sid=y", 0.5, depth=0), 0.0) == ACTIVE, "a person named it"
    for number in range(10):
        fetch(f"{A}/{number % 5}?sid=other{number}")  # from now on each session shows something else
    assert moved == [(waiting.url, ACTIVE)]


def test_without_all_of_it_the_trap_takes_the_budget(tmp_path: Path):
    rehearse(Shop(), tmp_path, 200, PAGE_DUPLICATES=False, TRAP_TEMPLATES=False, CRAWL_LEARN_RULES=False)
    assert len(fetched(tmp_path)) == 200


def manual(languages: tuple[str, ...], chapters: int) -> DictWeb:
    """A manual with a folder for each language; all but the first have translated only every third chapter."""
    replies = {}
    for language in languages:
        for number in range(chapters):
            translated = language == languages[0] or number % 3 == 0
            text = words(1000 * languages.index(language) + number if translated else number)
            links = [f"chapter-{other}.html" for other in (number + 1, number + 2) if other < chapters]
            links += [f"../{other}/chapter-0.html" for other in languages] if number == 0 else []
            url = f"{A}/manual/{language}/chapter-{number}.html"
            replies[url] = Reply(url, 200, HTML, page(text, *links, title=f"The reef, chapter {words(number, 2)}"))
    start = Reply(f"{A}/", 200, HTML, page(words(9999), f"/manual/{languages[0]}/chapter-0.html"))
    return DictWeb({f"{A}/": start, **replies})


@pytest.mark.parametrize("languages", [("en", "de"), ("en", "hr-HR", "ko", "pt-br", "zh-cn")])
def test_of_a_manual_that_is_half_translated_every_page_is_fetched(tmp_path: Path, languages: tuple[str, ...]) -> None:
    """Apache's manual, and the Debian handbook: without a translation a page is a copy of the English one."""
    web = manual(languages, 30)
    rehearse(web, tmp_path, 0, CRAWL_SITE_BUDGET=1)
    lines = fetched(tmp_path)
    assert {line["url"] for line in lines} == set(web.urls())
    assert sum(bool(line["duplicate_of"]) for line in lines) == 20 * (len(languages) - 1)


class Calendar:
    """Twenty articles, and an endless calendar that every page links to."""

    def get(self, url: str) -> Reply:
        path = url.removeprefix(A)
        if path == "/robots.txt":
            return Reply(url, 404)
        if path.startswith("/day/"):
            day = int(path.removeprefix("/day/"))
            text = " ".join(f"slot {24 * day + hour} vacant booth {31 * day + hour}" for hour in range(24))
            return Reply(url, 200, dict(HTML), page(text, *(f"/day/{day + n}" for n in (1, 2, 3)), title=f"Day {day}"))
        number = int(path.strip("/") or 0)
        return (
            Reply(url, 200, dict(HTML), page(words(number), "/day/1", f"/{number + 1}"))
            if number < 20
            else Reply(url, 404)
        )


def test_a_calendar_waits_while_there_is_something_else(tmp_path: Path):
    rehearse(Calendar(), tmp_path / "on", 100, POLITENESS_MIN_DELAY=1)
    rehearse(Calendar(), tmp_path / "off", 100, POLITENESS_MIN_DELAY=1, TRAP_TEMPLATES=False)
    ends = {}
    for name in ("on", "off"):
        lines = fetched(tmp_path / name)
        assert len(lines) >= 100  # the calendar is tried again when nothing else is left
        assert not any(line["duplicate_of"] for line in lines)  # its pages differ, in their numbers
        ends[name] = max(place for place, line in enumerate(lines) if "/day/" not in line["url"])
    assert ends["on"] < 35
    assert ends["on"] < ends["off"]


class Repository:
    """Forty files in folders, each with a log, a plain view, an annotated view, and old versions at eight tags."""

    def get(self, url: str) -> Reply:
        path, _, query = url.removeprefix(A).partition("?")
        if path == "/robots.txt":
            return Reply(url, 404)
        if path == "/":
            return Reply(url, 200, dict(HTML), page(words(9999), *(f"/tree/{folder}" for folder in range(8))))
        view, _, name = path.strip("/").partition("/")
        if "/" not in name:
            return Reply(url, 200, dict(HTML), page(f"folder {name}", *self._rows(name, query), title=f"Folder {name}"))
        text = words(1000 + 10 * int(name.partition("/")[0]) + int(name.rpartition("/")[2]))
        said = {
            "tree": f"{text} of the file",
            "plain": text,
            "blame": " ".join(f"{line} ann" for line in re.findall(r"(?:\S+ ){60}", f"{text} ")),
            "log": "recent changes of the file: begun, changed, corrected",
        }
        links = [f"/{other}/{name}" for other in said] + [f"/tree/{name}?h=tag{tag}" for tag in range(8)]
        return Reply(url, 200, dict(HTML), page(said[view], *links, title=f"{view} of {name}"))

    def _rows(self, folder: str, query: str) -> list[str]:
        views, tag = ("tree", "log", "plain", "blame"), f"?{query}" if query else ""
        return [f"/{view}/{folder}/{file}{tag}" for file in range(5) for view in views]


def test_one_view_of_each_file_of_a_repository_comes_before_the_others(tmp_path: Path):
    found = {}
    for name, learns in (("on", True), ("off", False)):
        rehearse(Repository(), tmp_path / name, 0, TRAP_TEMPLATES=learns, POLITENESS_MIN_DELAY=1)
        urls = [line["url"] for line in fetched(tmp_path / name)]
        files = [place for place, url in enumerate(urls) if "/tree/" in url and url.count("/") == 5 and "?" not in url]
        assert len(files) == 40 and len(urls) == len(set(urls)) > 400, "all views are fetched in the end"
        found[name] = files[-1]
    assert found["on"] < 0.7 * found["off"]


def test_pages_of_a_template_that_brought_something_refute_that_they_are_old_versions():
    """Each commit has a page, and each file is shown at each commit: one parameter names both."""
    known: set[str] = set()
    part = Duplicates(templates=UrlTemplates(), versions=UrlVersions(known.__contains__))
    hashes = [sha1(b"%d" % number).hexdigest() for number in range(12)]
    links = [f"{A}/tree/{file}?id={commit}" for file in "abcd" for commit in hashes]
    links += [f"{A}/commit/?id={commit}" for commit in hashes]
    part.learn(page_event(Page(f"{A}/", links=tuple(Link(url, "", Span(0, 0), Span(0, 0)) for url in links))))

    def waits(url: str) -> bool:
        return part.precedence(CrawlUrl(url, 0.5, depth=1), 0.0) > ACTIVE

    assert waits(f"{A}/commit/?id={hashes[9]}") and waits(f"{A}/tree/a?id={hashes[9]}")
    for commit in hashes[:3]:
        part.learn(page_event(Page(f"{A}/commit/?id={commit}")))
    assert not waits(f"{A}/commit/?id={hashes[8]}"), "a page of its own"
    assert waits(f"{A}/tree/a?id={hashes[8]}")


def test_a_short_page_whose_text_was_shown_says_nothing_new_and_another_does():
    seen = SeenShingles()
    shown = np.random.default_rng(1).integers(0, 1 << 62, 300, dtype=np.uint64)
    other = np.random.default_rng(2).integers(0, 1 << 62, 40, dtype=np.uint64)
    assert seen.new_share("a.example", shown) == 1.0
    assert seen.new_share("a.example", shown[100:140]) == 0.0
    assert seen.new_share("a.example", other) == 1.0
    assert seen.new_share("b.example", shown[100:140]) == 1.0, "another host"


# ------------------------------------------------------------ live, and resumed


def live(folder: Path, **settings: object) -> Crawl:
    return assemble(TOPIC, read_options({**QUICK, **settings}), clock=lambda: 1000.0, folder=folder)


def state(crawl: Crawl) -> dict[str, Any]:
    """The visible part of the learned state."""
    learned = duplicates_of(crawl)
    assert learned.copies and learned.rules and learned.templates
    return {
        "rules": {str(t.rule): (t.confirmed, t.off, t.pairs) for t in learned.rules.evidence()},
        "templates": {
            name: (t.uninformative, t.informative, t.demoted) for name, t in learned.templates._templates.items()
        },
        "originals": [original.url for original in learned.copies.index._originals],
    }


@pytest.mark.parametrize("fetches", [3, 14, 40])
@pytest.mark.parametrize("kill", [False, True])
def test_a_resumed_crawl_knows_what_it_knew(tmp_path: Path, fetches: int, kill: bool):
    whole, halved = live(tmp_path / "whole"), live(tmp_path / "halved")
    crawl_on(whole, Shop(), fetches)
    crawl_on(halved, Shop(), fetches, kill=kill)
    if kill:
        halved.folder._lock.close()
        for log in halved.folder.beside:
            log.close()
    else:
        halved.close("shutdown", 2000.0)
    resumed = live(tmp_path / "halved")
    assert state(resumed) == state(whole)
    for crawl in (whole, resumed):
        crawl.close("shutdown", 2000.0)
    assert read_rules(tmp_path / "whole") == read_rules(tmp_path / "halved")


def test_sketches_that_were_removed_are_made_again_from_the_pages(tmp_path: Path):
    crawl = live(tmp_path)
    crawl_on(crawl, Shop(), 15)
    before = state(crawl)
    crawl.close("shutdown", 2000.0)
    (tmp_path / "sketches.jsonl").unlink()
    resumed = live(tmp_path)
    assert state(resumed) == before
    resumed.close("shutdown", 2000.0)


def stored_rules(folder: Path) -> Mapping[UrlRule, Any]:
    crawl = live(folder)
    crawl_on(crawl, Shop(), 60)
    crawl.close("shutdown", 2000.0)
    return read_rules(folder)


def test_a_rule_is_saved_with_its_witnesses_and_shared_with_a_later_crawl(tmp_path: Path):
    entry = stored_rules(tmp_path / "first")[SID]
    assert entry.state == "holds"
    assert entry.pairs[0] >= 5
    assert all(one != two for one, two in entry.examples)
    shop = Shop()
    second = live(tmp_path / "second", CRAWL_RULES=[str(tmp_path / "first")])
    crawl_on(second, shop, 60)
    second.close("shutdown", 2000.0)
    assert len(shop.asked) < len(fetched(tmp_path / "first"))
    assert read_rules(tmp_path / "second")[SID].given == entry.pairs


def test_a_rule_that_a_person_switched_off_stays_off(tmp_path: Path):
    entry = stored_rules(tmp_path)[SID]
    book = UrlRuleStore(tmp_path)
    book.note(SID, OFF, entry.pairs)
    book.close()
    crawl = live(tmp_path)
    assert state(crawl)["rules"][str(SID)][:2] == (True, True)
    url = f"{A}/1?sid=99999"
    assert duplicates_of(crawl).respelled(url) == url
    crawl.close("shutdown", 2000.0)


def test_rules_that_are_not_there_are_refused(tmp_path: Path):
    with pytest.raises(BadSetting, match="CRAWL_RULES"):
        live(tmp_path, CRAWL_RULES=[str(tmp_path / "nowhere")])
