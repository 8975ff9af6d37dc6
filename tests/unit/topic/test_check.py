"""The weaknesses of a topic."""

from __future__ import annotations

from collections import Counter

from crawlproject.configuration import read_options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import UNFOLLOWED, Link, Page, Span, Topic, Visit
from crawlproject.topic.check import NO_SUCH_HOST, SeedPreview, weak_as_fetched, weak_as_written

ANALYZER = Analyzer("en")
OPTIONS = read_options({"CRAWL_MAX_PAGES": 100})
SEEDS = tuple(f"http://{host}.example/" for host in "abc")


def topic(*keywords: str, seeds: tuple[str, ...] = SEEDS, **fields: object) -> Topic:
    return Topic("reef", keywords or ("coral reef",), seeds, **fields)  # type: ignore[arg-type]


def written(asked: Topic, **settings: object) -> list[tuple[str, str]]:
    options = read_options({"CRAWL_MAX_PAGES": 100, **settings})
    return [(weak.grade, weak.subject) for weak in weak_as_written(asked, options, ANALYZER)]


def probed(url: str, text: str = "coral reef", relevance: float = 0.5, links: int = 1, **fields: str) -> SeedPreview:
    terms = ANALYZER.terms(text)
    link = Link("http://z.example/", "z", Span(0, 0), Span(0, 0))
    page = Page(url, terms=terms, counts=Counter(terms), relevance=relevance, links=(link,) * links, **fields)  # type: ignore[arg-type]
    return SeedPreview(url, Visit(url, 200, 1.0, md5="x"), "", url, page)


def fetched(asked: Topic, seeds: list[SeedPreview], sample: list[SeedPreview] | None = None) -> list[tuple[str, str]]:
    return [(weak.grade, weak.subject) for weak in weak_as_fetched(asked, OPTIONS, ANALYZER, seeds, sample or [])]


def test_a_good_topic_has_no_weakness() -> None:
    assert written(topic()) == []
    sample = [probed(f"http://d.example/{n}", "other things" if n % 2 else "coral reef", n % 2) for n in range(12)]
    assert fetched(topic(), [probed(seed) for seed in SEEDS], sample) == []


def test_keywords_that_say_nothing() -> None:
    assert written(topic("the", "coral reef")) == [("warning", "keywords")]
    assert written(topic("reefs of coral", "reef corals")) == [("hint", "keywords")]
    assert written(topic("coral")) == [("warning", "keywords")]
    assert written(topic("the", "and")) == [("warning", "keywords")] * 2 + [("problem", "keywords")]


def test_seeds_that_are_too_few_or_all_in_one_place() -> None:
    assert written(topic(seeds=SEEDS[:2])) == [("warning", "seeds")]
    assert written(topic(seeds=tuple(f"http://a.example/{n}" for n in range(4)))) == [("warning", "seeds")]


def test_targets_that_are_seeds_and_a_crawl_without_end() -> None:
    assert written(topic(targets=(SEEDS[0], "http://t.example/"))) == [("hint", "targets")]
    assert written(topic(), CRAWL_MAX_PAGES=0) == [("hint", "CRAWL_MAX_PAGES")]
    assert written(topic(), CRAWL_MAX_PAGES=0, CRAWL_MIN_HARVEST=0.1) == []


def test_seeds_that_are_no_pages() -> None:
    dead = SeedPreview(SEEDS[0], Visit(SEEDS[0], 404, 1.0, error="http 404"))
    barred, late = SeedPreview(SEEDS[1], refusal="robots/forbidden"), SeedPreview(SEEDS[2])
    assert fetched(topic(), [dead, barred, late]) == [*(("warning", seed) for seed in SEEDS), ("problem", "seeds")]
    assert fetched(topic(), [dead, probed(SEEDS[1])]) == [("warning", SEEDS[0])]


