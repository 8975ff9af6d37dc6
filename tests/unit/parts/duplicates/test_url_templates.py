"""Templates that say nothing new wait, are tried now and then, and recover."""

from __future__ import annotations

import pytest
from crawlproject.parts.duplicates.template_holds import FACTOR, LONGEST_WAIT, TemplateHolds
from support.events import error_event, page_event

from crawlproject.parts.duplicates.url_templates import FIRST_DELAY, UrlTemplates
from crawlproject.records import NOVELTY, CrawlUrl, FetchEvent, Page

A = "http://a.example"
CALENDAR = "a.example/cal/#"


def uninformative(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}", duplicate_of=f"{A}/cal/0"))


def informative(number: int) -> FetchEvent:
    return page_event(Page(f"{A}/cal/{number}"))


def demoted() -> UrlTemplates:
    templates = UrlTemplates()
    for number in range(6):
        templates.apply(uninformative(number))
    return templates


@pytest.mark.parametrize(
    "event",
    [
        uninformative(1),
        page_event(Page(f"{A}/cal/1", signs={NOVELTY: 0.02})),
        error_event(f"{A}/cal/1", "soft_404"),
        error_event(f"{A}/cal/1", "parked"),
    ],
    ids=["copy", "nothing new", "soft 404", "parked"],
)
def test_a_template_whose_pages_say_nothing_is_demoted(event):
    templates = UrlTemplates()
    for _ in range(2):
        templates.learn(event)
    assert templates.demoted(f"{A}/cal/77") is None
    templates.learn(event)
    assert templates.demoted(f"{A}/cal/77") == CALENDAR
    assert TemplateHolds(templates).adjusted_score(f"{A}/cal/77", 0.5) == 0.5 * FACTOR
    assert TemplateHolds(templates).adjusted_score(f"{A}/cal/77", -0.5) < -0.5
    assert TemplateHolds(templates).adjusted_score(f"{A}/reef", 0.5) == 0.5


def test_walls_and_failures_say_nothing_about_a_template():
    templates = UrlTemplates()
    for number in range(20):
        templates.apply(error_event(f"{A}/cal/{number}", "block/captcha"))
        templates.apply(error_event(f"{A}/cal/{number}", "http 404"))
    assert templates.demoted(f"{A}/cal/1") is None


def test_mixed_pages_do_not_demote():
    templates = UrlTemplates()
    for number in range(60):
        templates.apply(uninformative(number) if number % 2 else informative(number))
        assert templates.demoted(f"{A}/cal/1") is None
    assert templates.demoted(f"{A}/cal/1") is None


def test_names_of_words_are_demoted_with_their_folder():
    templates = UrlTemplates()
    for name in ("reef", "fish", "kelp", "crab", "tide", "sand", "wave", "foam", "gull", "salt", "sun", "sky", "dune"):
        templates.apply(error_event(f"{A}/gone/{name}", "soft_404"))
    assert templates.demoted(f"{A}/gone/shell")
    assert templates.demoted(f"{A}/kept/shell") == f"{A[7:]}/**"
    templates.learn(page_event(Page(f"{A}/kept/one")))
    templates.learn(page_event(Page(f"{A}/kept/two")))
    assert templates.demoted(f"{A}/kept/shell") is None


def test_a_path_that_grows_is_demoted_with_all_below_its_first_segment():
    templates = UrlTemplates()
    path = f"{A}/grow"
    for depth in range(14):
        path += f"/{'abcdefghijklmn'[depth]}"
        templates.learn(page_event(Page(path, duplicate_of=f"{A}/grow/a")))
    assert templates.demoted(f"{path}/x")


def test_urls_of_a_demoted_template_wait_one_behind_the_other():
    holds = TemplateHolds(demoted())
    turns = [holds.hold_until(CrawlUrl(f"{A}/cal/{number}", 1.0), 1000.0) for number in range(100, 103)]
    gap = turns[1] - turns[0]
    assert gap >= FIRST_DELAY
    assert turns == [1000.0 + gap * place for place in (1, 2, 3)]
    assert holds.hold_until(CrawlUrl(f"{A}/cal/100", 1.0, not_before=turns[0]), turns[0]) == turns[0]
    assert holds.hold_until(CrawlUrl(f"{A}/reef", 1.0), 1000.0) == 1000.0


def test_nobody_waits_longer_than_a_day():
    holds = TemplateHolds(demoted())
    assert max(holds.hold_until(CrawlUrl(f"{A}/cal/{n}", 1.0), 0.0) for n in range(5000)) == LONGEST_WAIT


def test_each_uninformative_page_makes_the_delay_longer_and_an_informative_one_short_again():
    templates = demoted()
    first = templates.delay(CALENDAR)
    templates.apply(uninformative(7))
    assert templates.delay(CALENDAR) == 2 * first
    templates.apply(informative(8))
    assert templates.delay(CALENDAR) == FIRST_DELAY


def test_a_template_recovers():
    templates = demoted()
    for number in range(10):
        templates.apply(informative(number))
    assert templates.demoted(f"{A}/cal/1") is None


def test_a_released_url_may_go():
    holds = TemplateHolds(demoted())
    holds.release(f"{A}/cal/5")
    assert holds.hold_until(CrawlUrl(f"{A}/cal/5", 1.0), 7.0) == 7.0
    assert holds.hold_until(CrawlUrl(f"{A}/cal/6", 1.0), 7.0) > 7.0


def test_what_is_known_is_limited():
    templates = UrlTemplates(most=10)
    for host in range(20):
        for number in range(8):
            templates.apply(
                page_event(Page(f"http://{host}.example/cal/{number}", duplicate_of=f"http://{host}.example/cal/0"))
            )
    assert templates.demoted("http://0.example/cal/1") is None
    assert templates.demoted("http://19.example/cal/1") is not None
