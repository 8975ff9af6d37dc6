"""The effect of rules on URLs, and the rules that two URLs propose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.errors import BadInput
from crawlproject.parts.duplicates.url_rule import UrlRule, parts_of, proposals, spelled, value_of

A = "a.example"


@pytest.mark.parametrize(
    ("one", "two", "rule"),
    [
        (f"http://{A}/x?id=1&sid=9", f"http://{A}/x?id=1&sid=8", UrlRule(A, "param", "sid")),
        (f"http://{A}/x?id=1&sid=9", f"http://{A}/x?id=1", UrlRule(A, "param", "sid")),
        (f"http://{A}/x/print", f"http://{A}/x", UrlRule(A, "suffix", "/print")),
        (f"http://{A}/x.html", f"http://{A}/x", UrlRule(A, "suffix", ".html")),
        (f"http://{A}/d/home.php", f"http://{A}/d/", UrlRule(A, "suffix", "home.php")),
        (f"http://{A}/README.md", f"http://{A}/README", UrlRule(A, "suffix", ".md")),
        (f"http://{A}/en/m/x", f"http://{A}/en/x", UrlRule(A, "segment", "m")),
        (f"http://{A}/art/7", f"http://{A}/print/7", UrlRule(A, "replace", "/print/ /art/")),
        (f"http://{A}/print/7", f"http://{A}/art/7", UrlRule(A, "replace", "/print/ /art/")),
        (f"http://{A}/n/story_7.html", f"http://{A}/n/print_7.html", UrlRule(A, "replace", "/story_ /print_")),
        (f"http://{A}/n/7-print.html", f"http://{A}/n/7-view.html", UrlRule(A, "replace", "-print. -view.")),
        (f"http://{A}/n/art.php?id=7", f"http://{A}/n/print.php?id=7", UrlRule(A, "replace", "/print. /art.")),
        (f"http://{A}/story_7", f"http://{A}/story?id=7", UrlRule(A, "replace", "/story?id= /story_")),
        (f"http://{A}/n/story?id=17", f"http://{A}/n/story/17", UrlRule(A, "replace", "/story?id= /story/")),
        (f"http://{A}/v1-item7.html", f"http://{A}/v2-item7.html", UrlRule(A, "replace", "/v2- /v1-")),
        (f"http://{A}/s-4f1/x", f"http://{A}/s-88c/x", UrlRule(A, "pattern", "s-{x}")),
        (f"http://{A}/en/(S(1a))/x", f"http://{A}/en/(S(2b))/x", UrlRule(A, "pattern", "(S({x}))")),
        (f"http://{A}/17/x", f"http://{A}/4/x", UrlRule(A, "pattern", "{n}")),
        (f"http://{A}/x/", f"http://{A}/x", UrlRule(A, "slash")),
        (f"http://{A}/X", f"http://{A}/x", UrlRule(A, "case")),
        (f"https://{A}/x", f"http://{A}/x", UrlRule(A, "scheme")),
        (f"http://www.{A}/x?a=1", f"http://{A}/x?a=1", UrlRule(f"www.{A}", "mirror", A)),
        (f"https://{A}:8443/x", "http://b.example/x", UrlRule(f"{A}:8443", "mirror", "b.example")),
    ],
)
def test_two_urls_that_differ_in_one_way_propose_a_rule_that_makes_them_one(one, two, rule):
    assert list(proposals(one, two)) == [rule]
    key = {spelled(rule.normal(parts_of(url)))[7 if url.startswith("http:") else 8 :] for url in (one, two)}
    assert len(key) == 1 or rule.kind == "scheme"
    assert UrlRule.spelled(str(rule)) == rule


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (f"http://{A}/x?id=1&sid=9", f"http://{A}/x?id=2&sid=8"),
        (f"http://{A}/x?id=1", f"http://{A}/y?id=2"),
        (f"http://{A}/reef", f"http://{A}/fish"),
        (f"http://{A}/reefs", f"http://{A}/reef"),
        (f"http://{A}/n/reef-1", f"http://{A}/n/reef-2"),
        (f"http://{A}/story_7", f"http://{A}/story?id=8"),
        (f"http://{A}/story_7", f"http://{A}/?id=7"),
        (f"http://{A}/v1-about.html", f"http://{A}/v2-about.html"),
        (f"http://{A}/a-item7.html", f"http://{A}/a-item8.html"),
        (f"http://{A}/n/red.html", f"http://{A}/n/blue.html"),
        (f"http://{A}/a1/x", f"http://{A}/b-1/x"),
        (f"http://{A}/a/b/x", f"http://{A}/c/d/x"),
        (f"http://{A}/x", "http://b.example/y"),
        (f"http://{A}/" + "s" * 50 + "/x", f"http://{A}/x"),
        (f"http://{A}/hr-HR/x", f"http://{A}/en-US/x"),
        (f"http://{A}/de/x", f"http://{A}/en/x"),
        (f"http://{A}/manual/de/x", f"http://{A}/manual/x"),
        (f"http://{A}/zh_Hant/x", f"http://{A}/ja/x"),
        (f"http://{A}/page-2.pt-br.html", f"http://{A}/page-2.en.html"),
        (f"http://{A}/x.html.en", f"http://{A}/x.html"),
        (f"http://{A}/x/de", f"http://{A}/x/"),
        (f"http://{A}/x/pt-br", f"http://{A}/x"),
    ],
)
def test_two_urls_that_differ_in_several_ways_propose_nothing(one, two):
    assert list(proposals(one, two)) == []


URLS = st.builds(
    lambda path, query: f"http://{A}/{path}{'?' if query else ''}{query}",
    st.from_regex(r"([a-zA-Z0-9.]{0,4}/){0,3}[a-z.]{0,4}", fullmatch=True),
    st.from_regex(r"(([ab]=[0-9]?)(&[ab]=[0-9]?){0,2})?", fullmatch=True),
)


@given(URLS, URLS)
def test_a_proposed_rule_always_makes_the_two_urls_one(one, two):
    for rule in proposals(one, two):
        if rule.kind != "param":  # a parameter that occurs twice in both may also differ in position
            assert rule.normal(parts_of(one)) == rule.normal(parts_of(two))


@given(URLS)
def test_parts_spell_the_url_again(url):
    assert spelled(parts_of(url)) == url


def test_a_rule_leaves_other_hosts_and_other_parts_alone():
    rule = UrlRule(A, "param", "sid")
    assert rule.normal(parts_of("http://b.example/x?sid=1")) == parts_of("http://b.example/x?sid=1")
    assert spelled(rule.normal(parts_of(f"http://{A}/x?side=1&sid=2&asid=3"))) == f"http://{A}/x?side=1&asid=3"
    assert (
        spelled(UrlRule(A, "suffix", "home.php").normal(parts_of(f"http://{A}/myhome.php"))) == f"http://{A}/myhome.php"
    )


def test_the_value_that_a_rule_is_about():
    assert value_of(UrlRule(A, "param", "sid"), f"http://{A}/x?id=1&sid=9") == "9"
    assert value_of(UrlRule(A, "slash"), f"http://{A}/x/") == f"http://{A}/x/"


@pytest.mark.parametrize("text", ["", "a.example", "a.example param", "a.example slash x", "a.example colour red"])
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(BadInput, match="expected HOST KIND"):
        UrlRule.spelled(text)
