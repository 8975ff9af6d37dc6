"""``scrapy index`` and ``scrapy search`` as a person types them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from scrapy.exceptions import UsageError
from support.crawling import scrapy
from support.invoking import Terminal, invoke
from support.items import a_crawl, add, an_item

from crawlproject.commands.index import IndexCommand
from crawlproject.commands.search import SearchCommand
from crawlproject.commands.topic import TopicCommand
from crawlproject.exporting.index import Hit, search, update
from crawlproject.reports.console import print_hits
from crawlproject.storage.searches import read_searches
from crawlproject.topic.parse import load_topic


def index(crawl: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert invoke(IndexCommand(), crawl, *options) == 0
    return capsys.readouterr().out


def test_index_and_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = a_crawl(
        tmp_path / "crawl",
        an_item(0, "Coral <reefs> & atolls", title="Reefs \x1b[31mof the world", relevance=0.5),
        an_item(1, "Steam engines"),
        an_item(2, "Coral again", duplicate_of="http://a.example/0"),
    )
    assert index(crawl, capsys).startswith("2 pages added, 1 left out as duplicates; 2 pages in ")
    assert index(crawl, capsys, "--with-duplicates").startswith("3 pages added; 3 pages in ")
    shown = scrapy("search", crawl, "coral")
    assert shown.returncode == 0 and "\x1b" not in shown.stdout
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("1. Reefs ") and lines[1:3] == ["   http://a.example/0", "   Coral <reefs> & atolls"]
    assert lines[-1] == "1 to 2 of 2 pages"
    assert shown.stderr == ""
    add(crawl, an_item(3, "Coral and more"))
    assert invoke(SearchCommand(), crawl, "coral") == 0
    assert f"scrapy index {crawl}" in capsys.readouterr().err
    assert invoke(SearchCommand(), crawl, "coral", "again", "--json", "--limit", "1") == 0
    out = capsys.readouterr().out
    assert json.loads(out)["total"] == 2
    [hit] = json.loads(out)["hits"]
    assert hit["url"] == "http://a.example/2" and hit["snippet"] == "<b>Coral</b> again"  # a stop word is no match
    assert set(hit) == {"url", "title", "snippet", "score", "relevance", "at", "md5", "language", "published"}


def test_what_operators_leave(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "Coral reefs"), an_item(1, "Steam engines"), an_item(2, "Reefs"))
    update(crawl)

    def found(query: str) -> tuple[set[str], str]:
        assert invoke(SearchCommand(), crawl, "--json", "--", *query.split()) == 0
        told = capsys.readouterr()
        return {hit["url"][-1] for hit in json.loads(told.out)["hits"]}, told.err

    for query in ("-coral", "NOT coral", "-text:coral"):
        assert found(query) == ({"1", "2"}, "")
    assert found("-coral -engines") == ({"2"}, "")
    assert found("reefs -coral") == ({"2"}, "")
    for query in ("nosuch:coral", "-nosuch:coral", "title:* coral"):
        urls, note = found(query)
        assert "0" in urls and note.startswith("scrapy: searched for as words, without operators: "), query
    assert "'nosuch'" in found("nosuch:coral")[1] == f"scrapy: {search(crawl, 'nosuch:coral').note}\n"
    japanese = a_crawl(tmp_path / "japanese", an_item(0, "サンゴ礁"), language="ja")
    update(japanese)
    assert search(japanese, "-サンゴ").note and not search(japanese, "サンゴ！").note


def test_bad_input_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, *arguments in ((IndexCommand(), tmp_path), (SearchCommand(), tmp_path, "coral")):
        assert invoke(command, *arguments) == 2
        assert capsys.readouterr().err.startswith(f"scrapy: {tmp_path}")
    for wrong in ([], [" "], ["coral", "--limit", "0"]):
        with pytest.raises(UsageError):
            invoke(SearchCommand(), tmp_path, *wrong)


def test_workers_are_merged_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, name in enumerate(("one", "two")):
        worker = a_crawl(tmp_path / "workers" / name, an_item(number, f"coral {name}"))
        visit = {"url": f"http://a.example/{number}", "md5": an_item(number, "")["md5"], "at": float(number)}
        (worker / "history.jsonl").write_text(json.dumps(visit) + "\n")
    assert index(tmp_path, capsys).startswith("2 pages added")
    add_one = an_item(5, "coral five")
    with (tmp_path / "workers" / "one" / "items.jsonl").open("a") as file:
        file.write(json.dumps(add_one) + "\n")
    with (tmp_path / "workers" / "one" / "history.jsonl").open("a") as file:
        file.write(json.dumps({"url": add_one["url"], "md5": add_one["md5"], "at": 9.0}) + "\n")
    assert index(tmp_path, capsys).startswith("1 page added")
    assert search(tmp_path, "coral").total == 3


def test_a_terminal_shows_matches_and_obeys_no_page() -> None:
    terminal = Terminal()
    hit = Hit("http://a.example/\x9b2J", "T\x1b]0;x\x07", "a <b>coral</b> &lt;b&gt; \x1b[2J", 1.5, 0.25, 0.0, "0" * 32)
    print_hits([hit], 1, 1, terminal)
    shown = terminal.getvalue()
    assert "\x1b[2J" not in shown and "\x9b" not in shown and "\x07" not in shown and "\x1b]" not in shown
    assert "\x1b[1;33mcoral" in shown and "<b>" in shown
    assert "score 1.50, relevance 0.250, fetched 1970-01-01" in shown


def test_nothing_found(tmp_path: Path) -> None:
    update(a_crawl(tmp_path, an_item(0, "coral")))
    plain = io.StringIO()
    print_hits((), search(tmp_path, "steam").total, 1, plain)
    assert plain.getvalue() == "0 pages\n"


def test_an_empty_crawl_is_not_ahead_of_its_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = a_crawl(tmp_path / "crawl")
    (crawl / "items.jsonl").touch()
    update(crawl)
    assert invoke(SearchCommand(), crawl, "coral") == 0
    assert capsys.readouterr() == ("0 pages\n", "")


def test_words_that_look_like_options_come_behind_two_dashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral reefs"), an_item(1, "coral shipping"))
    update(crawl)
    assert invoke(SearchCommand(), crawl, "--", "coral", "-shipping") == 0
    assert capsys.readouterr().out.endswith("1 to 1 of 1 page\n")


def test_the_snippet_is_indented_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    hit = Hit("http://a.example/", "Corals", "a <b>coral</b> " * 12, 1.0, 0.5, 0.0, "0" * 32, "en", "")
    terminal = Terminal()
    print_hits([hit], 1, 1, terminal)
    url, *lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()[1:5]
    assert url == "   http://a.example/"
    assert len(lines) == 3 and all(re.match("   [^ ]", line) and len(line) <= 80 for line in lines)


def test_searches_are_logged_and_what_was_not_found_is_proposed_and_added_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = a_crawl(tmp_path / "crawls" / "reefs", an_item(0, "Coral reefs and atolls", relevance=0.5))
    other = a_crawl(tmp_path / "crawls" / "ships", an_item(7, "Steam engines, and how engines work", title="Steam"))
    for each in (crawl, other):
        index(each, capsys)
    for query in ("coral", "steam +engines", "Steam engines", "mangrove"):
        invoke(SearchCommand(), crawl, *query.split())
    invoke(SearchCommand(), crawl, "mangrove", "--offset", "1")
    assert [line.query for line in read_searches(crawl)] == ["steam engines", "coral", "mangrove"]
    assert read_searches(crawl)[0].times == 2, "a second page of results is no search"
    topic = tmp_path / "reefs.toml"
    topic.write_text('keywords = ["coral reef"]  # ours\nseeds = ["http://seed.example/"]\n')
    capsys.readouterr()
    options = ("--crawls", tmp_path / "crawls", "-s", "CRAWL_ALLOWED_ADDRESSES=a.example")
    assert invoke(TopicCommand(), "searches", topic, crawl, *options) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "steam engines: searched 2 times, 0 hits" and out[1].startswith(
        "  Seed: http://a.example/7  Steam (ships)"
    )
    assert out[2] == "mangrove: searched 1 time, 0 hits" and out[3].startswith("Take what you want: ")
    assert load_topic(topic).keywords == ("coral reef",), "nothing is written unless asked for"
    assert invoke(TopicCommand(), "searches", topic, crawl, *options, "--add", "Steam engines") == 0
    assert load_topic(topic).keywords == ("coral reef", "steam engines")
    assert load_topic(topic).seeds == ("http://seed.example/", "http://a.example/7")
    capsys.readouterr()
    assert invoke(TopicCommand(), "searches", topic, crawl, *options, "--add", "whales") == 2
    assert "expected some of: mangrove" in capsys.readouterr().err


def test_a_model_without_vectors_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral reef"))
    index(crawl, capsys)
    assert invoke(SearchCommand(), crawl, "coral", "-s", "SEARCH_MODEL=minishlab/potion-base-8M", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["total"] == 1
    assert "the index has no vectors for SEARCH_MODEL" in err and f"index {crawl} --vectors" in err


def test_a_query_that_begins_with_a_dash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --, it is taken for an option: -shop for -s hop."""
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral shop"), an_item(1, "coral reef"))
    index(crawl, capsys)
    assert "Put -- before a query that begins with a dash." in " ".join(scrapy("search", "--help").stdout.split())
    shown = scrapy("search", crawl, "--limit", 5, "--", "-shop coral")
    assert shown.returncode == 0 and "1 to 1 of 1 page" in shown.stdout, shown.stderr
