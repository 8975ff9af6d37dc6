"""Rules are confirmed by enough evidence, then hold back spellings, and are revoked by counter-evidence."""

from __future__ import annotations

import pytest
from support.events import error_event, page_event

from crawlproject.parts.duplicates.url_rule import UrlRule
from crawlproject.parts.duplicates.url_rule_learner import AUDITED, UrlRuleLearner, is_certain
from crawlproject.records import Page

A = "http://a.example"
SID = UrlRule("a.example", "param", "sid")


class Crawled:
    """A learner and the URLs that were fetched."""

    def __init__(self) -> None:
        self.urls: set[str] = set()
        self.learner = UrlRuleLearner(self.urls.__contains__)
        self.changes: list[tuple[str, bool]] = []
        self.learner.changed = lambda found: self.changes.append((str(found.rule), found.confirmed))

    def fetch(self, url: str, first: str = "", error: str = "") -> None:
        self.urls.add(url)
        self.learner.learn(error_event(url, error) if error else page_event(Page(url, duplicate_of=first)))

    def sessions(self, pages: range, sessions: int = 2) -> None:
        """Fetch these pages, each under several session IDs."""
        for page in pages:
            for session in range(sessions):
                url = f"{A}/{page}?sid={10 * page + session}"
                self.fetch(url, f"{A}/{page}?sid={10 * page}" if session else "")


def test_a_parameter_is_confirmed_after_five_pages_of_their_own():
    crawl = Crawled()
    crawl.sessions(range(4))
    assert crawl.changes == []
    assert crawl.learner.variants.normalized(f"{A}/3?sid=99") == f"{A}/3?sid=99"
    crawl.sessions(range(4, 5))
    assert crawl.changes == [(str(SID), True)]
    assert crawl.learner.variants.normalized(f"{A}/3?sid=99") == f"{A}/3?sid=30"


def test_a_name_that_stands_for_another_is_learned_from_five_pairs():
    """Paper 004 section 6.1: DUST learns substitutions."""
    crawl = Crawled()
    for number in range(5):
        crawl.fetch(f"{A}/art/{number}")
        crawl.fetch(f"{A}/print/{number}", f"{A}/art/{number}")
    assert crawl.changes == [("a.example replace /print/ /art/", True)]
    assert crawl.learner.variants.normalized(f"{A}/print/3") == f"{A}/art/3"
    assert crawl.learner.variants.normalized(f"{A}/print/77") == f"{A}/print/77", "its article is not known"
    assert crawl.learner.variants.normalized(f"{A}/art/77") == f"{A}/print/77"
    assert crawl.learner.variants.normalized(f"{A}/blueprint/3") == f"{A}/blueprint/3"


@pytest.mark.parametrize(
    ("kept", "copy", "rule"),
    [("/story_{}", "/story?id={}", "/story?id= /story_"), ("/v1-item{}.html", "/v2-item{}.html", "/v2- /v1-")],
)
def test_the_substitutions_of_dust_are_learned_from_five_pairs(kept, copy, rule):
    """Bar-Yossef, Keidar and Schonfeld 2007, section 1. Wilson's bound of five is 5 / (5 + 2.706) = 0.65, of four 0.596."""
    crawl = Crawled()
    for number in range(5):
        crawl.fetch(A + kept.format(number))
        crawl.fetch(A + copy.format(number), A + kept.format(number))
        assert bool(crawl.changes) == (number == 4)
    assert crawl.changes == [(f"a.example replace {rule}", True)]
    crawl.urls.add(A + kept.format(77))
    for number in (3, 77):
        assert crawl.learner.variants.normalized(A + copy.format(number)) == A + kept.format(number)


def test_a_session_in_the_path_is_learned_as_a_pattern_and_a_number_that_matters_is_not():
    crawl = Crawled()
    for page in range(5):
        for session in ("s-1a", "s-2b", "s-3c")[: 3 if page == 4 else 2]:
            assert crawl.changes == []
            crawl.fetch(f"{A}/{session}/p{page}x", "" if session == "s-1a" else f"{A}/s-1a/p{page}x")
    assert crawl.changes == [("a.example pattern s-{x}", True)]
    assert crawl.learner.variants.normalized(f"{A}/s-9f/p3x") == f"{A}/s-1a/p3x"
    crawl = Crawled()
    for volume in range(30):  # some issues are empty
        crawl.fetch(f"{A}/{volume}/index", f"{A}/{volume - 1}/index" if volume % 3 == 1 else "")
    assert crawl.changes == []


