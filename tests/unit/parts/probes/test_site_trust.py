"""The trust in a site, and its consequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.events import page_event

from crawlproject.parts.probes.site_trust import CLOSELY, REMEMBERED, SiteTrust
from crawlproject.parts.sites.part import SiteTurns
from crawlproject.parts.sites.site_budgets import SiteBudgets
from crawlproject.records import ACTIVE, WASTE, Page

URL = "http://www.spam.example/page"
SIBLING = "http://sub.spam.example/"


def judged(*cloaked: bool) -> SiteTrust:
    trust = SiteTrust()
    for each in cloaked:
        trust.add(URL, cloaked=each)
    return trust


def test_findings_make_doubts_and_honest_pages_take_them_away() -> None:
    assert judged().distrust(URL) == 0.0
    assert judged(True).distrust(URL) == judged(True).distrust(SIBLING) == 0.5
    assert judged(True, True).distrust(URL) == pytest.approx(2 / 3)
    assert judged(True, False, False).distrust(URL) == pytest.approx(1 / 4)
    recovered = judged(True, *[False] * REMEMBERED)
    assert recovered.distrust(URL) == 0.0
    assert judged(True).distrust("http://other.example/") == 0.0


@given(st.lists(st.booleans(), max_size=30))
def test_an_honest_page_never_adds_to_the_doubt(probes: list[bool]) -> None:
    trust = judged(*probes)
    before = trust.distrust(URL)
    assert 0.0 <= before < 1.0
    trust.add(URL, cloaked=False)
    assert trust.distrust(URL) <= before
    assert bool(before) == any(probes[-REMEMBERED:])


def test_a_doubted_site_is_looked_at_closely_until_it_is_known() -> None:
    assert not judged(False).probes_all_of(URL)
    assert judged(True).probes_all_of(SIBLING)
    assert not judged(*[True] * CLOSELY).probes_all_of(URL)


def test_a_false_alarm_is_cleared_by_the_next_pages() -> None:
    trust, probes = judged(True), 1
    while trust.probes_all_of(URL):
        trust.add(URL, cloaked=False)
        probes += 1
    assert trust.distrust(URL) == 0.0 and probes == REMEMBERED + 1


def test_pages_of_a_doubted_site_look_like_spam() -> None:
    trust = judged(True)
    page = Page(URL, spam=0.2, signs={"concealed": 0.2})
    marked = trust.marked(page)
    assert marked.spam == pytest.approx(0.6) and marked.signs == {"concealed": 0.2, "cloaked": 0.5}
    assert judged(False).marked(page) is page


@given(st.floats(-1e6, 1e6), st.booleans())
def test_scores_are_only_lowered(score: float, cloaked: bool) -> None:
    adjusted_score = judged(cloaked).adjusted_score(URL, score)
    assert adjusted_score <= score and (adjusted_score == score) == (not cloaked or score == 0.0)


def test_the_site_loses_its_budget_and_gets_it_back() -> None:
    """The pages before count as spam, too, as far as the site is doubted; nothing of that stays when it is not."""
    sites, classes = SiteBudgets(), dict[str, int]()
    trust, turns = SiteTrust(sites.set_distrust), SiteTurns(sites, classes.__setitem__)
    for number in range(12):
        page = Page(f"http://www.spam.example/{number}", relevance=0.5)
        sites.learn(page_event(page, float(number)))
    assert turns.turn(URL)
    turns.ended(URL)
    for _ in range(2):
        trust.add(URL, cloaked=True)
    assert not turns.turn(URL) and turns.is_postponed(URL)
    assert classes == {"www.spam.example": WASTE}
    for _ in range(REMEMBERED):
        trust.add(URL, cloaked=False)
    turns.reconsider(URL)
    assert classes == {"www.spam.example": ACTIVE} and not turns.is_postponed(URL)
    assert turns.turn(URL) and trust.adjusted_score(URL, 1.0) == 1.0


def test_a_doubted_site_is_fetched_when_nothing_better_is_due_however_little_it_is_worth() -> None:
    sites, classes = SiteBudgets(), dict[str, int]()
    turns = SiteTurns(sites, classes.__setitem__)
    for number in range(20):
        page = Page(f"http://www.spam.example/{number}", spam=1.0)
        sites.learn(page_event(page, float(number)))
    assert not turns.turn(URL)
    assert turns.turn(URL), "its host is in the last class, and has its turn there"
    assert classes == {"www.spam.example": WASTE}
