"""TRES: the choice of the next link."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.pages import a_context, a_link, a_page, a_page_of

from crawlproject.errors import BadSetting
from crawlproject.orderings.tres.tres import Tres
from crawlproject.records import CrawlUrl, Page

ABOVE = 200.0  # 2 / (1 - 0.99), the bonus of representatives


def offer(ordering: Tres, page: Page) -> dict[str, float]:
    """Observe a page and score its links; return the scores of waiting links afterwards."""
    ordering.observe(page)
    scores = {link.url: ordering.score(page, link) for link in page.links}
    return {**scores, **dict(ordering.revise())}


def split(ordering: Tres) -> None:
    """Links with a keyword in the anchor led to relevant pages, five others did not: two leaves."""
    good = [(f"http://good.example/{number}", "coral") for number in range(5)]
    bad = [(f"http://bad.example/{number}", "engine") for number in range(5)]
    offer(ordering, a_page_of(*good, *bad))
    for url, _ in (*good, *bad):
        ordering.observe(replace(a_page(url, relevance=float("good" in url)), parent="http://a.example/"))


def leaders(ordering: Tres, rounds: int) -> list[str]:
    """The best representative after each of ``rounds`` pages without reward."""
    scores: dict[str, float] = {}
    found = []
    for _ in range(rounds):
        scores.update(ordering.revise())
        found.append(max(scores, key=scores.__getitem__))
    return found


def test_in_the_warm_up_leaves_are_equally_likely_however_many_links_they_have() -> None:
    ordering = Tres(a_context("coral"))
    split(ordering)
    few, many = ("http://x.example/", "coral"), [(f"http://y.example/{n}", "boat") for n in range(60)]
    offer(ordering, replace(a_page_of(few, *many), url="http://z.example/", parent="http://a.example/"))
    led = leaders(ordering, 400)
    assert 160 < led.count(few[0]) < 240
    assert len(set(led)) > 50


def test_of_several_links_to_a_url_the_best_counts() -> None:
    ordering = Tres(a_context("coral"))
    split(ordering)
    twice, many = "http://x.example/", [(f"http://y.example/{n}", "boat") for n in range(60)]
    for number, anchor in enumerate(("boat", "coral", "boat")):
        page = a_page_of((twice, anchor), *many)
        offer(ordering, replace(page, url=f"http://z.example/{number}", parent="http://a.example/"))
    assert 160 < leaders(ordering, 400).count(twice) < 240, "it is alone in its leaf"


def test_what_is_known_of_a_host_is_looked_at_anew() -> None:
    ordering = Tres(a_context("coral"), warmup=0)
    links = [a_link("http://h.example/1"), a_link("http://h.example/2")]
    before = max(offer(ordering, a_page("http://seed.example/", links=links)).values())
    ordering.observe(replace(a_page("http://h.example/1"), parent="http://seed.example/"))
    assert dict(ordering.revise())["http://h.example/2"] != pytest.approx(before)


def test_the_copy_follows_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def last(every: int) -> float:
        monkeypatch.setattr("crawlproject.orderings.tres.tres.FOLLOW_EVERY", every)
        ordering, found = Tres(a_context("coral"), warmup=0), 0.0
        offer(ordering, a_page("http://seed.example/", links=[a_link("http://p.example/0")]))
        for number in range(12):
            page = a_page(f"http://p.example/{number}", links=[a_link(f"http://p.example/{number + 1}")], relevance=1.0)
            found = max(offer(ordering, replace(page, parent="http://seed.example/")).values())
        return found

    assert last(3) != last(1000) == last(2000)


def test_after_it_the_best_representative_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards followed keywords in anchors, so that the network learns to value such keywords."""
    monkeypatch.setattr("crawlproject.orderings.tres.tres.SHOWN", 1)
    ordering = Tres(a_context("coral"), warmup=10, discount=0.0)
    split(ordering)
    for number in range(300):
        url = f"http://page.example/{number}"
        good, bad = (f"http://g.example/{number}", "coral"), (f"http://b.example/{number}", "engine")
        page = replace(a_page_of(good, bad), url=url, parent="http://a.example/")
        offer(ordering, page)
        ordering.observe(replace(a_page(good[0], links=[a_link(url)], relevance=1.0), parent=url))
        ordering.observe(replace(a_page(bad[0], links=[a_link(url)]), parent=url))
    new = [("http://new.example/1", "coral"), *((f"http://new.example/{n}", "engine") for n in range(2, 9))]
    scores = offer(ordering, replace(a_page_of(*new), url="http://last.example/", parent="http://a.example/"))
    assert max(scores, key=scores.__getitem__) == "http://new.example/1"
    assert 2 + 0.5 < scores["http://new.example/1"] <= 2 + 1


