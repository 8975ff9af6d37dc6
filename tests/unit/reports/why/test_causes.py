"""Why a URL is left out: rules that are evaluated again, and counts when no rule applies."""

from __future__ import annotations

import json

import pytest

from crawlproject.reports.why.asked import causes
from crawlproject.storage.read import read_info

URL = "http://reef.example/page?view=print&id=7"


@pytest.fixture
def asked(write_crawl, tmp_path):
    """``asked(url, counts, ordering, settings, rules, robots)`` returns the causes."""

    def ask(url=URL, counts=None, *, ordering="best_first", settings=None, rules=(), robots="", visits=(), **how):
        folder = write_crawl(
            tmp_path / "crawl",
            visits,
            refused={"counts": counts or {}, "samples": {}},
            ordering=ordering,
            settings=settings or {},
        )
        lines = [
            {"version": 1, "event": "confirmed", "for": 300, "against": 0, "examples": [], **rule} for rule in rules
        ]
        (folder / "rules.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        reply = {"url": "http://reef.example/robots.txt", "status": 200, "at": 1.0, "content_type": "", "location": ""}
        (folder / "robots.jsonl").write_text(json.dumps({**reply, "body": robots}) + "\n")
        given = {"depth": 1, "known": False, "evicted": 0, "copied": False, "agent": "bot", **how}
        return causes(folder, read_info(folder), url, **given)

    return ask


def test_a_rule_that_refuses_the_url_is_the_cause(asked):
    (cause,) = asked(settings={"trap_max_url_length": 20}, counts={"trap/too_long": 4, "frontier/full": 99})
    assert (cause.reason, cause.count, cause.certain) == ("trap/too_long", 4, True)
    (cause,) = asked(settings={"crawl_allowed_domains": ["coral.example"]})
    assert cause.reason == "scope/domain"
    (cause,) = asked(settings={"trap_max_depth": 5}, depth=6)
    assert cause.reason == "trap/too_deep"
    (cause,) = asked(robots="User-agent: bot\nDisallow: /page", known=True)
    assert (cause.reason, cause.certain) == ("robots/forbidden", True)
    assert asked(robots="User-agent: other\nDisallow: /page", known=True) == []


def test_a_learned_rule_names_the_url_that_is_crawled_instead(asked, page):
    (cause,) = asked(rules=[{"rule": "reef.example param view"}])
    assert cause.reason == "dust/respelled" and "http://reef.example/page?id=7" in cause.words
    assert asked(rules=[{"rule": "reef.example param view", "for": 9}]) == [], "it only says who comes last"
    assert asked(rules=[{"rule": "reef.example param view"}, {"rule": "reef.example param view", "event": "off"}]) == []
    assert asked("http://other.example/?view=1", rules=[{"rule": "reef.example param view"}]) == []
    first = "http://reef.example/page?view=old&id=7"  # the first one found is crawled, whatever its parameters
    (cause,) = asked(rules=[{"rule": "reef.example param view"}], visits=[page(f"{first}1"), page(first)])
    assert f" {first}," in cause.words
    (cause,) = asked("http://reef.example/page?id=7", rules=[{"rule": "reef.example param view"}], visits=[page(first)])
    assert f" {first}," in cause.words


def test_of_one_thing_that_can_have_happened_it_is_that(asked):
    (cause,) = asked(evicted=300)
    assert (cause.reason, cause.count) == ("frontier/evicted", 300)
    (cause,) = asked(copied=True, evicted=300)
    assert cause.reason == "copies"


def test_of_several_the_most_frequent_is_first(asked):
    found = asked(counts={"frontier/full": 10, "ordering/not_followed": 50}, evicted=20)
    assert [cause.reason for cause in found] == ["ordering/not_followed", "frontier/evicted", "frontier/full"]
    assert not any(cause.certain for cause in found)


def test_a_host_that_was_given_up(asked):
    (cause,) = asked(counts={"host/given_up": 12})
    assert cause.reason == "host/given_up"


def test_settings_of_another_version_are_passed_over(asked):
    assert asked(settings={"trap_max_depth": "many", "gone_setting": 1}) == []
