"""`scrapy why` on hand-made crawl folders and on the folder of a crawl."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from random import Random
from time import time

import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke
from support.livecrawl import taken
from support.parts import sites_of

from crawlproject.assembly import assemble
from crawlproject.commands import frontier, why
from crawlproject.configuration import read_options
from crawlproject.frontier.journal import JournaledFrontier
from crawlproject.frontier.memory import MemoryFrontier
from crawlproject.frontier.politeness import Politeness
from crawlproject.frontier.views.open import read_frontier
from crawlproject.records import CrawlUrl, Fetch, Topic
from crawlproject.reports.why.lookup import FrontierStatus, LinkTo, url_status
from crawlproject.reports.why.text import print_url_status

SEED, HUB, REEF = "http://seed.example/", "http://hub.example/", "http://reef.example/"
WAITING = "http://waiting.example/"


@pytest.fixture
def folder(write_crawl, page, tmp_path):
    """A seed led to a hub, and the hub to a reef page, which had moved; other links wait, were refused, or are lost."""
    visits = [
        page(SEED, relevance=0.4, score=1.0, links=2, title="Seed"),
        page(HUB, relevance=0.1, score=0.3, depth=1, parent=SEED, anchor="all links", title="Hub"),
        page("http://old.example/", status=301, md5="", redirect=REEF, depth=2, parent=HUB, title=""),
        page(
            REEF,
            relevance=0.625,
            score=0.55,
            depth=2,
            parent=HUB,
            anchor="coral [reefs]",
            context_score=0.7,
            title="Reefs",
            links=1,
            parts={"page": 0.025, "context": 0.525},
        ),
        page("http://gone.example/", status=404, md5="", error="http 404", depth=3, parent=REEF, title=""),
    ]
    refused = {
        "counts": {"trap/too_deep": 2, "ordering/not_followed": 7},
        "samples": {"trap/too_deep": [["http://deep.example/", HUB], ["http://deeper.example/", None]]},
    }
    path = write_crawl(tmp_path / "crawl", visits, refused=refused)
    links = [
        {"source": source, "target": "http://lost.example/", "anchor": "lost", "context_score": 0.25}
        for source in (SEED, HUB)
    ]
    (path / "links.jsonl").write_text("".join(json.dumps(link) + "\n" for link in links))
    frontier = open_frontier(path)
    for number in range(3):
        frontier.put(CrawlUrl(f"http://other.example/{number}", 0.1 * number))
    frontier.put(CrawlUrl(WAITING, 0.15, 2, HUB, "later", 0.5))
    frontier.put(CrawlUrl("http://forbidden.example/", 0.9))
    frontier.drop("http://forbidden.example/")
    frontier.close()
    return path


def open_frontier(path: Path) -> JournaledFrontier:
    memory = MemoryFrontier(politeness=Politeness(), random=Random(1))
    return JournaledFrontier(memory, path / "frontier", clock=lambda: 0.0)


def ask(folder: Path, url: str) -> int:
    """Run the command in this process; return its exit code."""
    return invoke(why.WhyCommand(), folder, url)


def output(folder: Path, url: str, capsys) -> str:
    assert ask(folder, url) == 0
    return capsys.readouterr().out


def test_a_fetched_page_its_score_and_the_way_to_it(folder, capsys) -> None:
    lines = [" ".join(line.split()) for line in output(folder, "HTTP://reef.example:80/#top", capsys).splitlines()]
    assert lines == [
        REEF,
        "Fetched: number 4 of 5 fetches.",
        "It is line 4 of history.jsonl; the page is stored as pages/64/23/64237f613e0a43527166cd24b53606b6.",
        "Score 0.55, the sum of",
        "0.525 context",
        "0.025 page",
        f"Found on {HUB}",
        "as “coral [reefs]”; similarity of its context to the keywords 0.700, depth 2.",
        "Result: “Reefs”, of relevance 0.625, with 1 link.",
        "http://old.example/ redirected to it.",
        "",
        "Path from the seed, with the relevance of each page:",
        f"seed 0.400 {SEED}",
        f"1 0.100 {HUB} “all links”",
        f"2 0.625 {REEF} “coral [reefs]”",
    ]


def test_a_seed_a_redirect_and_an_error(folder, capsys) -> None:
    assert "Score 1 (a seed)" in output(folder, SEED, capsys)
    history = folder / "history.jsonl"
    history.write_text(history.read_text().replace('"score": 1.0', '"score": 1e+18', 1))
    assert "It is a seed; seeds come before all links.\n" in output(folder, SEED, capsys)
    assert f"Result: a redirect to {REEF}." in output(folder, "http://old.example/", capsys)
    assert "Result: no page: http 404 (there is no such page)." in output(folder, "http://gone.example/", capsys)


@pytest.mark.parametrize("kind", ["feed", "sitemap"])
def test_a_list_of_links_that_is_no_page(write_crawl, page, tmp_path, capsys, kind: str) -> None:
    path = write_crawl(tmp_path / "run", [page(REEF, md5="", title="", links=3, kind=kind)])
    assert f"Result: a {kind} with 3 links, and no page.\n" in output(path, REEF, capsys)


def test_a_url_that_waits(folder, capsys) -> None:
    out = output(folder, WAITING, capsys)
    assert "Waits with score 0.15: 1 of 4 waiting URLs come before it." in out
    assert f"Found on {HUB}\nas “later”" in out
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["seed", "1"]


def test_refused_links(folder, capsys) -> None:
    out = output(folder, "http://deep.example/", capsys)
    why_refused = "Refused (trap/too_deep): too many links away from a seed (TRAP_MAX_DEPTH).\n"
    assert f"{why_refused}The crawl refused 2 links for this reason.\nFound on {HUB}" in out
    assert "It is a seed, or a spider requested it." in output(folder, "http://deeper.example/", capsys)
    out = output(folder, "http://forbidden.example/", capsys)
    assert "Left the frontier without a fetch" in out
    assert "ordering/not_followed (7)" in out and "trap/too_deep" not in out


def test_links_to_a_url_that_went_nowhere_and_one_never_seen(folder, capsys) -> None:
    out = output(folder, "http://lost.example/", capsys)
    assert "fetched pages have 2 links to it" in out
    assert [line.split() for line in out.splitlines()[-2:]] == [["0.250", SEED, "“lost”"], ["0.250", HUB, "“lost”"]]
    assert "Never seen" in output(folder, "http://nobody.example/", capsys)


def test_another_spelling_that_the_crawl_knows(folder, write_crawl, page, tmp_path, capsys) -> None:
    assert "fetched pages have 2 links" in output(folder, "http://lost.example/", capsys)
    assert output(folder, "https://lost.example/", capsys).endswith("\nThe crawl knows http://lost.example/\n")
    path = write_crawl(tmp_path / "run", [page("https://reef.example/a/"), page("http://reef.example/b?c=d/")])
    for asked, known in (
        ("http://reef.example/a", True),
        ("https://reef.example/a", True),
        ("http://reef.example/", False),
    ):
        assert ("The crawl knows https://reef.example/a/\n" in output(path, asked, capsys)) is known
    assert "The crawl knows" not in output(path, "http://reef.example/b?c=d", capsys)


def test_without_journal_and_links_as_a_rehearsal_leaves_it(write_crawl, page, tmp_path, capsys) -> None:
    path = write_crawl(tmp_path / "run", [page(SEED, relevance=0.5)])
    assert "Fetched: number 1 of 1 fetches." in output(path, SEED, capsys)
    assert "Never seen" in output(path, HUB, capsys)


@pytest.mark.parametrize(
    ("name", "url", "message"),
    [
        ("crawl", "mailto:someone@reef.example", "URL 'mailto:someone@reef.example': expected a URL"),
        ("crawl", "http://", "expected a URL"),
        ("nothing", REEF, "expected a crawl folder"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(folder, capsys, name, url, message) -> None:
    assert ask(folder.parent / name, url) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


def test_a_damaged_journal_is_reported(folder, capsys) -> None:
    with (folder / "frontier" / "journal.jsonl").open("a") as file:
        file.write('[["score", "http://nobody.example/", 1.0]]\n')
    assert ask(folder, REEF) == 2
    assert "journal.jsonl, line" in capsys.readouterr().err


def test_two_arguments_are_wanted(folder) -> None:
    with pytest.raises(UsageError, match="a crawl folder and a URL"):
        invoke(why.WhyCommand(), folder)


def test_looking_changes_nothing(folder, capsys) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    output(folder, WAITING, capsys)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_lease_of_a_crawl_that_runs_or_was_killed(folder, tmp_path) -> None:
    frontier = open_frontier(folder)
    taken = frontier.take(1e9)
    assert taken is not None
    seen = read_frontier(folder / "frontier")
    assert seen is not None and seen.find(taken.url) == ("leased", taken)
    stream = io.StringIO()
    print_url_status(url_status(folder, taken.url, FrontierStatus(taken, leased=True)), stream)
    assert "Being fetched (or was, when the crawl was killed)" in stream.getvalue()
    assert read_frontier(tmp_path) is None


def test_links_are_only_looked_for_when_nothing_else_is_known(folder) -> None:
    found = url_status(folder, "http://lost.example/")
    assert found.links == (LinkTo(SEED, "lost", 0.25), LinkTo(HUB, "lost", 0.25, depth=1))
    assert url_status(folder, "http://lost.example/", FrontierStatus(CrawlUrl("http://lost.example/", 0.1))).links == ()


def test_a_page_of_a_link_farm(write_crawl, page, tmp_path, capsys) -> None:
    signs = {"clique": 0.8, "suspects": 14.0}
    folder = write_crawl(tmp_path / "farm", [page("http://farm.example/", spam=0.72, signs=signs, title="Deals")])
    said = " ".join(output(folder, "http://farm.example/", capsys).split())
    assert "Spam score: 0.72." in said
    assert "Link-farm score of its site: 0.80 (14 of the sites it linked to recently" in said


GREEDY, MODEST = "http://greedy.example/", "http://modest.example/"


def a_blocked_crawl(folder: Path, *, status: int = 0) -> None:
    """A crawl of a host that redirects for ever, or answers with ``status``; another host waits behind it."""
    now = time()
    topic = Topic("reef", ("coral reef",), (SEED,))
    crawl = assemble(topic, read_options({"CRAWL_BLOCKED_REST": 1000}), clock=lambda: now, folder=folder)
    crawl.fail(taken(crawl, now), "http 404", Fetch(404, now, 0.1))
    for host, score in ((GREEDY, 0.9), (MODEST, 0.1)):
        for number in range(40):
            crawl.admission.offer(CrawlUrl(f"{host}{number}", score, 1, SEED))
    while not (list(crawl.frontier.blocked()) or sites_of(crawl).turns.count):
        now += 2.0
        url = taken(crawl, now)
        if url.url.startswith(GREEDY) and not status:
            crawl.redirect(url, f"{url.url}?again", Fetch(302, now, 0.1))
        else:
            answered = status if url.url.startswith(GREEDY) else 404
            crawl.fail(url, f"http {answered}", Fetch(answered, now, 0.1))
    crawl.close("shutdown", now)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (
            0,
            r"comes later than others: its site greedy.example is over budget, "
            r"with [\d.]+ fetches of the [\d.]+ that it has earned\.",
        ),
        (503, r"is blocked for another \d+\S* s: it refused the crawler \(http 503\), and rests\."),
    ],
)
def test_the_budget_or_the_block_is_named_as_the_reason(tmp_path, capsys, status: int, reason: str) -> None:
    a_blocked_crawl(tmp_path, status=status)
    said = f"Its host {reason}"
    assert re.search(said, output(tmp_path, f"{GREEDY}39", capsys))
    assert "Its host is blocked" not in (other := output(tmp_path, f"{MODEST}39", capsys)) and "later" not in other
    assert invoke(frontier.FrontierCommand(), "why", tmp_path, f"{GREEDY}39") == 0
    assert re.search(said, capsys.readouterr().out)
