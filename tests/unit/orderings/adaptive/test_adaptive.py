"""Adaptive: its learning, its explanations, and that a floor loses no URL."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from support.pages import a_context
from support.pages import a_linked_page as a_page
from support.webs import DictWeb, page

from crawlproject.errors import BadSetting
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.orderings.adaptive.adaptive import REVISE_EVERY, Adaptive
from crawlproject.orderings.adaptive.link_features import FROM_SEED, KINDS
from crawlproject.orderings.adaptive.link_rows import RECOMMENDED
from crawlproject.records import IMPLIED, CrawlUrl, Link, Page, Reply, Span, Topic
from crawlproject.storage.append_log import read_lines

GOOD, BAD = "html body main a", "html body footer a"
PORTAL = "http://portal.example/"
IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "FRONTIER_BATCH_SIZE": 1, "CRAWL_FRONT_PAGES": False}


def adaptive(**parameters: object) -> Adaptive:
    return Adaptive(a_context("coral reef", seeds=["http://a.example/"]), **parameters)  # type: ignore[arg-type]


def scores(ordering: Adaptive, seen: Page) -> list[float | None]:
    ordering.observe(seen)
    return [ordering.score(seen, link) for link in seen.links]


def numbers(ordering: Adaptive, seen: Page) -> list[float]:
    found = scores(ordering, seen)
    assert None not in found
    return [score for score in found if score is not None]


def links_to(names: Sequence[str], anchor: str = "", path: str = "") -> list[tuple[str, str, str]]:
    return [(f"http://b.example/{name}", anchor, path) for name in names]


# ------------------------------------------------------------ what is learned


def test_with_nothing_learned_keywords_decide_as_in_dom() -> None:
    anchors = ["coral reef", "coral", "steam", ""]
    ordering = adaptive(without="anchor feedback")  # the one page is all that feedback knows
    links = [(f"http://b.example/{n}", anchor, "") for n, anchor in enumerate(anchors)]
    found = numbers(ordering, a_page("http://a.example/", "", *links))
    assert found[0] >= found[1] > found[2] == found[3]


def test_links_at_the_place_that_led_to_good_pages_score_higher() -> None:
    """Ten links with the same words and folder; links in the main part lead to reefs, links in the footer to steam."""
    ordering = adaptive()
    places = [GOOD, BAD] * 5
    links = [(f"http://a.example/{n}", "more", place) for n, place in enumerate(places)]
    first = numbers(ordering, a_page("http://a.example/", "coral reef", *links))
    assert first == pytest.approx([first[0]] * 10), "they do not differ"
    for n, place in enumerate(places[:8]):
        ordering.observe(a_page(f"http://a.example/{n}", "coral reef" if place == GOOD else "steam engine"))
    good, bad = numbers(ordering, a_page("http://c.example/", "", *links[8:]))
    assert good > bad + 0.05
    assert good > first[8] and bad < good


def test_what_waits_is_reported_its_new_score() -> None:
    ordering = adaptive()
    links = links_to([f"{n}" for n in range(REVISE_EVERY + 4)], "more", GOOD)
    before = numbers(ordering, a_page("http://a.example/", "steam", *links))
    revised: dict[str, float] = {}
    for url, _, _ in links[: REVISE_EVERY - 1]:
        assert not revised
        ordering.observe(a_page(url, "coral reef"))
        revised = dict(ordering.revise())
    assert set(revised) == {url for url, _, _ in links[REVISE_EVERY - 1 :]}, (
        "URLs whose fetch has ended are not revised"
    )
    assert min(revised.values()) > max(before)


def test_prospect_counts_what_lies_behind() -> None:
    def behind(prospect: float) -> list[float]:
        ordering = adaptive(prospect=prospect)
        ordering.observe(a_page("http://a.example/", "", *links_to(["hub", "leaf"], "more", GOOD)))
        many = links_to([f"x{n}" for n in range(20)], "coral reef")
        ordering.observe(a_page("http://b.example/hub", "index", *many))
        new = ("http://b.example/new", "more", GOOD)
        return numbers(ordering, a_page("http://a.example/", "", new))

    assert behind(1.0)[0] > behind(0.0)[0]


# ------------------------------------------------------------ what is explained and what is left out


def test_the_parts_sum_to_the_score_also_when_more_is_known_since() -> None:
    ordering = adaptive()
    link = ("http://a.example/coral", "coral reef", GOOD)
    score = numbers(ordering, a_page("http://a.example/", "coral reef polyp", link))[0]
    url = CrawlUrl(link[0], score, 1, "http://a.example/")
    parts = ordering.explain(url)
    assert sum(parts.values()) == pytest.approx(score)
    assert list(parts.values()) == sorted(parts.values(), reverse=True)
    assert {"anchor", "behind"} < set(parts) <= {*KINDS, "behind", "seed", "exploration", "learned since"}
    ordering.observe(a_page("http://c.example/", "coral reef", link))
    later = ordering.explain(url)
    assert sum(later.values()) == pytest.approx(score) and later["learned since"] != parts["learned since"]
    assert ordering.explain(CrawlUrl("http://nobody-knows.example/", 1.0)) == {}


def test_the_first_link_from_a_seed_to_another_host_is_worth_more_until_the_host_was_visited() -> None:
    ordering = adaptive()
    hosts = ("own", "own", "other", "other", "third")
    links = [(f"http://{host}.example/{number}", "steam", GOOD) for number, host in enumerate(hosts)]

    def raised() -> list[float]:
        return [ordering.explain(CrawlUrl(url, 0.0)).get("seed", 0.0) for url, _, _ in links]

    found = numbers(ordering, a_page("http://own.example/", "", *links))
    assert raised() == [0.0, 0.0, FROM_SEED, 0.0, FROM_SEED]
    assert found[2] - found[3] == pytest.approx(FROM_SEED)
    ordering.failed("http://third.example/4")
    ordering.observe(a_page("http://other.example/3", "steam", ("http://fourth.example/", "steam", GOOD), depth=1))
    assert not any(raised()), "the host was visited, and links of other pages are as before"
    assert "seed" not in ordering.explain(CrawlUrl("http://fourth.example/", 0.0))
    ordering.observe(a_page("http://own.example/", "", ("http://third.example/5", "steam", GOOD)))
    assert ordering.explain(CrawlUrl("http://third.example/5", 0.0))["seed"] == FROM_SEED, "its only page failed"


def test_a_seed_that_links_to_many_hosts_recommends_each_of_them_less() -> None:
    ordering = adaptive()
    links = [(f"http://host{number}.example/", "steam", GOOD) for number in range(4 * RECOMMENDED)]
    numbers(ordering, a_page("http://list.example/", "", *links))
    assert ordering.explain(CrawlUrl(links[0][0], 0.0))["seed"] == pytest.approx(FROM_SEED / 4)
    numbers(ordering, a_page("http://few.example/", "", links[0]))
    assert ordering.explain(CrawlUrl(links[0][0], 0.0))["seed"] == FROM_SEED
    assert ordering.explain(CrawlUrl(links[1][0], 0.0))["seed"] == pytest.approx(FROM_SEED / 4)


def test_evidence_that_is_left_out_has_no_part() -> None:
    ordering = adaptive(without="anchor, around,anchor feedback")
    found = numbers(
        ordering, a_page("http://a.example/", "", *links_to(["1"], "coral reef"), *links_to(["2"], "steam"), depth=1)
    )
    assert found[0] == pytest.approx(found[1])
    assert not {"anchor", "around", "anchor feedback"} & set(ordering.explain(CrawlUrl("http://b.example/1", found[0])))


def test_an_unknown_kind_of_evidence_is_refused() -> None:
    with pytest.raises(BadSetting, match="anchr"):
        adaptive(without="place, anchr")


@pytest.mark.parametrize(
    ("parameter", "value"), [("active", -1), ("rows", 0), ("explore", -0.5), ("strength", 0.0), ("prospect", -1)]
)
def test_a_number_that_makes_no_sense_is_reported(parameter: str, value: float) -> None:
    with pytest.raises(BadSetting, match=f"ORDERING_{parameter.upper()}: expected at least"):
        adaptive(**{parameter: value})


# ------------------------------------------------------------ redirects


def test_what_is_known_of_a_url_holds_for_where_it_redirects_to() -> None:
    ordering = adaptive()
    score = numbers(ordering, a_page("http://a.example/", "coral reef", ("http://a.example/old", "coral reef", GOOD)))[
        0
    ]
    ordering.explain(CrawlUrl("http://a.example/old", score))
    ordering.redirected("http://a.example/old", "http://c.example/new")
    parts = ordering.explain(CrawlUrl("http://c.example/new", score))
    assert parts["anchor"] > 0 and sum(parts.values()) == pytest.approx(score)
    assert ordering.explain(CrawlUrl("http://a.example/old", score)) == {}
    back = a_page("http://c.example/", "", ("http://a.example/old", "coral reef", GOOD))
    assert scores(ordering, back) == [0.0], "the old address has ended"


def test_a_redirect_to_what_is_known_is_an_end() -> None:
    ordering = adaptive()
    ordering.observe(a_page("http://a.example/", "", *links_to(["old"], "coral reef"), *links_to(["new"], "steam")))
    ordering.redirected("http://b.example/old", "http://b.example/new")
    ordering.redirected("http://nobody-knows.example/", "http://b.example/other")
    assert (
        ordering.explain(CrawlUrl("http://b.example/old", 1.0))
        == {}
        == ordering.explain(CrawlUrl("http://b.example/other", 1.0))
    )
    assert ordering.explain(CrawlUrl("http://b.example/new", 1.0)).get("anchor", 0) == 0, "it keeps its own evidence"


# ------------------------------------------------------------ the floor


def later(ordering: Adaptive, text: str = "coral reef") -> dict[str, float]:
    """The scores sent to the frontier when all waiting URLs are scored again, after pages with this text."""
    told: dict[str, float] = {}
    for n in range(REVISE_EVERY):
        ordering.observe(a_page(f"http://other.example/{text}/{n}", text))
        told |= dict(ordering.revise())
    return told


def test_the_best_are_above_the_floor_the_others_rise_when_they_are_wanted() -> None:
    ordering = adaptive(active=2, explore=0.0)
    good, poor = links_to(["g1", "g2"], "coral reef"), links_to(["p1", "p2", "p3"], "steam")
    first = a_page("http://a.example/", "", *good, *poor)
    known = dict(zip((link[0] for link in (*good, *poor)), numbers(ordering, first), strict=True))
    assert ordering.floor == -math.inf and list(ordering.revise()) == [], "there were no good pages yet"
    known |= later(ordering)
    assert {url for url, score in known.items() if score >= ordering.floor} == {url for url, _, _ in good}
    for url, _, _ in good:
        ordering.observe(a_page(url, "coral reef"))
        del known[url]
    known |= dict(ordering.revise())
    assert len([url for url, score in known.items() if score >= ordering.floor]) >= 2, "at once, not after 16 pages"


def test_what_is_explored_is_raised_to_the_floor_and_says_so() -> None:
    ordering = adaptive(active=2, explore=0.25)
    stranger = ("http://c.example/", "steam", "")
    ordering.observe(a_page("http://a.example/", "", *links_to(["1", "2", "3"], "coral reef"), stranger))
    told = later(ordering)
    assert told["http://c.example/"] == ordering.floor
    parts = ordering.explain(CrawlUrl("http://c.example/", ordering.floor))
    assert parts["exploration"] > 0 and sum(parts.values()) == pytest.approx(ordering.floor)


def test_what_is_refused_too_deep_or_held_gives_its_place_to_others_and_may_be_found_again() -> None:
    hosts = [f"http://h{n}.example/" for n in range(4)]
    ordering = adaptive(active=1, explore=0.0)
    seen = a_page("http://a.example/", "", *((host, "coral reef", "") for host in hosts))
    score = numbers(ordering, seen)[0]
    ordering.refused(hosts[0])
    ordering.too_deep(hosts[1])
    ordering.postponed(hosts[2])
    ordering.host_blocked("h3.example")
    assert [ordering.explain(CrawlUrl(host, score)) for host in hosts] == [{}] * 4, "no evidence is kept"
    assert set(later(ordering)) == set()
    again = numbers(ordering, a_page("http://c.example/", "", *((host, "coral reef", "") for host in hosts)))
    assert again[0] == 0.0 and min(again[1:]) > 0.0, "what is refused has ended"


def test_only_urls_above_the_floor_lose_their_place_with_a_blocked_host() -> None:
    ordering = adaptive(active=2, explore=0.0)
    good, poor, other = "http://h.example/good", "http://h.example/poor", "http://i.example/good"
    links = [(good, "coral reef", ""), (poor, "steam", ""), (other, "coral reef", "")]
    ordering.observe(a_page("http://a.example/", "coral reef", *links))
    later(ordering, "coral reef")
    for host in ("nobody.example", "h.example", "h.example"):
        ordering.host_blocked(host)
    assert [bool(ordering.explain(CrawlUrl(url, 1.0))) for url in (good, poor, other)] == [False, True, True]


def test_a_seed_that_is_linked_is_no_candidate() -> None:
    ordering = adaptive()
    assert numbers(ordering, a_page("http://b.example/", "", ("http://a.example/", "coral reef", GOOD))) == [0.0]


# ------------------------------------------------------------ what is remembered


def test_the_worst_lose_their_rows_and_are_told_their_last_score() -> None:
    ordering = adaptive(active=2, rows=8)
    good, poor = links_to([f"g{n}" for n in range(8)], "coral reef"), links_to([f"p{n}" for n in range(30)], "steam")
    first = a_page("http://a.example/", "coral reef", *good, *poor)
    known = dict(zip((link[0] for link in (*good, *poor)), numbers(ordering, first), strict=True))
    known |= later(ordering, "steam")
    explained = [url for url in known if ordering.explain(CrawlUrl(url, 1.0))]
    assert explained == [url for url, _, _ in good]
    assert all(known[url] < ordering.floor for url, _, _ in poor), "they wait below the floor"
    assert set(later(ordering)) <= set(explained), "and are told nothing more"


def test_what_is_kept_does_not_grow_with_what_waits() -> None:
    """Ten times the URLs: rows, groups and scores stay within their limits."""

    def kept(pages: int) -> tuple[int, int]:
        ordering = adaptive(active=4, rows=32)
        vocabulary, waits = [f"word{n}" for n in range(50)], 0
        tracemalloc.start()
        for n in range(120 + pages):
            if n == 120:  # everything bounded has reached its limit
                before, waits = tracemalloc.get_traced_memory()[0], 0
            links = [(f"http://h{n}x{m}.example/{n}/{m}", vocabulary[(n + m) % 50], f"li:{n}") for m in range(20)]
            ordering.observe(a_page(f"http://p.example/{n}", "coral reef", *links))
            list(ordering.revise())
            waits += len(links)
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return waits, after - before

    small, large = kept(40), kept(400)
    assert large[0] == 10 * small[0]
    assert large[1] < 300_000 > small[1], "up to 352 rows between two scorings, for 800 URLs and for 8,000"


# ------------------------------------------------------------ links that no page has


def imply(ordering: Adaptive, page: Page, url: str) -> None:
    ordering.implied(replace(page, links=(Link(url, "", Span(0, 0), Span(0, 0), 0.0, IMPLIED),)))


def test_what_they_are_worth_is_learned_on_all_hosts_together() -> None:
    ordering = adaptive()
    for n in range(12):
        home = a_page(f"http://a{n}.example/p", "coral reef", (f"http://b{n}.example/x", "", GOOD))
        ordering.observe(home)
        imply(ordering, home, f"http://b{n}.example/")
        ordering.observe(a_page(f"http://b{n}.example/x", "coral reef"))
        ordering.observe(a_page(f"http://b{n}.example/", "steam"))
    home = a_page("http://c.example/p", "coral reef", ("http://d.example/x", "", GOOD))
    ordering.observe(home)
    imply(ordering, home, "http://d.example/")
    linked, implied = (ordering.explain(CrawlUrl(f"http://d.example/{name}", 0.0))["place"] for name in ("x", ""))
    assert implied < linked, "though nothing is known of links on this host"


def test_one_that_is_known_stays_what_it_is() -> None:
    ordering, url = adaptive(), CrawlUrl("http://b.example/", 0.0)
    first = a_page("http://a.example/", "coral reef", (url.url, "coral", GOOD))
    ordering.observe(first)
    before = ordering.explain(url)
    imply(ordering, a_page("http://c.example/", "coral reef reef"), url.url)
    assert before and ordering.explain(url) == before


# ------------------------------------------------------------ whole crawls


def random_web(seed: int) -> DictWeb:
    """90 URLs of 8 hosts: pages, redirects, missing pages, and films that the trap rules refuse."""
    random = Random(seed)
    urls = [f"http://h{n % 8}.example/{n}" + random.choice(["", "", ".mp4"]) for n in range(90)]
    entries = dict([page(PORTAL, *random.sample(urls, 12), text="reef")])
    for url in urls:
        kind = random.random()
        if kind < 0.1:
            entries[url] = Reply(url, 301, {"location": random.choice(urls)}, b"")
        elif kind < 0.9:
            text = random.choice(["coral reef", "reef", "steam engine"])
            entries |= dict([page(url, *random.sample(urls, random.randrange(7)), text=text)])
    return DictWeb(entries)


def fetched(web: DictWeb, out: Path, **settings: object) -> list[str]:
    topic = Topic("reef", ("coral reef",), (PORTAL,))
    stage = Runner(web, lambda _: {**IMPATIENT, **settings}, pages=10_000, agent="topical-crawler")
    list(stage.rehearse(topic, ["adaptive"], out))
    return [line["url"] for line in read_lines(out / "reef" / "adaptive" / "history.jsonl")]


@pytest.mark.parametrize("seed", [1, 3, 4])
@pytest.mark.parametrize("active", [1, 2])
def test_with_time_enough_few_active_urls_fetch_the_same_pages(tmp_path: Path, seed: int, active: int) -> None:
    web = random_web(seed)
    everything = fetched(web, tmp_path / "all", ORDERING_ACTIVE=0)
    few = fetched(web, tmp_path / "few", ORDERING_ACTIVE=active, ORDERING_EXPLORE=0, ORDERING_ROWS=5)
    assert len(everything) > 30 and sorted(few) == sorted(everything)


def test_what_is_too_deep_does_not_end_the_crawl(tmp_path: Path) -> None:
    hub, deep = "http://a.example/1", [f"http://a.example/deep{n}" for n in range(5)]
    leaves = [f"http://b{n}.example/" for n in range(20)]
    web = DictWeb(
        dict([page(PORTAL, hub, *leaves, text="reef"), page(hub, *deep, text="coral reef")])
        | dict(page(url, text="steam") for url in leaves)
    )
    found = fetched(web, tmp_path, ORDERING_ACTIVE=2, ORDERING_EXPLORE=0, TRAP_MAX_DEPTH=1)
    assert sorted(found) == sorted([PORTAL, hub, *leaves])