def test_links_of_the_warm_up_get_their_q_at_its_end_and_when_the_crawl_has_doubled() -> None:
    ordering = Tres(a_context("coral"), warmup=2)
    found = [a_link(f"http://x{number}.example/") for number in range(20)]
    offer(ordering, a_page("http://seed.example/", links=found))
    told = []
    for link in found[:5]:
        ordering.observe(replace(a_page(link.url), parent="http://seed.example/"))
        told.append(len(dict(ordering.revise())))
    assert told[1] == 18 and told[3] == 16
    assert max(told[0], told[2], told[4]) <= 2, "the representative that was drawn, and the one before"


def test_a_representative_scores_above_all_others_and_falls_back_when_another_is_drawn() -> None:
    ordering = Tres(a_context("coral"))
    found = [a_link(f"http://x.example/{number}") for number in range(20)]
    scores = offer(ordering, a_page("http://seed.example/", links=found))
    for _ in range(10):
        assert sum(score >= ABOVE for score in scores.values()) == 1, "there is one leaf"
        scores.update(ordering.revise())


def test_not_more_than_so_many_representatives_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ordering = Tres(a_context("coral"))
    split(ordering)
    page = a_page_of(("http://x.example/", "coral"), ("http://y.example/", "boat"))
    both = offer(ordering, replace(page, url="http://z.example/", parent="http://a.example/"))
    assert sum(score >= ABOVE for score in both.values()) == 2
    monkeypatch.setattr("crawlproject.orderings.tres.tres.SHOWN", 1)
    both.update(ordering.revise())
    assert sum(score >= ABOVE for score in both.values()) == 1


def test_seeds_count_as_relevant_and_so_do_their_hosts() -> None:
    """A link of a seed is worth what a link of a relevant page behind it is; one to its own host is worth something else."""
    ordering, other = Tres(a_context("coral"), warmup=0), Tres(a_context("coral"), warmup=0)
    first = offer(ordering, a_page("http://seed.example/", links=[a_link("http://x.example/")]))
    page = a_page("http://x.example/", links=[a_link("http://y.example/")], relevance=1.0)
    second = offer(ordering, replace(page, parent="http://seed.example/"))
    assert first["http://x.example/"] == second["http://y.example/"]
    own = offer(other, a_page("http://seed.example/", links=[a_link("http://seed.example/own")]))
    assert own["http://seed.example/own"] != first["http://x.example/"]


def test_a_path_goes_through_a_redirect() -> None:
    """What the seed links to, or where that redirects to, is one link from a relevant page; what nobody links to is not."""

    def behind(url: str, target: str = "") -> float:
        ordering = Tres(a_context("coral"), warmup=0)
        offer(ordering, a_page("http://seed.example/", links=[a_link("http://old.example/")]))
        if target:
            ordering.redirected(url, target)
        page = a_page(target or url, links=[a_link("http://far.example/")])
        return offer(ordering, replace(page, parent="http://seed.example/"))["http://far.example/"]

    assert behind("http://old.example/", "http://new.example/") == behind("http://old.example/")
    assert behind("http://unknown.example/") != pytest.approx(behind("http://old.example/"))


def test_the_parts_of_a_score() -> None:
    ordering = Tres(a_context("coral"))
    [(url, score)] = offer(ordering, a_page("http://seed.example/", links=[a_link("http://x.example/")])).items()
    assert ordering.explain(CrawlUrl(url, score)) == pytest.approx({"representative": ABOVE, "chance": score - ABOVE})
    assert ordering.explain(CrawlUrl(url, 0.5)) == {}


def test_a_discount_of_one_is_refused() -> None:
    with pytest.raises(BadSetting, match="ORDERING_DISCOUNT"):
        Tres(a_context(), discount=1.0)
