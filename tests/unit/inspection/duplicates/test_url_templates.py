"""Templates that say nothing new wait, are tried now and then, and recover."""

from __future__ import annotations

import pytest
from support.events import error_event, page_event

from crawlproject.inspection.duplicates.url_templates import FACTOR, FARTHEST, FIRST_DELAY, UrlTemplates
from crawlproject.records import NOVELTY, CrawlUrl, FetchEvent, Page

A = "http://a.example"


def barren(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}", duplicate_of=f"{A}/cal/0"))


def fruitful(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}"))


def demoted() -> UrlTemplates:
    standing = UrlTemplates()
    for number in range(6):
        standing.apply(barren(number))
    return standing


@pytest.mark.parametrize(
    "event",
    [
        barren(1),
        page_event(Page(f"{A}/cal/1", signs={NOVELTY: 0.02})),
        error_event(f"{A}/cal/1", "soft_404"),
        error_event(f"{A}/cal/1", "parked"),
    ],
    ids=["copy", "nothing new", "soft 404", "parked"],
)
def test_a_template_whose_pages_say_nothing_is_demoted(event):
    standing = UrlTemplates()
    for _ in range(2):
        standing.apply(event)
    assert standing.demoted(f"{A}/cal/77") is None
    standing.apply(event)
    assert standing.demoted(f"{A}/cal/77") == "a.example/cal/#"
    assert standing.adjusted_score(f"{A}/cal/77", 0.5) == 0.5 * FACTOR
    assert standing.adjusted_score(f"{A}/cal/77", -0.5) < -0.5
    assert standing.adjusted_score(f"{A}/reef", 0.5) == 0.5


def test_walls_and_failures_say_nothing_about_a_template():
    standing = UrlTemplates()
    for number in range(20):
        standing.apply(error_event(f"{A}/cal/{number}", "block/captcha"))
        standing.apply(error_event(f"{A}/cal/{number}", "http 404"))
    assert standing.demoted(f"{A}/cal/1") is None


def test_mixed_pages_do_not_demote():
    standing = UrlTemplates()
    for number in range(60):
        standing.apply(barren(number) if number % 2 else fruitful(number))
        assert standing.demoted(f"{A}/cal/1") is None
    assert standing.demoted(f"{A}/cal/1") is None


def test_names_of_words_are_demoted_with_their_folder():
    standing = UrlTemplates()
    for name in ("reef", "fish", "kelp", "crab", "tide", "sand", "wave", "foam", "gull", "salt", "sun", "sky", "dune"):
        standing.apply(error_event(f"{A}/gone/{name}", "soft_404"))
    assert standing.demoted(f"{A}/gone/shell")
    assert standing.demoted(f"{A}/kept/shell") == f"{A[7:]}/**"
    standing.apply(page_event(Page(f"{A}/kept/one")))
    standing.apply(page_event(Page(f"{A}/kept/two")))
    assert standing.demoted(f"{A}/kept/shell") is None


def test_a_path_that_grows_is_demoted_with_all_below_its_first_segment():
    standing = UrlTemplates()
    path = f"{A}/grow"
    for depth in range(14):
        path += f"/{'abcdefghijklmn'[depth]}"
        standing.apply(page_event(Page(path, duplicate_of=f"{A}/grow/a")))
    assert standing.demoted(f"{path}/x")


def test_urls_of_a_demoted_template_wait_one_behind_the_other():
    standing = demoted()
    turns = [standing.hold_until(CrawlUrl(f"{A}/cal/{number}", 1.0), 1000.0) for number in range(100, 103)]
    gap = turns[1] - turns[0]
    assert gap >= FIRST_DELAY
    assert turns == [1000.0 + gap * place for place in (1, 2, 3)]
    assert standing.hold_until(CrawlUrl(f"{A}/cal/100", 1.0, not_before=turns[0]), turns[0]) == turns[0]
    assert standing.hold_until(CrawlUrl(f"{A}/reef", 1.0), 1000.0) == 1000.0


def test_nobody_waits_longer_than_a_day():
    standing = demoted()
    assert max(standing.hold_until(CrawlUrl(f"{A}/cal/{n}", 1.0), 0.0) for n in range(5000)) == FARTHEST


def test_each_barren_page_makes_the_delay_longer_and_a_fruitful_one_short_again():
    standing = demoted()

    def delay() -> float:
        return next(template.delay for name, template in standing.list_demoted() if name == "a.example/cal/#")

    first = delay()
    standing.apply(barren(7))
    assert delay() == 2 * first
    standing.apply(fruitful(8))
    assert delay() == FIRST_DELAY


def test_a_template_recovers():
    standing = demoted()
    for number in range(10):
        standing.apply(fruitful(number))
    assert standing.demoted(f"{A}/cal/1") is None
    assert list(standing.list_demoted()) == []


def test_a_released_url_may_go():
    standing = demoted()
    standing.release(f"{A}/cal/5")
    assert standing.hold_until(CrawlUrl(f"{A}/cal/5", 1.0), 7.0) == 7.0
    assert standing.hold_until(CrawlUrl(f"{A}/cal/6", 1.0), 7.0) > 7.0


def test_what_is_known_is_limited():
    standing = UrlTemplates(most=10)
    for host in range(20):
        for number in range(8):
            standing.apply(
                page_event(Page(f"http://{host}.example/cal/{number}", duplicate_of=f"http://{host}.example/cal/0"))
            )
    assert standing.demoted("http://0.example/cal/1") is None
    assert standing.demoted("http://19.example/cal/1") is not None
