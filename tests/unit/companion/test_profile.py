"""The profile as a document that a person reads and edits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.companion.profile import MOST_URLS, Profile, read_profile
from crawlproject.errors import BadInput

WEIGHTS = st.floats(-100, 100).map(lambda weight: round(weight, 3))


@given(
    st.dictionaries(st.text(min_size=1, max_size=20), WEIGHTS, max_size=20),
    st.booleans(),
    st.lists(st.text(max_size=30), max_size=5),
    st.integers(0, 4_000_000_000),
)
def test_what_is_written_is_read(interests, paused, urls, updated):
    profile = Profile("de", paused, interests, [], urls, urls, float(updated))
    assert read_profile(profile.text(), "profile.json") == profile


def test_it_is_readable_the_strongest_interest_first():
    text = Profile(interests={"football": -1.0, "caching": 2.0, "Straße": 5.0}).text()
    assert list(json.loads(text)["interests"]) == ["Straße", "caching", "football"] and "Straße" in text


def test_what_is_left_out_has_its_default():
    assert read_profile("{}", "profile.json") == Profile()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[]", "JSON object"),
        ('{"intrests": {}}', "no field 'intrests'"),
        ('{"interests": {"etag": "much"}}', "etag: expected a number"),
        ('{"interests": {"etag": true}}', "etag: expected a number"),
        ('{"interests": {"etag": NaN}}', "etag: expected a number"),
        ('{"interests": []}', "words with weights"),
        ('{"paused": 1}', "true or false"),
        ('{"never": "mail.example"}', "a list of texts"),
        ('{"saved": [1]}', "a list of texts"),
        ('{"updated": "yesterday"}', "expected a time"),
        ('{"updated": "9999-12-31T23:59:59-12:00"}', "expected a time"),
        pytest.param('{"interests": {"etag": 1' + "0" * 400 + "}}", "etag: expected a number", id="a huge number"),
        pytest.param("[" * 100_000, "is not JSON", id="deep"),
        ('{"saved": ["\\ud800"]}', "is not JSON"),
    ],
)
def test_a_slip_of_the_editor_is_told_with_its_place(text, told):
    with pytest.raises(BadInput, match=told) as wrong:
        read_profile(text, "/home/me/profile.json")
    assert "/home/me/profile.json" in str(wrong.value)


def test_domains_that_are_excluded():
    profile = read_profile('{"never": [" Mail.Example "]}', "profile.json")
    assert profile.is_excluded("mail.example") and profile.is_excluded("imap.mail.example")
    assert not profile.is_excluded("notmail.example")


def test_a_verdict_replaces_the_other_and_can_be_taken_back():
    profile = Profile()
    profile.mark("http://a.example/", "saved")
    profile.mark("http://a.example/", "dismissed")
    assert (profile.saved, profile.dismissed) == ([], ["http://a.example/"])
    profile.mark("http://a.example/", "")
    assert (profile.saved, profile.dismissed) == ([], [])
    for number in range(MOST_URLS + 5):
        profile.mark(f"http://a.example/{number}", "saved")
    assert len(profile.saved) == MOST_URLS and profile.saved[-1].endswith(str(MOST_URLS + 4))
