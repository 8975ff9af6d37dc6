"""Excluded URLs are never fetched, even if a person excludes them during the crawl."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.crawling import refusals
from support.livecrawl import crawl_on
from support.webs import DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.errors import BadSetting
from crawlproject.parts.filters.part import Filters
from crawlproject.records import Topic

HOSTS = [f"http://www.{name}.example" for name in "abcd"]
SEED = "http://seed.example/"


def filters(*rules: str, file: Path | None = None) -> Filters:
    return Filters(list(rules), str(file or ""))


def test_the_heuristic_of_webbase() -> None:
    """002 section 5.1: "any URLs containing /cgi-bin/ are not crawled"."""
    rules = filters("//cgi-bin//", r"/[?]/")
    asked = (f"{SEED}cgi-bin/search", f"{SEED}a?id=1", f"{SEED}cgi-bins", SEED)
    assert [rules.refusal(url, 1) for url in asked] == ["filter/pattern", "filter/pattern", "", ""]


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def web() -> DictWeb:
    pages = [page(SEED, *(f"{host}/" for host in HOSTS), text="reef")]
    for host in HOSTS:
        inner = [f"{host}/{number}" for number in range(5)]
        pages += [page(f"{host}/", *inner, text="reef"), *(page(url, text="reef") for url in inner)]
    return DictWeb(dict(pages))


def a_crawl(folder: Path, **settings: object) -> Crawl:
    chosen = {"POLITENESS_MIN_DELAY": 0.1, "POLITENESS_FACTOR": 0, "ORDERING": "breadth_first", **settings}
    return assemble(Topic("reef", ("reef",), (SEED,)), read_options(chosen), clock=lambda: 0.0, folder=folder)


@pytest.mark.parametrize(
    ("rule", "url", "reason"),
    [
        ("www.a.example", "http://www.a.example/x", "filter/host"),
        ("www.a.example", "https://www.a.example:8080/x", "filter/host"),
        ("www.a.example", "http://a.example/x", ""),
        ("www.a.example", "http://b.www.a.example/x", ""),
        ("a.example", "http://a.example/", "filter/domain"),
        ("a.example", "http://deep.www.a.example/", "filter/domain"),
        ("a.example", "http://nota.example/", ""),
        (".www.a.example", "http://x.www.a.example/", "filter/domain"),
        ("*.www.a.example", "http://www.a.example/", "filter/domain"),
        (".www.a.example", "http://a.example/", ""),
        ("A.Example", "http://www.a.example/", "filter/domain"),
        ("bücher.example", "http://xn--bcher-kva.example/", "filter/domain"),
        ("example", "http://www.a.example/", "filter/domain"),
        ("10.0.0.1", "http://10.0.0.1/x", "filter/domain"),
        ("http://a.example/private/", "https://a.example/private/x", "filter/pattern"),
        ("http://a.example/private/", "http://a.example/private", ""),
        ("http://a.example/private/", "http://b.example/?u=http://a.example/private/", ""),
        ("http://a.example/index.html", "http://a.example/other", ""),
        (r"/[?&]sort=/", "http://a.example/?q=1&sort=up", "filter/pattern"),
        (r"/\.example/\d+$/", "http://a.example/12", "filter/pattern"),
        (r"/\.example/\d+$/", "http://a.example/12/", ""),
        ("/(?i:LOGIN)/", "http://a.example/login", "filter/pattern"),
    ],
)
def test_what_a_rule_excludes(rule: str, url: str, reason: str) -> None:
    assert filters(rule).refusal(url, 1) == reason
    assert filters("x.example", rule, "/never-there/").refusal(url, 1) == reason, "beside others"


@pytest.mark.parametrize(
    "rule",
    [
        "/private",
        "/",
        "//",
        "/[/",
        "/(?i)ads/",
        "/(a)\\1/",
        "a.example/private",
        "a.example:80",
        "a b",
        "ftp://a.example/",
        ".",
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(tmp_path: Path, rule: str) -> None:
    with pytest.raises(BadSetting, match=r"^setting CRAWL_EXCLUDED: expected a host, .* not "):
        filters(rule)
    with pytest.raises(BadSetting, match=r"black\.txt, line 3: expected a host"):
        filters(file=write(tmp_path / "black.txt", f"# complaints\na.example # since May\n{rule}\n"))


def test_a_file_has_comments_and_blank_lines(tmp_path: Path) -> None:
    black = filters("b.example", file=write(tmp_path / "f", "\ufeff# all\r\n\r\n  a.example # asked\r\n/#x/\r\n"))
    assert [black.refusal(f"http://{name}.example/", 0) for name in "abc"] == ["filter/domain"] * 2 + [""]
    with pytest.raises(BadSetting, match="CRAWL_EXCLUDED_FILE: cannot be read"):
        filters(file=tmp_path / "nowhere")


def test_a_file_is_looked_at_once_a_second_and_bad_rules_change_nothing(tmp_path: Path, caplog) -> None:
    path = write(tmp_path / "black.txt", "a.example\n")
    black = filters(file=path)
    path.write_text("b.example\n")
    assert black.end_reason(1.0) == "" and black.refusal("http://b.example/", 1)
    path.write_text("c.example\n")
    black.end_reason(1.9)
    assert not black.refusal("http://c.example/", 1), "a second has not passed"
    black.end_reason(2.0)
    assert black.refusal("http://c.example/", 1) and not black.refusal("http://b.example/", 1)
    with caplog.at_level(logging.WARNING):
        path.write_text("d.example\n/[/\n")
        for now in (4.0, 6.0):
            black.end_reason(now)
        assert [record.getMessage().partition("expected")[0] for record in caplog.records] == [f"{path}, line 2: "]
        path.unlink()
        for now in (8.0, 10.0):
            black.end_reason(now)
        assert len(caplog.records) == 2
    assert black.refusal("http://c.example/", 1), "the last good rules hold"
    path.write_text("e.example")
    black.end_reason(12.0)
    assert black.refusal("http://e.example/", 1) and not black.refusal("http://c.example/", 1)


def test_a_crawl_without_rules_has_no_such_part(tmp_path: Path) -> None:
    assert a_crawl(tmp_path / "without").part(Filters) is None
    assert a_crawl(tmp_path / "with", CRAWL_EXCLUDED="a.example").part(Filters) is not None


def test_a_crawl_obeys_and_refuses_seeds_as_well(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path / "one", CRAWL_EXCLUDED=["www.a.example", r"/b\.example/[1-9]/"])
    crawl_on(crawl, web(), 100)
    assert "http://www.a.example/" not in crawl.folder.history
    assert [url for url in crawl.folder.history if "b.example" in url] == [
        "http://www.b.example/",
        "http://www.b.example/0",
    ]
    crawl.close("done", 2000.0)
    assert refusals(tmp_path / "one") == {"filter/host": 1, "filter/pattern": 4}
    crawl = a_crawl(tmp_path / "two", CRAWL_EXCLUDED=["seed.example"])
    assert crawl.take(1.0) is None
    crawl.close("done", 2.0)
    assert refusals(tmp_path / "two") == {"filter/domain": 1}


@pytest.mark.parametrize("rule", [f"{SEED}index.html", f"{SEED}?utm_source=letter", f"{SEED}?b=2&a=1"])
def test_a_url_is_excluded_however_it_is_spelled(tmp_path: Path, rule: str) -> None:
    crawl = a_crawl(tmp_path / "crawl", CRAWL_EXCLUDED=[rule])
    refusal, of_the_crawl = crawl.admission.rules.refusal, crawl.canonicalize(rule)
    assert refusal(of_the_crawl, 1) == "filter/pattern" and not refusal(f"{SEED}other", 1)


def test_a_site_that_is_excluded_while_the_crawl_runs_is_not_fetched_again(tmp_path: Path) -> None:
    path = write(tmp_path / "black.txt", "")
    crawl = a_crawl(tmp_path / "crawl", CRAWL_EXCLUDED_FILE=str(path))
    crawl_on(crawl, web(), 5)
    assert {f"{host}/" for host in HOSTS} <= set(crawl.folder.history), "the first page of each host"
    path.write_text("www.c.example\n")
    crawl_on(crawl, web(), 100, begin=2000.0)
    assert sum("www.c.example" in url for url in crawl.folder.history) == 1
    assert sum("www.d.example" in url for url in crawl.folder.history) == 6
    crawl.close("stopped", 3000.0)
    assert refusals(tmp_path / "crawl") == {"filter/host": 5}
    again = a_crawl(tmp_path / "crawl", CRAWL_EXCLUDED_FILE=str(path))
    assert again.take(4000.0) is None, "nor after a resume"
