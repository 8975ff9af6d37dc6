"""The steps of the life of a URL, one by one: frontier in memory, a folder, no Scrapy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.livecrawl import finish, taken
from support.webs import html

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.core.robots import RobotsRules
from crawlproject.core.services import TOO_MANY_REDIRECTS, UNREACHABLE
from crawlproject.core.stopping import PAGE_BUDGET
from crawlproject.errors import StorageFailed
from crawlproject.frontier.factory import MARGIN
from crawlproject.records import CrawlUrl, Fetch, Page, Reply, Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer

SEED = "http://a.example/"
INCURIOUS = {"CRAWL_SITE_BUDGET": 0, "PAGE_DUPLICATES": False, "CRAWL_LEARN_RULES": False, "TRAP_TEMPLATES": False}
IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}


def a_crawl(folder: Path, *seeds: str, ordering: str = "dom", **settings: object) -> Crawl:
    """A crawl with its seeds in the frontier, and without what inspects pages and sites."""
    options = read_options({**IMPATIENT, **INCURIOUS, "ORDERING": ordering, **settings})
    topic = Topic("reef", ("coral reef",), seeds or (SEED,))
    return assemble(topic, options, clock=lambda: 0.0, folder=folder)


def rules(text: bytes) -> RobotsRules:
    return RobotsRules(200, text, 1e12, "topical-crawler")


def receive(crawl: Crawl, url: CrawlUrl, body: bytes, now: float = 1.0, **headers: str) -> Page:
    """Everything that happens to a page that arrived."""
    return finish(crawl, url, crawl.steps.read(url, body, **headers), body, Fetch(200, now, 0.5))


def lines(crawl: Crawl, name: str = "history.jsonl") -> list[dict]:
    return list(read_lines(crawl.folder.path / name))


# ------------------------------------------------------------ all the way


def test_one_page_all_the_way(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    seed = taken(crawl)
    assert (seed.url, seed.depth, seed.parent) == (SEED, 0, None)
    body = html("/reef", "http://b.example/", text="coral reef")
    page = receive(crawl, seed, body, now=7.0)

    assert page.relevance > 0.5
    assert [link.url for link in page.links] == ["http://a.example/reef", "http://b.example/"]
    assert all(link.context_score > 0.5 for link in page.links)
    visit = lines(crawl)[0]
    assert (visit["url"], visit["status"], visit["at"], visit["seconds"]) == (SEED, 200, 7.0, 0.5)
    assert visit["relevance"] == page.relevance and visit["score"] == seed.score and visit["links"] == 2
    assert crawl.folder.pages.load(SEED) == body and crawl.folder.pages.path(SEED).name == visit["md5"]
    assert visit["size"] == len(body) and visit["title"] == "A page" and visit["error"] == ""
    assert [item["url"] for item in lines(crawl, "items.jsonl")] == [SEED]
    assert [(link["source"], link["target"]) for link in lines(crawl, "links.jsonl")] == [
        (SEED, "http://a.example/reef"),
        (SEED, "http://b.example/"),
    ]
    assert crawl.frontier.leases() == 0 and crawl.stats.frontier_size == 2 and crawl.stats.hosts_waiting == 2
    child = taken(crawl, 8.0)
    assert (child.depth, child.parent, child.anchor) == (1, SEED, "coral reef")
    assert child.score == pytest.approx(0.25 * page.relevance + 0.75 * page.links[0].context_score)
    assert child.context_score == page.links[0].context_score


def test_what_an_ordering_hands_down_comes_back_with_the_page(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, ordering="shark_search")
    page = receive(crawl, taken(crawl), html("/reef", text="coral reef"))
    child = taken(crawl)
    assert child.inherited == crawl.ordering.inherited_for_links(page) != ()
    assert crawl.steps.read(child, b"").inherited == child.inherited


def test_the_body_is_cut_before_it_is_read(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, PAGE_MAX_BYTES=20)
    assert "reef" not in crawl.steps.read(taken(crawl), b"<p>coral" + b" " * 50 + b"reef").text


def test_headers_of_the_reply_are_obeyed(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    page = receive(crawl, taken(crawl), html("/x", text="coral reef"), robots_tag="noindex")
    assert page.links and not page.indexable
    visit = lines(crawl)[0]
    assert visit["md5"] == "" and visit["error"] == "noindex"
    assert SEED not in crawl.folder.pages and lines(crawl, "items.jsonl") == []
    assert crawl.stats.pages == 0 and crawl.stats.frontier_size == 1, "its links are followed all the same"


@pytest.mark.parametrize(
    "text",
    [
        b"&#xD800; &#xDFFF;",
        "half \ud800 a pair".encode("utf-8", "surrogatepass"),
        b"\xff\xfe\x00\xd8h\x00i\x00",
        b"+2AA- utf-7",
        b"nul \x00 \x1b \x7f",
    ],
)
def test_characters_that_are_none_can_be_kept(tmp_path: Path, text: bytes) -> None:
    crawl = a_crawl(tmp_path)
    receive(crawl, taken(crawl), b"<title>" + text + b"</title>" + text + b"<p>reef <a href=/x>" + text + b"</a>")
    for name in ("history.jsonl", "items.jsonl"):
        assert len(lines(crawl, name)) == 1


# ------------------------------------------------------------ once


def test_a_url_enters_the_history_once_however_often_it_is_fetched(tmp_path: Path) -> None:
    """After a kill between history line and ``offer`` the page is fetched again: its links must still be offered."""
    crawl = a_crawl(tmp_path)
    seed = taken(crawl)
    body = html("/x", text="coral reef")
    page = crawl.steps.score_links(crawl.steps.score_page(crawl.steps.read(seed, body)))
    crawl.steps.keep(page, crawl.steps.visit(seed, page, body, Fetch(200, 1.0, 0.5)))
    receive(crawl, seed, body, now=9.0)
    crawl.fail(seed, "http 500", Fetch(500, 10.0, 0.5))
    crawl.redirect(seed, "http://b.example/", Fetch(301, 11.0, 0.5))
    assert [line["at"] for line in lines(crawl)] == [1.0]
    assert len(lines(crawl, "items.jsonl")) == len(lines(crawl, "links.jsonl")) == 1
    assert crawl.stats.pages == crawl.stats.fetches == 1 and crawl.stats.errors == 0
    assert crawl.stats.frontier_size == 2


def test_seeds_and_links_wait_once(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, SEED, "http://b.example/")
    crawl.add_seeds()
    assert crawl.stats.frontier_size == 2
    receive(crawl, taken(crawl), html("/x", "/x", SEED, "http://b.example/", "/x#y", text="coral reef"))
    assert sorted(url.url for url in crawl.frontier.waiting()) == ["http://a.example/x", "http://b.example/"]
    assert crawl.stats.refused == 0, "what is known is not refused"


# ------------------------------------------------------------ the budget


def test_open_leases_count_against_the_budget(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, *(f"http://h{n}.example/" for n in range(9)), CRAWL_MAX_PAGES=3)
    first, second, third = (taken(crawl) for _ in range(3))
    assert crawl.take(1.0) is None and crawl.budget_in_flight() and not crawl.end_reason(1.0)
    crawl.fail(first, "http 404", Fetch(404, 1.0, 0.1))
    fourth = taken(crawl)
    assert crawl.take(1.0) is None
    crawl.refuse(second, "robots/forbidden")
    fifth = taken(crawl)
    for url in (third, fourth, fifth):
        assert not crawl.end_reason(1.0)
        receive(crawl, url, html(text="reef"))
    assert crawl.end_reason(1.0) == PAGE_BUDGET and crawl.stats.pages == 3 and crawl.take(1.0) is None
    assert crawl.frontier.leases() == 0 and crawl.stats.frontier_size == 4


def test_without_a_budget_nothing_is_ever_spent(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, CRAWL_MAX_PAGES=0)
    receive(crawl, taken(crawl), html(text="reef"))
    assert not crawl.end_reason(1.0) and not crawl.budget_in_flight()


# ------------------------------------------------------------ the door


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a.example/x", None),
        ("http://www.a.example/", None),
        ("http://a.example:8080/", None),
        ("http://nota.example/", "scope/domain"),
        ("http://a.example.evil/", "scope/domain"),
        ("http://b.example/" + "x" * 300, "scope/domain"),
        ("http://a.example/" + "x" * 300, "trap/too_long"),
        ("http://a.example/a/a/a/", "trap/repeated_segments"),
    ],
)
def test_scope_comes_before_traps(tmp_path: Path, url: str, reason: str | None) -> None:
    assert a_crawl(tmp_path, CRAWL_ALLOWED_DOMAINS=[".A.example"]).admission.rules.refusal(url, 0) == reason


@pytest.mark.parametrize(
    ("url", "reason"), [("http://www.a.de/", None), ("http://b.co.at/", None), ("http://de.example/", "scope/domain")]
)
def test_a_region_is_its_country_codes(tmp_path: Path, url: str, reason: str | None) -> None:
    """004 section 4.2."""
    assert a_crawl(tmp_path, CRAWL_ALLOWED_DOMAINS=["de", "at"]).admission.rules.refusal(url, 0) == reason


def test_refusals_are_counted_by_reason_with_examples(tmp_path: Path) -> None:
    links = ["/a/a/a/", "/" + "x" * 300, "/" + "y" * 300, "/film.mp4", "http://b.example/", "/fine"]
    crawl = a_crawl(tmp_path, CRAWL_ALLOWED_DOMAINS="a.example")
    receive(crawl, taken(crawl), html(*links, text="coral reef"))
    assert crawl.folder.refusals.counts == {
        "trap/repeated_segments": 1,
        "trap/too_long": 2,
        "trap/extension": 1,
        "scope/domain": 1,
    }
    assert crawl.folder.refusals.samples["scope/domain"] == [("http://b.example/", SEED)]
    assert crawl.stats.refused == 5 and crawl.stats.counters()["refused/trap/too_long"] == 2
    assert [url.url for url in crawl.frontier.waiting()] == ["http://a.example/fine"]


def test_the_ordering_learns_what_will_never_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[str] = []
    crawl = a_crawl(tmp_path, CRAWL_ALLOWED_DOMAINS="a.example", TRAP_MAX_DEPTH=1)
    monkeypatch.setattr(crawl.ordering, "refused", refused.append)
    receive(crawl, taken(crawl), html("/film.mp4", "http://b.example/", "/fine", "/forbidden", text="coral reef"))
    assert refused == ["http://a.example/film.mp4", "http://b.example/"]
    receive(crawl, taken(crawl), html("/too-deep", "/", "/moved"))
    assert len(refused) == 2, "another path may be shorter, and what is known was not refused"
    crawl.refuse(taken(crawl), "robots/forbidden")
    assert refused[2:] == ["http://a.example/forbidden"]


def test_depth_is_counted_from_the_seed(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, TRAP_MAX_DEPTH=1)
    receive(crawl, taken(crawl), html("/1", text="coral reef"))
    receive(crawl, taken(crawl), html("/2", text="coral reef"))
    assert crawl.take(1.0) is None and crawl.folder.refusals.counts == {"trap/too_deep": 1}


def test_links_of_a_page_that_asks_that_none_is_followed_are_counted(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    body = b"<meta name=robots content=nofollow>" + html("/1", "/2", "/3", text="coral reef")
    receive(crawl, taken(crawl), body)
    assert crawl.take(1.0) is None
    assert crawl.folder.refusals.counts == {"page/nofollow": 3}
    assert [url for url, _ in crawl.folder.refusals.samples["page/nofollow"]] == ["http://a.example/"]
    assert crawl.stats.unfollowed == 3


def test_a_seed_is_checked_like_a_link(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, "http://b.example/", CRAWL_ALLOWED_DOMAINS="a.example")
    assert crawl.stats.frontier_size == 0 and crawl.folder.refusals.counts == {"scope/domain": 1}


def test_links_that_the_ordering_does_not_follow_are_counted(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, ordering="fish_search", ORDERING_DEPTH=0)
    receive(crawl, taken(crawl), html("/1", "/2", text="nothing"))
    assert crawl.stats.frontier_size == 0 and crawl.folder.refusals.counts == {"ordering/not_followed": 2}


def test_a_full_frontier_keeps_the_best_and_counts_the_rest(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, FRONTIER_MAX_URLS=5)
    good = "".join(f"<p>coral reef <a href=/good{n}>coral reef</a></p>" for n in range(10))
    poor = "".join(f"<p>other <a href=/poor{n}>words</a></p>" for n in range(10))
    page = receive(crawl, taken(crawl), (poor + good).encode())
    assert len(page.links) == 20
    assert {url.url for url in crawl.frontier.waiting()} == {f"http://a.example/good{n}" for n in range(5)}
    assert crawl.folder.refusals.counts == {"frontier/full": 10}
    assert crawl.stats.counters()["frontier/evicted"] == 5


def test_a_full_host_takes_no_more(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, TRAP_MAX_URLS_PER_HOST=3)
    receive(crawl, taken(crawl), html("/1", "/2", "/3", "http://b.example/", text="coral reef"))
    assert {url.url for url in crawl.frontier.waiting()} == {
        "http://a.example/1",
        "http://a.example/2",
        "http://b.example/",
    }
    assert crawl.folder.refusals.counts == {"trap/host_full": 1}


# ------------------------------------------------------------ the ways out


def test_a_refused_url_leaves_no_history(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    crawl.refuse(replace(taken(crawl), parent="http://p.example/"), "robots/forbidden")
    assert lines(crawl) == [] and crawl.frontier.leases() == 0
    assert SEED in crawl.frontier, "it is known, and not asked for again"
    assert crawl.folder.refusals.samples == {"robots/forbidden": [(SEED, "http://p.example/")]}


def test_a_failed_fetch_is_an_error_in_the_history(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    crawl.fail(taken(crawl), "http 503", Fetch(503, 5.0, 2.0))
    visit = lines(crawl)[0]
    assert (visit["url"], visit["status"], visit["error"], visit["md5"]) == (SEED, 503, "http 503", "")
    assert (crawl.stats.pages, crawl.stats.fetches, crawl.stats.errors, crawl.frontier.leases()) == (0, 1, 1, 0)


def test_seeds_and_where_they_redirect_to_keep_their_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = ["http://a.example/", "http://b.example/", "http://c.example/"]
    crawl = a_crawl(tmp_path, *seeds)
    first = taken(crawl)
    crawl.redirect(taken(crawl), "http://d.example/", Fetch(301, 1.0, 0.1))
    known = ["http://a.example/1", "http://c.example/", "http://d.example/"]
    monkeypatch.setattr(crawl.ordering, "revise", lambda: [(url, 0.25) for url in known])
    page = crawl.steps.read(first, html("/1", *seeds))
    crawl.steps.offer(page, Fetch(200, 1.0, 0.1))
    assert {url.url: url.score for url in crawl.frontier.waiting()} == dict(zip(known, [0.25, 1.0, 1.0], strict=True))


def test_the_target_of_a_redirect_takes_the_place_of_its_source(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    receive(crawl, taken(crawl), html("http://b.example/old", text="coral reef"))
    source = taken(crawl)
    assert crawl.redirect(source, "http://c.example/new", Fetch(301, 5.0, 0.2))
    assert lines(crawl)[1]["redirect"] == "http://c.example/new" and lines(crawl)[1]["error"] == ""
    target = taken(crawl)
    assert target.url == "http://c.example/new"
    assert (target.score, target.depth, target.parent) == (source.score, source.depth, source.parent)
    assert (target.anchor, target.context_score, target.inherited) == (
        source.anchor,
        source.context_score,
        source.inherited,
    )
    assert crawl.stats.errors == 0


def test_a_redirect_to_a_known_or_refused_url_is_an_end(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, SEED, "http://b.example/")
    assert not crawl.redirect(taken(crawl), "http://b.example/", Fetch(302, 1.0, 0.1))
    assert not crawl.redirect(taken(crawl), "http://b.example/" + "x" * 300, Fetch(302, 1.0, 0.1))
    assert crawl.frontier.leases() == crawl.stats.frontier_size == 0
    assert crawl.folder.refusals.counts == {"trap/too_long": 1}


def test_pages_that_lead_on_by_themselves_end_as_redirects_do(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, f"{SEED}0")
    fetches = 0
    while (url := crawl.take(1.0)) is not None and fetches < 100:
        fetches += 1
        if fetches % 3 == 0:
            crawl.redirect(url, f"{SEED}{fetches}", Fetch(302, 1.0, 0.1))
        else:
            body = f'<meta http-equiv="refresh" content="0; url=/{fetches}">'.encode()
            assert (
                crawl.receive(url, Reply(url.url, 200, {"content-type": "text/html"}, body), Fetch(200, 1.0, 0.1))
                is None
            )
    assert lines(crawl)[-1]["error"] == TOO_MANY_REDIRECTS and fetches in (21, 22)


def test_what_is_no_url_has_no_canonical_spelling() -> None:
    canonicalize = make_canonicalizer(read_options({}))
    assert canonical_or_none(canonicalize, "HTTP://A.example") == SEED
    assert canonical_or_none(canonicalize, "mailto:x@a.example") is None


# ------------------------------------------------------------ resume


def resumed(folder: Path, **settings: object) -> Crawl:
    options = read_options({**IMPATIENT, "CRAWL_DIR": str(folder), "TRAP_MAX_URLS_PER_HOST": 4, **settings})
    return assemble(Topic("reef", ("coral reef",), (SEED,)), options, clock=lambda: 100.0)


def waiting(crawl: Crawl) -> list[str]:
    return sorted(url.url for url in crawl.frontier.waiting())


def test_a_resume_continues_where_the_crawl_was(tmp_path: Path) -> None:
    first = resumed(tmp_path)
    receive(first, taken(first), html("/1", "/2", "/film.mp4", text="coral reef"))
    lost, left = taken(first), waiting(first)
    first.close("shutdown", 50.0, {"custom/stat": 1})
    second = resumed(tmp_path)
    assert waiting(second) == sorted([*left, lost.url])
    assert (second.stats.pages, second.stats.fetches, second.stats.refused) == (1, 1, 1)
    assert second.stats.recent_relevance() == first.stats.recent_relevance() > 0
    manifest = json.loads((tmp_path / "crawl.json").read_text())
    assert manifest["stats"]["custom/stat"] == 1 and manifest["stats"]["history/pages"] == 1
    assert manifest["resumes"] == [100.0]


def test_a_resume_knows_how_full_each_host_is(tmp_path: Path) -> None:
    """Also when a page was in the history and waits again, since its links were never offered."""
    first = resumed(tmp_path)
    receive(first, taken(first), html("/1", "/2", text="coral reef"))
    url = taken(first)
    page = first.steps.read(url, b"")
    first.steps.keep(page, first.steps.visit(url, page, b"", Fetch(200, 2.0, 0.1)))
    first.leave("killed", 3.0)
    second = resumed(tmp_path)
    assert len(waiting(second)) == 2 and url.url in waiting(second)
    receive(second, taken(second, 101.0), html("/3", "/4", "http://b.example/", text="coral reef"))
    assert second.folder.refusals.counts == {"trap/host_full": 1}, "3 of 4 places were taken"
    assert {"http://a.example/3", "http://b.example/"} <= set(waiting(second))


def test_a_page_that_changes_before_it_is_fetched_once_more_for_its_links_stays_what_the_history_tells(
    tmp_path: Path,
) -> None:
    first, body = resumed(tmp_path), html("/1", text="coral reef")
    finish(first, seed := taken(first), first.steps.read(seed, body), body, Fetch(200, 2.0, 0.1), killed=True)
    first.leave("killed", 3.0)
    second = resumed(tmp_path)
    receive(second, taken(second, 101.0), html("/1", "/2", text="today's coral reef"))
    assert waiting(second) == ["http://a.example/1", "http://a.example/2"]
    (line,) = lines(second)
    assert second.folder.pages.load(SEED, line["digest"]) == body


def test_refusals_are_saved_when_the_frontier_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise StorageFailed("full")

    crawl = a_crawl(tmp_path)
    crawl.refuse(taken(crawl), "robots/forbidden")
    monkeypatch.setattr(crawl.frontier, "close", full)
    with pytest.raises(StorageFailed, match="full"):
        crawl.close("storage_failed", 9.0)
    assert json.loads((tmp_path / "refused.json").read_text())["counts"] == {"robots/forbidden": 1}
    assert json.loads((tmp_path / "crawl.json").read_text())["reason"] == "storage_failed"


def test_a_visit_records_what_rest_its_host_asked_for(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    crawl.learn_robots("http://a.example", rules(b"User-agent: *\nCrawl-delay: 7\n"), 0.0)
    crawl.fail(taken(crawl), "http 503", Fetch(503, 1.0, 0.5, asked_rest=60.0))
    crawl.learn_robots("http://a.example", rules(b""), 1.0)
    crawl.admission.offer(CrawlUrl("http://a.example/next", 1.0))
    receive(crawl, taken(crawl, now=100.0), html())
    crawl.folder.close("finished", 9.0, {})
    refused, next_page = read_lines(tmp_path / "history.jsonl")
    assert refused["signs"] == {"crawl_delay": 7.0, "retry_after": 60.0}
    assert next_page["signs"] == {}


def test_a_host_rests_as_long_as_any_of_its_origins_asks(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, SEED, "https://a.example/1", f"{SEED}2", f"{SEED}3")
    crawl.learn_robots("https://a.example", rules(b"User-agent: *\nCrawl-delay: 7\n"), 0.0)
    crawl.learn_robots("http://a.example", RobotsRules(404, b"", 1e12, "topical-crawler"), 0.0)
    crawl.fail(taken(crawl), "http 404", Fetch(404, 10.0, 0.1))
    assert crawl.next_due(10.0) == pytest.approx(17.0 + MARGIN)
    crawl.learn_robots("https://a.example", rules(b"User-agent: *\nCrawl-delay: 2\n"), 17.0)
    crawl.fail(taken(crawl, 18.0), "http 404", Fetch(404, 20.0, 0.1))
    assert crawl.next_due(20.0) == pytest.approx(22.0 + MARGIN), (
        "what an origin asks for now replaces what it asked for"
    )


@pytest.mark.parametrize("status", [503, 429])
def test_a_robots_txt_that_is_an_error_for_now_lifts_no_delay(tmp_path: Path, status: int) -> None:
    crawl = a_crawl(tmp_path, SEED, f"{SEED}2")
    crawl.learn_robots("http://a.example", rules(b"User-agent: *\nCrawl-delay: 50\n"), 0.0)
    crawl.learn_robots("http://a.example", RobotsRules(status, b"", 1e12, "topical-crawler"), 5.0)
    crawl.unreachable(taken(crawl), UNREACHABLE, Fetch(0, 10.0, 0.1))
    assert crawl.next_due(10.0) == pytest.approx(60.0 + MARGIN)


def test_a_visit_records_which_agent_fetched_the_page(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path, "http://a.example/", "http://b.example/", ordering="infospiders")
    for _ in range(2):
        url = taken(crawl)
        receive(crawl, url, html(f"{url.url}page"))
    pages = {}
    for _ in range(2):
        url = taken(crawl)
        pages[url.parent] = crawl.steps.visit(url, crawl.steps.read(url, html()), b"", Fetch(200, 2.0, 0.1))
    seeds = {line["url"]: line["signs"] for line in read_lines(tmp_path / "history.jsonl") if line["parent"] is None}
    assert sorted(signs["agent"] for signs in seeds.values()) == [0.0, 1.0]
    assert {parent: visit.signs for parent, visit in pages.items()} == seeds


def test_a_seed_comes_before_any_link_whatever_the_scores(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path)
    crawl.admission.offer(CrawlUrl("http://link.example/", 1e12, 1, SEED))
    assert taken(crawl).url == SEED
