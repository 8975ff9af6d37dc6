"""The orderings by links, on webs of a few pages worked out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import DictArchive, a_context, a_link, a_page

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.link_based import BacklinkCount, LargestSiteFirst, LinkBased, Opic, TransDomainIndegree
from crawlproject.orderings.pagerank import PageRank
from crawlproject.orderings.registry import make_ordering
from crawlproject.records import CrawlUrl, Page
from crawlproject.urls.hosts import host_of

SEED = "http://seed.example/"


def page(url: str, *links: str) -> Page:
    return a_page(url, links=[a_link(link) for link in links])


def offer(ordering: BaseOrdering, fetched: Page) -> dict[str, float | None]:
    """Offer a page; return the scores that the frontier receives afterwards."""
    ordering.observe(fetched)
    scores = {link.url: ordering.score(fetched, link) for link in fetched.links}
    return scores | dict(ordering.revise())


A, B, C, D = (f"http://{name}.example/" for name in "abcd")
BY_LINKS = [BacklinkCount, TransDomainIndegree, Opic, PageRank]


def test_backlink_count_counts_pages() -> None:
    """Paper 002 Figure 2: the number of pairs (-, u) in links."""
    ordering = BacklinkCount(a_context())
    assert offer(ordering, page(SEED, A, B, A)) == {A: 1, B: 1}
    assert offer(ordering, page(A, B, C)) == {B: 2, C: 1}
    assert offer(ordering, page(B, B, C)) == {B: 3, C: 2}


def test_pagerank_prefers_one_link_of_a_high_page_to_two_of_low_ones() -> None:
    """Paper 002 Figure 3: page 2 is linked from a page with rank, the cluster A from within itself only.

    The seed with rank 0.1 links to ten pages and to ``hub``: 0.1 + 0.09 / 11 each. Nine of the ten link to hub only, the
    other gives a third to hub and to each page of its cluster of two, of which one was fetched and links to the other.
    """
    pages = [f"http://a.example/{number}" for number in range(10)]
    hub, two, cluster = "http://h.example/", "http://t.example/", ["http://c.example/1", "http://c.example/2"]
    web = [page(SEED, hub, *pages), *(page(url, hub) for url in pages[1:]), page(pages[0], hub, *cluster)]
    web += [page(cluster[0], cluster[1]), page(hub, two)]
    ranks, counts = PageRank(a_context(), growth=0.0), BacklinkCount(a_context())
    for fetched in web:
        by_rank, by_count = offer(ranks, fetched), offer(counts, fetched)
    entrance = 0.1 + 0.09 / 11
    hub_rank = entrance + 0.9 * entrance * (9 + 1 / 3)
    assert by_rank[two] == pytest.approx(0.1 + 0.9 * hub_rank, rel=1e-3)
    inside = 0.1 + 0.3 * entrance
    assert ranks.worth(cluster[1]) == pytest.approx(inside + 0.9 * inside, rel=1e-3)
    assert ranks.worth(two) > ranks.worth(cluster[1])
    assert by_count[two] == 1
    assert counts.worth(cluster[1]) == 2


def test_pagerank_by_links_between_sites_and_with_jumps_to_the_seeds() -> None:
    """Variants of paper 004 section 4.1."""
    inside, outside = f"{SEED}inside", "http://other.example/"
    external = PageRank(a_context(seeds=[SEED]), links="external")
    assert offer(external, page(SEED, inside, outside)) == {inside: pytest.approx(0.1), outside: pytest.approx(0.19)}
    trusted = PageRank(a_context(seeds=["http://old.example/"]), jumps="seeds")
    trusted.redirected("http://old.example/", SEED)
    assert offer(trusted, page(SEED, A, B)) == {A: pytest.approx(0.045), B: pytest.approx(0.045)}
    assert offer(trusted, page("http://spam.example/", C))[C] == 0
    for parameter in ("links", "jumps", "ranks", "first"):
        with pytest.raises(BadSetting, match=rf"ORDERING_{parameter.upper()}: expected \w+ or"):
            PageRank(a_context(), **{parameter: "some"})


def test_pagerank_of_an_earlier_crawl() -> None:
    """Paper 004 section 4.1: in the earlier crawl A and C linked to B; D was unknown, and gets its rank from this crawl."""
    earlier = DictArchive(page(SEED, A, C), page(A, B), page(C, B), redirects={"http://old.example/": C})
    with pytest.raises(BadSetting, match=r"ORDERING_RANKS: archive: expected ORDERING_ARCHIVE"):
        PageRank(a_context(), ranks="archive")
    ordering = PageRank(a_context(archive=earlier), ranks="archive", growth=0.0)
    a = 0.1 + 0.9 * 0.1 / 2
    scores = offer(ordering, page(SEED, A, B, D))
    assert scores == pytest.approx({A: a, B: 0.1 + 0.9 * 2 * a, D: 0.1 + 0.9 * 0.1 / 3}, rel=1e-3)
    assert offer(ordering, page(A, D))[D] > scores[D]
    external = PageRank(a_context(archive=DictArchive(page(A, f"{A}x", B))), ranks="archive", links="external")
    assert external.worth(f"{A}x") == pytest.approx(0.1) and external.worth(B) == pytest.approx(0.1 + 0.9 * 0.1)


def test_a_first_estimate_by_the_site() -> None:
    """Paper 004 section 4.3. Sites: seed -> a, so a = 0.1 + 0.9 * 0.1 and seed = 0.1, in units of their mean, 0.145.

    The ranks are solved after one page and after three.
    """
    one, two, other = f"{A}one", f"{A}two", "http://new.example/"
    ordering = PageRank(a_context(seeds=[SEED]), first="site", growth=1.0)
    offer(ordering, page(SEED, A))
    third = 0.9 * 0.19 / 3
    scores = offer(ordering, page(A, one, two, other))
    assert scores == pytest.approx({one: 0.1 * 0.19 / 0.145 + third, two: scores[one], other: 0.1 + third})
    assert offer(ordering, page(one)) == pytest.approx({two: 0.1 + third, other: 0.1 + third}, rel=1e-3)


def test_pagerank_revises_only_waiting_urls_that_changed_without_a_link() -> None:
    """B waits since the fetch of the seed; when A links to the seed, rank passes through to B, and to A, which is finished."""
    ordering = PageRank(a_context(seeds=["http://other.example/"]), growth=0.0)
    assert offer(ordering, page(SEED, A, B)) == {A: pytest.approx(0.145), B: pytest.approx(0.145)}
    scores = offer(ordering, page(A, SEED))
    assert scores[B] == pytest.approx(0.1 + 0.45 * (0.1 + 0.9 * ordering.worth(A)), rel=1e-3)
    assert set(scores) == {SEED, B}  # the seed of this page's link, though it was fetched: the frontier knows that


def test_pagerank_leaves_out_what_failed() -> None:
    ordering = PageRank(a_context(seeds=["http://other.example/"]), growth=0.0)
    offer(ordering, page(SEED, A, B))
    ordering.failed(B)
    assert set(offer(ordering, page(A, SEED))) == {SEED}


def test_opic_hands_cash_on_in_equal_parts() -> None:
    ordering = Opic(a_context())
    assert offer(ordering, page(SEED, A, B)) == {A: 0.5, B: 0.5}
    assert offer(ordering, page(A, B, C)) == {B: 0.75, C: 0.25}
    assert offer(ordering, page(C, SEED)) == {SEED: 0.25}


def test_indegree_is_backlink_count() -> None:
    assert type(make_ordering("indegree", a_context(), {})) is BacklinkCount


def test_trans_domain_indegree_counts_other_domains_only() -> None:
    ordering = TransDomainIndegree(a_context())
    shop, blog = "http://shop.example.co.uk/", "http://blog.example.co.uk/"
    assert offer(ordering, page(shop, blog, A)) == {blog: 0, A: 1}
    assert offer(ordering, page(blog, shop, A)) == {shop: 0, A: 2}
    assert offer(ordering, page(A, blog)) == {blog: 1}


def test_the_largest_site_comes_first() -> None:
    ordering = LargestSiteFirst(a_context(), growth=0.25)
    small, large = "http://small.example/1", [f"http://large.example/{number}" for number in range(8)]
    assert offer(ordering, page(SEED, small, *large[:4])) == {small: 1, **dict.fromkeys(large[:4], 4)}
    assert offer(ordering, page(large[0], large[4])) == {large[4]: 4}  # one less, one more
    assert offer(ordering, page(small, large[5])) == {large[5]: 4}  # 5 is within a quarter of 4
    assert offer(ordering, page(SEED, *large[6:])) == dict.fromkeys(large[1:], 7)
    assert offer(ordering, page(large[1])) == {}  # 6 is within a quarter of 7
    ordering.failed(large[2])
    assert dict(ordering.revise()) == dict.fromkeys(large[3:], 5)


def test_urls_that_are_refused_do_not_count_for_their_site() -> None:
    ordering = LargestSiteFirst(a_context())
    fetched = page(SEED, *(f"http://large.example/{number}" for number in range(4)))
    ordering.observe(fetched)
    for link in fetched.links[1:]:
        ordering.refused(link.url)
    assert ordering.score(fetched, fetched.links[0]) == 1


def test_a_site_that_was_fetched_whole_starts_again() -> None:
    ordering = LargestSiteFirst(a_context())
    offer(ordering, page(SEED, A))
    assert offer(ordering, page(A, A)) == {A: 0}  # A was fetched: nothing of its host waits
    assert offer(ordering, page(B, "http://a.example/2")) == {"http://a.example/2": 1}


@pytest.mark.parametrize("cls", BY_LINKS)
def test_a_redirect_hands_its_links_to_its_target(cls: type[LinkBased]) -> None:
    ordering = cls(a_context())
    for fetched in (page(SEED, A, B), page("http://x.example/", A, B)):
        offer(ordering, fetched)
    one = ordering.worth(A)
    ordering.redirected(A, B)
    scores = dict(ordering.revise())
    base = 0.1 if cls is PageRank else 0
    assert scores == {B: pytest.approx(2 * one - base)}
    assert not dict(ordering.revise())


@pytest.mark.parametrize("cls", [BacklinkCount, TransDomainIndegree])
def test_a_link_to_a_redirect_that_is_known_counts_for_its_target(cls: type[LinkBased]) -> None:
    ordering = cls(a_context())
    offer(ordering, page(SEED, A))
    ordering.redirected(A, B)
    assert dict(ordering.revise()) == {B: 1}
    assert offer(ordering, page("http://x.example/", A))[B] == 2
    assert offer(ordering, page("http://y.example/", A, B))[B] == 3, "a page counts once"


@pytest.mark.parametrize("cls", [*BY_LINKS, LargestSiteFirst])
def test_seeds_and_what_they_redirect_to_stay_first(cls: type[LinkBased]) -> None:
    ordering = cls(a_context(seeds=[SEED, A]))
    ordering.redirected(A, B)
    scores = dict(ordering.revise())
    for _ in range(2):
        ordering.observe(page(SEED, A, B, C))
        scores |= dict(ordering.revise())
    assert not {SEED, A, B}.intersection(scores)
    assert ordering.explain(CrawlUrl(A, ordering.seed_score(A))) == {}
    assert ordering.learns


def test_the_one_part_of_a_score() -> None:
    assert BacklinkCount(a_context()).explain(CrawlUrl(A, 12, 1, SEED)) == {"backlinks": 12}


urls = st.builds("http://{}.example/{}".format, st.sampled_from("ab"), st.integers(0, 5))
crawls = st.lists(st.tuples(urls, st.lists(urls, max_size=6)), max_size=12, unique_by=lambda fetched: fetched[0])


def scores_after(ordering: LinkBased, fetched: list[tuple[str, list[str]]]) -> Iterator[dict[str, float]]:
    """After each page, yield the waiting URLs with their scores in a frontier."""
    scores: dict[str, float] = {}
    over = set()
    for url, links in fetched:
        one = page(url, *links)
        over.add(url)
        scores.pop(url, None)
        ordering.observe(one)
        for link in one.links:
            if link.url not in over:
                scores[link.url] = max(ordering.score(one, link), scores.get(link.url, 0.0))
        scores |= {url: score for url, score in ordering.revise() if url in scores}
        yield scores


@settings(max_examples=30)
@pytest.mark.parametrize("cls", BY_LINKS)
@given(crawls)
def test_the_frontier_always_has_what_a_url_is_worth(
    cls: type[LinkBased], fetched: list[tuple[str, list[str]]]
) -> None:
    ordering = cls(a_context())
    for scores in scores_after(ordering, fetched):
        assert scores == {url: pytest.approx(ordering.worth(url), rel=1e-3) for url in scores}


@given(crawls, st.sampled_from([0.0, 0.25, 1.0]))
def test_no_score_of_a_site_is_wrong_by_more_than_the_share(
    fetched: list[tuple[str, list[str]]], growth: float
) -> None:
    for scores in scores_after(LargestSiteFirst(a_context(), growth=growth), fetched):
        sizes = Counter(map(host_of, scores))
        for url, score in scores.items():
            size = sizes[host_of(url)]
            assert size / (1 + growth) - 1e-9 <= score <= size * (1 + growth) + 1e-9