def test_why_a_seed_is_no_page_is_said_in_words() -> None:
    silent = Visit(SEEDS[0], 0, 1.0, error="CannotResolveHostError")
    barred = SeedPreview(SEEDS[1], refusal="robots/forbidden", why="robots.txt forbids it")
    seeds = [SeedPreview(SEEDS[0], silent, why="the name of the host has no address"), barred]
    said = [weak.what for weak in weak_as_fetched(topic(), OPTIONS, ANALYZER, seeds, [])]
    assert said[0] == "is not a page: the name of the host has no address (CannotResolveHostError)"
    assert said[1] == "is refused: robots.txt forbids it (robots/forbidden)"


def test_without_a_network_the_spelling_of_seeds_is_not_blamed() -> None:
    unknown = [SeedPreview(seed, refusal=NO_SUCH_HOST) for seed in SEEDS]
    [weak] = weak_as_fetched(topic(), OPTIONS, ANALYZER, unknown, [])
    assert (weak.grade, weak.subject) == ("problem", "seeds") and "network" in weak.advice
    assert fetched(topic(), [unknown[0], probed(SEEDS[1])]) == [("warning", SEEDS[0])]


def test_seeds_off_the_topic_in_another_language_or_without_links() -> None:
    good = probed(SEEDS[0])
    assert fetched(topic(), [good, probed(SEEDS[1], relevance=0.01)]) == [("warning", SEEDS[1])]
    assert fetched(topic(), [good, probed(SEEDS[1], language="de-AT")]) == [("warning", SEEDS[1])]
    assert fetched(topic(), [good, probed(SEEDS[1], language="EN_us")]) == []
    assert fetched(topic(), [good, probed(SEEDS[1], links=0)]) == [("hint", SEEDS[1])]
    assert fetched(topic(), [probed(SEEDS[0], links=0)]) == [("hint", SEEDS[0]), ("problem", "seeds")]


def test_a_seed_that_leads_elsewhere() -> None:
    page = probed("http://new.example/").page
    moved = SeedPreview(SEEDS[0], Visit("http://new.example/", 200, 1.0, md5="x"), "", "http://new.example/", page)
    assert fetched(topic(), [moved]) == [("hint", SEEDS[0])]


def test_keywords_that_match_nothing_or_everything() -> None:
    seeds = [probed(seed) for seed in SEEDS]
    assert fetched(topic("coral reef", "zyzzy"), seeds) == [("hint", "keywords")], "it may be on others"
    many = [probed(f"http://d.example/{n}", "coral reef", 0.0) for n in range(30)]
    assert ("warning", "keywords") in fetched(topic("coral reef", "zyzzy"), seeds, many)
    everywhere = [probed(f"http://d.example/{n}", "page of a coral reef" if n < 3 else "page", 0.0) for n in range(12)]
    assert fetched(topic("coral reef", "page"), seeds, everywhere) == [("warning", "keywords")]
    assert fetched(topic("coral reef", "page"), seeds, everywhere[:9]) == [], "too few to decide"


def test_a_threshold_that_is_too_low() -> None:
    sample = [probed(f"http://d.example/{n}", "reef" if n else "coral reef", 0.3) for n in range(12)]
    assert fetched(topic(), [probed(seed) for seed in SEEDS], sample) == [("hint", "PAGE_RELEVANT")]


def test_pages_that_need_a_browser_are_named_as_such() -> None:
    unread = SeedPreview(SEEDS[0], Visit(SEEDS[0], 200, 1.0, error="needs_browser"), "", SEEDS[0])
    found = list(weak_as_fetched(topic(), OPTIONS, ANALYZER, [unread, probed(SEEDS[1])], []))
    assert [(weak.grade, weak.subject) for weak in found] == [("warning", SEEDS[0]), ("hint", "scripts")]
    assert "needs a browser" in found[0].what and "off the topic" not in found[0].what


def test_a_seed_that_asks_that_nothing_is_followed_is_named() -> None:
    seeds = [probed(SEEDS[0], links=0, signs={UNFOLLOWED: 27.0}), *map(probed, SEEDS[1:])]  # type: ignore[arg-type]
    (weak,) = weak_as_fetched(topic(), OPTIONS, ANALYZER, seeds, [])
    assert (weak.grade, weak.subject) == ("warning", SEEDS[0]) and "27 links" in weak.what
