"""The focused crawler on hand-made examples."""

from __future__ import annotations

import pytest
from support.pages import DictArchive, a_context, a_link, a_page, a_text_page

from crawlproject.errors import BadSetting
from crawlproject.orderings.focused import Focused
from crawlproject.orderings.taxonomy import bad_pages, drawn_pages, good_pages, taxonomy_of
from crawlproject.records import CrawlUrl, Page

REEF = a_text_page("http://reef.example/", "coral atoll lagoon", "http://x.example/")
RAIL = a_text_page("http://rail.example/", "steam boiler engine", "http://y.example/")
EXAMPLES = {"positive": [REEF], "negative": [RAIL]}


def focused(**parameters: object) -> Focused:
    return Focused(a_context(**EXAMPLES), **parameters)


def seen(ordering: Focused, page: Page) -> list[float | None]:
    ordering.observe(page)
    return [ordering.score(page, link) for link in page.links]


def test_links_are_worth_what_the_classifier_says_of_their_page() -> None:
    """Both classes have one document of three words, so a page of unknown words is as likely in either: R = 0.5."""
    ordering = focused()
    [on] = seen(ordering, REEF)
    [off] = seen(ordering, RAIL)
    [unknown] = seen(ordering, a_text_page("http://u.example/", "bread", "http://z.example/"))
    assert on is not None and off is not None
    assert on > 0.99 and off < 0.01 and unknown == pytest.approx(0.5)
    assert on + off == pytest.approx(1.0)


def test_a_hard_focus_does_not_follow_links_of_bad_pages() -> None:
    ordering = focused(focus="hard")
    assert seen(ordering, RAIL) == [None]
    assert seen(ordering, REEF) != [None]
    with pytest.raises(BadSetting, match="ORDERING_FOCUS: expected soft, hard, parents; not 'firm'"):
        focused(focus="firm")


def test_links_of_pages_about_a_parent_topic_are_followed() -> None:
    """004 section 4.2.1: "if the user indicated an interest in bicycling, [it] follows links from pages about sports"."""
    sports = {"positive": [a_text_page("file:///e/sports/bicycling/1.html", "bicycle")]}
    others = {"sports/1": "league", "sports/tennis/1": "racket", "cooking/1": "bread", "2": "weather"}
    sports["negative"] = [a_text_page(f"file:///e/{name}.html", text) for name, text in others.items()]
    followed = {}
    for focus in ("soft", "hard", "parents"):
        ordering = Focused(a_context(**sports), focus=focus)
        pages = {text: a_text_page(f"http://{text}.example/", text, "http://z.example/") for text in others.values()}
        pages["bicycle"] = a_text_page("http://b.example/", "bicycle", "http://z.example/")
        followed[focus] = {text for text, page in pages.items() if seen(ordering, page) != [None]}
    assert followed["hard"] == {"bicycle"}
    assert followed["parents"] == {"bicycle", "league"}, "not another sport, and not the root"
    assert followed["soft"] == {"bicycle", *others.values()}


def test_the_score_of_a_url_is_that_of_its_best_page() -> None:
    ordering = focused()
    link = "http://x.example/"
    [high] = seen(ordering, REEF)
    [again] = seen(ordering, a_text_page("http://other.example/", "steam", link))
    assert again == high


def test_waiting_links_of_hubs_are_raised() -> None:
    """The hub itself has little text, so its links wait with R = 0.5 until the distiller has seen their targets."""
    ordering = focused(distill_every=3)
    others = ["http://x.example/1", "http://y.example/1", "http://new.example/"]
    hub = a_text_page("http://hub.example/", "bread", *others)
    assert seen(ordering, hub) == pytest.approx([0.5, 0.5, 0.5])
    ordering.observe(a_text_page(others[0], "coral atoll"))
    assert list(ordering.revise()) == []
    ordering.observe(a_text_page(others[1], "lagoon"))
    assert list(ordering.revise()) == [("http://new.example/", 1.0)]
    assert list(ordering.revise()) == []
    waiting = CrawlUrl("http://new.example/", 1.0, parent=hub.url)
    assert ordering.explain(waiting) == pytest.approx({"page": 0.5, "hub": 0.5})


def test_folders_are_classes_and_folders_in_them_classes_below() -> None:
    positive = [a_text_page("file:///e/sea/reef/1.html", "coral"), a_text_page("http://reef.example/", "reef")]
    off = {"sea/fish/1": "herring", "sea/2": "boat", "b/1": "bread"}
    negative = [a_text_page(f"file:///e/{name}.html", text) for name, text in off.items()]
    taxonomy = taxonomy_of(a_context(positive=positive, negative=negative), 10)
    assert taxonomy.leaves == (
        ("(web)/", "good"),
        ("b/", "other"),
        ("sea/", "fish/", "other"),
        ("sea/", "other"),
        ("sea/", "reef/", "good"),
    )


def archive() -> DictArchive:
    """40 pages of rising relevance, and a redirect to the best one."""
    pages = [
        a_text_page(f"http://p.example/{number:02}", f"word{number}", relevance=number / 40) for number in range(40)
    ]
    return DictArchive(*pages, redirects={"http://seed.example/": "http://p.example/00"})


def test_without_examples_the_archive_gives_them() -> None:
    """Good examples are the seed's page, reached by its redirect, and the best 2 of 40; bad ones are the worse half."""
    context = a_context(archive=archive())
    drawn = drawn_pages(context, 100)
    assert len(drawn) == 40
    assert [page.url[-2:] for page in good_pages(context, drawn)] == ["00", "39", "38"]
    assert sorted(page.url[-2:] for page in bad_pages(context, drawn)) == [f"{number:02}" for number in range(20)]
    assert len(drawn_pages(a_context(archive=archive()), 7)) == 7


def test_examples_of_the_topic_come_first() -> None:
    context = a_context(archive=archive(), **EXAMPLES)
    assert list(good_pages(context, ())) == [REEF] and list(bad_pages(context, ())) == [RAIL]


@pytest.mark.parametrize(("given", "missing"), [("positive", "negative"), ("negative", "positive")])
def test_what_is_missing_is_reported(given: str, missing: str) -> None:
    with pytest.raises(BadSetting, match=rf"no {missing} examples: .*examples\.{missing}.*ORDERING_ARCHIVE"):
        Focused(a_context(**{given: EXAMPLES[given]}))


def test_a_redirect_takes_the_place_of_its_source() -> None:
    ordering = focused(distill_every=1)
    ordering.score(REEF, a_link("http://old.example/"))
    ordering.redirected("http://old.example/", "http://new.example/")
    assert ordering.score(RAIL, a_link("http://new.example/")) == ordering.score(REEF, a_link("http://other.example/"))
    ordering.failed("http://new.example/")
    assert ordering.score(RAIL, a_link("http://new.example/")) == ordering.score(
        RAIL, a_page(links=[a_link()]).links[0]
    )
