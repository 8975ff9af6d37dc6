"""The actions of the person, what the companion learns from them, and its suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.lookahead import Browsing
from support.webs import page

from crawlproject.companion.companion import LONGEST, worth_of
from crawlproject.companion.profile import Profile
from crawlproject.errors import BadInput

A = "http://a.example"
CACHING, FOOTBALL = "caching etag validators freshness", "football goals league referee"
WEB = dict(
    [
        page(f"{A}/", f"{A}/caching", f"{A}/football", text="welcome"),
        page(f"{A}/caching", f"{A}/etags", text=CACHING),
        page(f"{A}/football", f"{A}/goals", text=FOOTBALL),
        page(f"{A}/etags", text=f"{CACHING} more"),
        page(f"{A}/goals", text=f"{FOOTBALL} more"),
    ]
)


def browsing(folder: Path, **chosen: object) -> Browsing:
    return Browsing(folder, WEB, **chosen)  # type: ignore[arg-type]


def test_pages_like_those_the_person_stays_on_come_first_with_the_reason(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.open(f"{A}/caching", seconds=120)
    person.open(f"{A}/football", seconds=2)
    person.open(f"{A}/", seconds=20)
    found = person.companion.suggestions()
    assert found[0].url == f"{A}/etags" and set(found[0].because) <= {
        *CACHING.split(),
        "etag",
        "valid",
        "fresh",
        "cach",
    }
    assert found[0].clicks == 2
    assert f"{A}/goals" not in [each.url for each in found]  # left at once: negative evidence


def test_before_anything_is_learned_the_page_at_hand_says_what_is_like(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.open(f"{A}/caching", "", {}, {}, 0.0)
    person.wait(20.0)
    assert person.companion.profile.interests == {} and person.suggested() == [f"{A}/etags"]


def test_seconds_are_learned_once_however_they_are_told(tmp_path: Path) -> None:
    at_once, bit_by_bit = browsing(tmp_path / "a"), browsing(tmp_path / "b")
    for person in (at_once, bit_by_bit):
        person.companion.open(f"{A}/x", "", {"cach": 3, "etag": 1}, {}, 0.0)
    at_once.companion.stay(f"{A}/x", 60.0, 0.0)
    for _ in range(12):
        bit_by_bit.companion.stay(f"{A}/x", 5.0, 0.0)
    assert bit_by_bit.companion.interests.weights == pytest.approx(at_once.companion.interests.weights)


def test_who_leaves_a_page_open_all_night_has_not_read_it_all_night(tmp_path: Path) -> None:
    assert worth_of(10 * LONGEST) == worth_of(LONGEST) and worth_of(0.0) == 0.0


def test_what_was_read_before_it_was_fetched_is_learned_when_it_comes(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.open(f"{A}/caching", "", {}, {}, 0.0)
    person.companion.stay(f"{A}/caching", 30.0, 0.0)
    assert person.companion.profile.interests == {}
    person.wait(10.0)
    person.companion.settle(person.now)
    assert person.companion.profile.interests["etag"] > 0


@pytest.mark.parametrize("verdict", ["saved", "dismissed"])
def test_a_verdict_is_learned_and_can_be_taken_back(tmp_path: Path, verdict: str) -> None:
    person = browsing(tmp_path)
    person.open(f"{A}/", seconds=20)
    before = dict(person.companion.interests.weights)
    person.companion.judge(f"{A}/etags", verdict, person.now)
    after = person.companion.interests.weights
    assert (after["etag"] > before.get("etag", 0.0)) == (verdict == "saved")
    assert f"{A}/etags" not in person.suggested()
    person.companion.judge(f"{A}/etags", "", person.now)
    assert person.companion.interests.weights["etag"] == pytest.approx(before.get("etag", 0.0))


def test_a_verdict_of_another_day_is_not_learned_again(tmp_path: Path) -> None:
    person = browsing(tmp_path, profile=Profile(saved=[f"{A}/caching"]))
    person.companion.open(f"{A}/caching", "", {"etag": 1}, {}, 0.0)
    person.companion.settle(0.0)
    assert person.companion.profile.interests == {}


def test_a_pause_fetches_nothing_and_remembers_nothing(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.pause(True, 0.0)
    assert json.loads(person.kept[-1])["paused"]
    person.open(f"{A}/caching")
    assert person.asked == [] and person.companion.at_hand is None and person.companion.profile.interests == {}
    person.companion.pause(False, 0.0)
    person.open(f"{A}/caching")
    assert person.asked and person.companion.profile.interests


def test_a_site_that_is_excluded_is_neither_learned_nor_fetched(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.open(f"{A}/caching", "", {"etag": 1}, {}, 0.0)
    person.companion.exclude(f"{A}/caching", 0.0)
    person.wait(60.0)
    assert person.asked == [] and person.companion.at_hand is None
    person.open(f"{A}/", text=CACHING)
    assert person.asked == [] and person.companion.profile.interests == {}
    assert json.loads(person.kept[-1])["never"] == ["a.example"]


def test_a_site_that_is_excluded_in_the_file_is_left_at_once(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.open(f"{A}/caching", "", {"etag": 1}, {}, 0.0)
    person.companion.take_profile(Profile(never=["a.example"]))
    person.companion.stay(f"{A}/caching", 60.0, 1.0)
    person.wait(60.0)
    assert person.companion.at_hand is None and person.asked == [] and person.companion.profile.interests == {}


def test_what_was_forgotten_is_looked_at_anew(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.open(f"{A}/", "", {}, {}, 0.0)
    person.wait(60.0)
    before, asked = person.suggested(), len(person.asked)
    person.companion.forget()
    person.companion.open(f"{A}/", "", {}, {}, person.now)
    person.wait(60.0)
    assert before and person.suggested() == before and person.asked[asked:] == person.asked[:asked]


def test_pages_that_had_no_room_in_memory_are_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlproject.companion.following.REMEMBERED", 2)
    person = browsing(tmp_path)
    for url in (f"{A}/", f"{A}/caching", f"{A}/"):
        person.open(url)
    assert person.asked.count(f"{A}/") == 2


def test_words_can_be_given_a_weight_and_removed(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.weigh("Caching", 2.0)
    assert person.companion.profile.interests == {"Caching": 2.0}
    person.companion.weigh("caching", 3.0)  # the same term, spelled otherwise
    assert person.companion.profile.interests == {"caching": 3.0}
    person.companion.weigh("caching", 0.0)
    assert person.companion.profile.interests == {} and person.companion.interests.weights == {}
    for wrong in ("the", "", "coral reef"):
        with pytest.raises(BadInput, match="word"):
            person.companion.weigh(wrong, 1.0)


def test_an_edited_profile_holds(tmp_path: Path) -> None:
    person = browsing(tmp_path)
    person.companion.take_profile(Profile(interests={"football": 5.0}))
    person.open(f"{A}/", seconds=20)
    assert person.suggested()[0] in (f"{A}/football", f"{A}/goals")


@pytest.mark.parametrize("url", ["", "about:blank", "file:///etc/passwd", "javascript:alert(1)", "no url"])
def test_what_is_no_page_of_the_web_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadInput, match="url"):
        browsing(tmp_path).companion.open(url, "", {}, {}, 0.0)


def test_words_of_the_profile_and_of_the_page_are_looked_for(tmp_path: Path) -> None:
    person = browsing(tmp_path, profile=Profile(interests={"football": 5.0, "opera": -3.0}))
    person.companion.open(f"{A}/x", "", {"etag": 5}, {"etag": "ETag"}, 0.0)
    assert person.companion.at_hand is not None
    words = person.companion.keywords(person.companion.at_hand)
    assert words.count("football") > words.count("ETag") > 0 and "opera" not in words


def test_what_surrounds_any_page_is_no_interest(tmp_path: Path) -> None:
    """Common words of the web are more frequent there than the words of the subject."""
    about = "Etag valid. " + "News of the web, day by day: home page, click, share, read more. " * 3
    person = Browsing(tmp_path, dict([page(f"{A}/", text=about)]))
    person.open(f"{A}/", seconds=120)
    assert {*person.companion.profile.interests} == {"etag", "valid"}
    person.companion.weigh("web", 2.0)
    assert person.companion.profile.interests["web"] == 2.0