def test_the_first_of_its_kind_represents_the_others():
    crawl = Crawled()
    crawl.sessions(range(5))
    assert crawl.learner.variants.normalized(f"{A}/new?sid=1") == f"{A}/new?sid=1"
    assert crawl.learner.variants.normalized(f"{A}/new?sid=2") == f"{A}/new?sid=1"
    crawl.fetch(f"{A}/new?sid=1", error="http 404")
    assert crawl.learner.variants.normalized(f"{A}/new?sid=2") == f"{A}/new?sid=2"


def test_one_text_behind_all_addresses_is_one_pair():
    crawl = Crawled()
    for number in range(40):
        crawl.fetch(f"{A}/{number}?sid={number}", f"{A}/0?sid=0" if number else "")
        crawl.fetch(f"{A}/{number}?sid=x{number}", f"{A}/0?sid=0")
    assert crawl.changes == []


def test_a_page_number_that_matters_now_and_then_is_never_confirmed():
    crawl = Crawled()
    for listing in range(12):
        for page in range(1, 4):
            crawl.fetch(f"{A}/{listing}?sid={page}")
        crawl.fetch(f"{A}/{listing}?sid=4", f"{A}/{listing}?sid=3")  # beyond the end
    assert crawl.changes == []


def test_a_parameter_needs_three_values():
    crawl = Crawled()
    for page in range(9):
        crawl.fetch(f"{A}/{page}")
        crawl.fetch(f"{A}/{page}?sid=1", f"{A}/{page}")
    assert crawl.changes == []
    crawl.fetch(f"{A}/1?sid=2", f"{A}/1")
    assert crawl.changes == [(str(SID), True)]


def test_walls_teach_nothing():
    crawl = Crawled()
    for page in range(9):
        crawl.fetch(f"{A}/{page}?sid=1", error="block/captcha")
        crawl.fetch(f"{A}/{page}?sid=2", f"{A}/{page}?sid=1", error="block/captcha")
    assert list(crawl.learner.evidence()) == []


def test_one_of_many_goes_through_and_may_refute_the_rule():
    crawl = Crawled()
    crawl.sessions(range(5))
    asked = [crawl.learner.variants.normalized(f"{A}/3?sid={number}") for number in range(1000, 1000 + 2 * AUDITED)]
    assert sum(url != f"{A}/3?sid=30" for url in asked) == 2
    for page in range(5):
        crawl.fetch(f"{A}/{page}?sid=2000")  # the text has changed
    assert crawl.changes[-1] == (str(SID), False)
    assert crawl.learner.variants.normalized(f"{A}/3?sid=5") == f"{A}/3?sid=5"


def test_a_rule_refuses_only_when_it_is_certain_and_says_who_comes_last_before():
    assert is_certain((268.0, 0.0)) and not is_certain((267.0, 0.0)) and not is_certain((400.0, 1.0))
    crawl = Crawled()
    crawl.sessions(range(6), sessions=45)
    variants = crawl.learner.variants
    assert variants.normalized(f"{A}/3?sid=999") == f"{A}/3?sid=30"
    assert variants.replaced(f"{A}/3?sid=999") == f"{A}/3?sid=999", "264 copies"
    crawl.sessions(range(6, 7), sessions=45)
    assert variants.replaced(f"{A}/3?sid=999") == f"{A}/3?sid=30"
    assert crawl.changes == [(str(SID), True)] * 2
    assert crawl.learner.withdrawn == 0


def test_an_uncertain_rule_beside_a_certain_one_does_not_refuse():
    crawl = Crawled()
    crawl.learner.add_confirmed(SID, (5.0, 0.0))
    for number in range(5):
        crawl.fetch(f"{A}/art/{number}")
        crawl.fetch(f"{A}/print/{number}", f"{A}/art/{number}")
    variants = crawl.learner.variants
    assert variants.replaced(f"{A}/art/3?sid=1") == f"{A}/art/3", "a person has named its crawl"
    assert variants.normalized(f"{A}/print/3?sid=1") == f"{A}/art/3"
    assert variants.replaced(f"{A}/print/3?sid=1") == f"{A}/print/3?sid=1"


