"""``scrapy frontier``: the frontier then does what the command reports."""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.exceptions import UsageError
from support.crawling import scrapy

from crawlproject.adapters.request_json import dump_request
from crawlproject.commands import frontier as command
from crawlproject.configuration import read_options
from crawlproject.frontier.base import Frontier
from crawlproject.frontier.factory import open_frontier
from crawlproject.frontier.views.open import read_frontier
from crawlproject.frontier.views.view import best_waiting, host_rows, place_of
from crawlproject.records import REVISIT, CrawlUrl, Topic
from crawlproject.storage.crawl_files import FolderLock
from crawlproject.storage.manifest import Manifest

NOW = 1_000_000.0


def opened(kind: str, folder: Path, *, delay: float = 0.0) -> Frontier:
    rules = {"FRONTIER": kind, "FRONTIER_BATCH_SIZE": 1, "POLITENESS_MIN_DELAY": delay, "POLITENESS_FACTOR": 0}
    return open_frontier(read_options(rules), folder, clock=lambda: NOW)


def url(host: str, page: int) -> str:
    return f"http://{host}.example/{page}"


@pytest.fixture(params=["memory", "disk"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def crawl(kind: str, tmp_path: Path) -> Path:
    """A crawl folder whose frontier has waiting, leased and finished URLs; ``b`` may not be visited for a long time."""
    frontier = opened(kind, tmp_path / "frontier", delay=10.0)
    frontier.put_many(CrawlUrl(url(host, page), score=page / 10, depth=page) for host in "ab" for page in range(3))
    frontier.put(CrawlUrl(url("c", 0), score=9.0))
    frontier.put(CrawlUrl(url("d", 0), score=8.0, parent=url("a", 0)))
    frontier.crawl_delay("b.example", 4e9)
    assert frontier.take(NOW) and frontier.take(NOW)
    frontier.done(url("c", 0), NOW, 0.0)
    frontier.take(NOW)
    taken = frontier.take(NOW)
    assert taken is not None
    frontier.done(taken.url, NOW, 0.0)
    return tmp_path


def run(*args: object, **options: Any) -> int:
    made = command.FrontierCommand()
    made.exitcode = 0
    chosen = {"json": False, "top": 20, "host": None, "yes": False, **options}
    made.run([str(arg) for arg in args], argparse.Namespace(**chosen))
    return made.exitcode


def asked(capsys: pytest.CaptureFixture[str], *args: object, **options: Any) -> Any:
    assert run(*args, json=True, **options) == 0
    return json.loads(capsys.readouterr().out)


# ------------------------------------------------------------ output


def test_stats(kind: str, crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "stats", crawl)
    assert [found[key] for key in ("waiting", "leased", "done", "hosts", "evicted")] == [4, 2, 2, 2, 0]
    assert found["kind"] == kind and found["in_use_by"] is None
    assert found["hosts_resting"] == 1 and found["hosts_with_crawl_delay"] == 1
    assert run("stats", crawl / "frontier") == 0
    assert "4 URLs on 2 hosts" in capsys.readouterr().out


def test_hosts(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, d = asked(capsys, "hosts", crawl)
    assert (a["host"], a["waiting"], a["best"], a["leased"], a["rests"]) == ("a.example", 2, 0.1, True, 0.0)
    assert (b["host"], b["waiting"], b["best"], b["leased"]) == ("b.example", 2, 0.1, False)
    assert b["rests"] > 1e9 and b["crawl_delay"] == 4e9
    assert (d["host"], d["waiting"], d["leased"]) == ("d.example", 0, True)
    assert run("hosts", crawl, top=1) == 0
    assert "... and 2 more hosts" in capsys.readouterr().out


def test_blocks_and_holds_are_told_from_rests(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frontier = opened(kind, tmp_path / "frontier")
    frontier.put_many(CrawlUrl(url(host, page), score=page / 10) for host in "abc" for page in range(2))
    frontier.block_host("a.example", 4e9)
    frontier.block_host("b.example", NOW + 1.0)
    frontier.hold(url("c", 0), 4e9)
    a, b, c = asked(capsys, "hosts", tmp_path)
    assert a["blocked"] > 1e9 and (b["blocked"], c["blocked"], a["rests"]) == (0.0, 0.0, 0.0), "that of b is over"
    assert asked(capsys, "stats", tmp_path)["hosts_blocked"] == 1
    assert run("hosts", tmp_path) == 0 and "blocked for" in capsys.readouterr().out
    assert run("why", tmp_path, url("a", 1)) == 0
    out = capsys.readouterr().out
    assert "Its host is blocked for another" in out and f"s: {command.BLOCKED}." in out and "visited now" not in out
    assert run("why", tmp_path, url("b", 1)) == 0 and "may be visited now" in capsys.readouterr().out
    assert run("why", tmp_path, url("c", 0)) == 0
    assert "held for another" in capsys.readouterr().out


def test_peek(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [record["url"] for record in asked(capsys, "peek", crawl, top=3)] == [url("a", 1), url("b", 1), url("a", 0)]
    assert [record["url"] for record in asked(capsys, "peek", crawl, host="b.example")] == [url("b", 1), url("b", 0)]
    assert run("peek", crawl, top=1) == 0
    assert "... and 3 more URLs" in capsys.readouterr().out
    assert run("peek", crawl, host="nobody.example") == 0
    assert capsys.readouterr().out == "No URL of nobody.example waits.\n"


def test_peek_names_the_url_of_a_revisit_and_not_its_key(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened(kind, tmp_path / "frontier").put(CrawlUrl(url("a", 1), score=0.5, kind=REVISIT, variant="7"))
    [record] = asked(capsys, "peek", tmp_path)
    assert (record["url"], record["kind"]) == (url("a", 1), "revisit")
    assert run("peek", tmp_path) == 0
    out = capsys.readouterr().out
    assert f"{url('a', 1)} (revisit)" in out and "#" not in out


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (url("a", 1), ["Waits with score 0.1, depth 1.", "0 waiting URLs come before it", "Another URL of its host"]),
        (
            "HTTP://B.example/./0",
            ["3 waiting URLs come before it, 1 of them on its host", "may be visited in", "asks for 4e+09 s"],
        ),
        (url("d", 0), ["Being fetched (or was, when the crawl was killed), with score 8", f"found on {url('a', 0)}"]),
        (url("c", 0), ["Done: it was fetched or refused"]),
        ("http://nobody.example/", ["Unknown"]),
        ("no url", ["Unknown"]),
    ],
)
def test_why(crawl: Path, capsys: pytest.CaptureFixture[str], which: str, expected: list[str]) -> None:
    assert run("why", crawl, which) == 0
    out = capsys.readouterr().out
    assert [words for words in expected if words not in out] == [], out


def test_requests_of_other_spiders_are_shown_by_url(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from scrapy.utils.request import fingerprint

    class Theirs(Spider):
        name = "theirs"

    request = Request("http://a.example/x?b=1", method="GET")
    post = Request("http://a.example/form", method="POST", body=b"q=1")
    frontier = opened(kind, tmp_path / "frontier")
    for each in (request, post):
        key = f"{each.url}#{fingerprint(each).hex()}"
        frontier.put(CrawlUrl(key, 1.0, request=dump_request(each, Theirs())))
    assert [record["url"] for record in asked(capsys, "peek", tmp_path)] == [request.url, f"POST {post.url}"]
    assert asked(capsys, "why", tmp_path, request.url)["state"] == "waiting"


def test_the_spelling_is_that_of_the_crawl(crawl: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic = Topic("t", ("reef",), (url("a", 1),))
    manifest = Manifest(crawl, topic, "dom", {})
    manifest.begin({"crawl_url_strip_parameters": ["shop"]}, "", NOW)
    assert asked(capsys, "why", crawl, f"{url('a', 1)}?shop=7")["state"] == "waiting"
    manifest.begin({}, "", NOW)
    assert asked(capsys, "why", crawl, f"{url('a', 1)}?shop=7")["state"] == "unknown"


@given(
    st.sampled_from(["memory", "disk"]),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=12, unique_by=str),
)
def test_what_comes_first_is_taken_first(
    tmp_path_factory: pytest.TempPathFactory, kind: str, entries: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("frontier")
    frontier = opened(kind, folder)
    for number, (host, score) in enumerate(entries):
        frontier.put(CrawlUrl(url(host, number), float(score)))
    view = read_frontier(folder)
    assert view is not None
    best = [record.url for record in best_waiting(view, len(entries) + 1)]
    assert [place_of(view, each, NOW).ahead for each in best] == list(range(len(entries)))
    assert sum(row.waiting for row in host_rows(view, NOW)) == len(entries)
    taken = []
    while record := frontier.take(NOW):
        taken.append(record.url)
        frontier.done(record.url, NOW, 0.0)
    assert best == taken


# ------------------------------------------------------------ clear


def test_clear_asks(crawl: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (crawl / "history.jsonl").write_text("kept\n")
    for answer in ("n\n", ""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        assert run("clear", crawl) == 1
    assert "4 waiting and 2 finished URLs? [y/N]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert run("clear", crawl) == 0
    assert read_frontier(crawl / "frontier") is None
    assert (crawl / "history.jsonl").exists()
    assert run("stats", crawl) == 2


def test_clear_with_yes_does_not_ask(kind: str, crawl: Path) -> None:
    assert run("clear", crawl, yes=True) == 0
    assert len(opened(kind, crawl / "frontier")) == 0


def test_a_frontier_in_use_is_not_cleared(crawl: Path) -> None:
    lock = FolderLock(crawl)
    done = scrapy("frontier", "clear", crawl, "--yes")
    lock.close()
    assert done.returncode == 2 and "in use by process" in done.stderr
    assert read_frontier(crawl / "frontier") is not None


# ------------------------------------------------------------ bad input


def test_bad_input(crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("stats", tmp_path / "nowhere") == 2
    assert "there is no frontier; expected a crawl folder" in capsys.readouterr().err
    with (crawl / "frontier" / "journal.jsonl").open("a") as file:
        file.write('[["score", "http://nobody.example/", 1.0]]\n')
    assert run("stats", crawl) == 2
    assert "journal.jsonl, line" in capsys.readouterr().err
    for wrong in ([], ["stats"], ["look", crawl], ["why", crawl], ["peek", crawl, "x"]):
        with pytest.raises(UsageError):
            run(*wrong)
    with pytest.raises(UsageError, match="--top"):
        run("peek", crawl, top=0)