def test_a_mirror_gives_way_host_by_host():
    crawl = Crawled()
    for page in range(5):
        crawl.fetch(f"{A}/{page}")
        crawl.fetch(f"http://b.example/{page}", f"{A}/{page}")
    assert crawl.changes == [("b.example mirror a.example", True)]
    crawl.fetch(f"{A}/else")
    assert crawl.learner.variants.normalized("http://b.example/else") == f"{A}/else"
    assert crawl.learner.variants.normalized(f"{A}/more") == f"{A}/more"


def test_a_url_that_no_rule_changes_is_replaced_by_certain_rules_only():
    crawl = Crawled()
    crawl.learner.add_confirmed(UrlRule("a.example", "slash"), (300.0, 0.0))
    crawl.sessions(range(5))
    assert crawl.learner.variants.normalized(f"{A}/3") == f"{A}/3?sid=30"
    assert crawl.learner.variants.replaced(f"{A}/3") == f"{A}/3", "five pairs only say who comes last"
    assert crawl.learner.variants.replaced(f"{A}/4/") == f"{A}/4/"


def test_mirrors_found_in_either_order_are_one_rule():
    crawl, mirror = Crawled(), "http://b.example"
    for page in range(10):
        first, other = (A, mirror) if page % 2 else (mirror, A)
        crawl.fetch(f"{first}/{page}")
        crawl.fetch(f"{other}/{page}", f"{first}/{page}")
    assert crawl.changes == [("b.example mirror a.example", True)]
    crawl.fetch(f"{A}/else")
    assert crawl.learner.variants.normalized(f"{mirror}/else") == f"{A}/else"


def test_several_mirrors_are_taken_together():
    crawl, hosts = Crawled(), [f"http://www{number}.example" for number in range(5)]
    for page in range(50):
        first, *others = hosts[page % 5 :] + hosts[: page % 5]
        crawl.fetch(f"{first}/{page}")
        for other in others:
            crawl.fetch(f"{other}/{page}", f"{first}/{page}")
    crawl.fetch(f"{hosts[3]}/else")
    assert {crawl.learner.variants.normalized(f"{host}/else") for host in hosts} == {f"{hosts[3]}/else"}
    for rule in (
        "www9.example mirror www7.example",
        "www9.example mirror www8.example",
        "www7.example mirror www6.example",
    ):
        crawl.learner.add_confirmed(UrlRule.spelled(rule), (9.0, 0.0))
    crawl.fetch("http://www6.example/new")
    assert crawl.learner.variants.normalized("http://www9.example/new") == "http://www6.example/new"


def test_rules_of_a_host_are_taken_together():
    crawl = Crawled()
    for rule in (SID, UrlRule("a.example", "slash"), UrlRule("b.example", "mirror", "a.example")):
        crawl.learner.add_confirmed(rule, (9.0, 0.0))
    assert crawl.learner.variants.normalized(f"{A}/x?sid=1") == f"{A}/x?sid=1"
    assert crawl.learner.variants.normalized("http://b.example/x/?sid=2") == f"{A}/x?sid=1"


def test_a_rule_can_be_switched_off_and_on():
    crawl = Crawled()
    crawl.learner.add_confirmed(SID, (9.0, 0.0))
    crawl.learner.variants.normalized(f"{A}/x?sid=1")
    crawl.learner.switch(SID, off=True)
    assert crawl.learner.variants.normalized(f"{A}/x?sid=2") == f"{A}/x?sid=2"
    crawl.learner.switch(SID, off=False)
    assert crawl.learner.variants.normalized(f"{A}/x?sid=2") == f"{A}/x?sid=1"


def test_a_given_rule_is_withdrawn_when_this_crawl_sees_otherwise():
    crawl = Crawled()
    crawl.learner.add_confirmed(SID, (5.0, 0.0))
    for number in range(6):
        crawl.fetch(f"{A}/x?sid={number}")
    assert crawl.changes == [(str(SID), False)]
    assert crawl.learner.withdrawn == 1


def test_answers_to_post_teach_nothing():
    crawl = Crawled()
    for page in range(8):
        crawl.fetch(f"{A}/{page}#POST?sid={page}1")
        crawl.fetch(f"{A}/{page}#POST?sid={page}2", f"{A}/{page}#POST?sid={page}1")
        crawl.fetch(f"{A}/{page}?sid={page}", f"{A}/{page}#POST?sid={page}1")
    assert crawl.changes == [] and list(crawl.learner.evidence()) == []
