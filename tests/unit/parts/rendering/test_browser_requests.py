"""The requests that a page in a browser may make."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.parts.rendering.browser_requests import (
    DEEPEST,
    DOCUMENT,
    LONGEST_URL,
    MOST_BYTES,
    MOST_FRAMES,
    MOST_REQUESTS,
    MOST_SENT,
    PageRequest,
    RequestRules,
    is_query,
    preflight,
)

PAGE = "http://www.reef.example/atoll"
JSON = {"content-type": "application/json", "cookie": "a=b", "origin": "http://www.reef.example"}
QUESTION = PageRequest("http://api.reef.example/graphql", "POST", "XHR", JSON, b'{"query": "{ fish { name } }"}')


def rules(posts: int = 5) -> RequestRules:
    return RequestRules(PAGE, posts=posts)


def test_a_question_may_be_posted_so_often_and_by_default_never() -> None:
    several = rules(2)
    assert [several.refusal(QUESTION) for _ in range(3)] == ["", "", "POST"]
    assert RequestRules(PAGE).refusal(QUESTION) == "POST"


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://elsewhere.example/graphql"},
        {"url": "http://reef.example@elsewhere.example/"},
        {"url": "http://reef.example:x@elsewhere.example/"},
        {"url": "http://elsewhere.example\\@reef.example/"},
        {"url": "http://notreef.example/"},
        {"url": "file:///etc/passwd"},
        {"kind": "Document"},
        {"kind": "Ping"},
        {"kind": "Script"},
        {"body": b""},
        {"body": None},
        {"body": b"{"},
        {"body": b"\xff"},
        {"body": b"[" * 10_000},
        {"body": b'{"query": "%b"}' % (b"x" * MOST_SENT)},
        {"body": b'{"query": "mutation Buy { buy(fish: 1) }"}'},
        {"body": b'{"query": "\\u006dutation { buy }"}'},
        {"body": b'[{"query": "{ fish }"}, {"query": "fragment x on Y { z } mutation { buy }"}]'},
        {"body": json.dumps([{"query": "{ fish }"}] * 101).encode()},
        {"headers": {"content-type": "multipart/form-data; boundary=x"}},
        {"headers": {"content-type": "text/plain"}},
        {"headers": {}},
        {"headers": {**JSON, "x-much": "y" * MOST_SENT}},
        {"url": "http://reef.example/" + "x" * LONGEST_URL},
        {"method": "PUT"},
        {"method": "DELETE"},
        {"method": "SOMETHING-" * 9},
    ],
)
def test_nothing_else_is_posted(change: dict[str, object]) -> None:
    reason = rules().refusal(replace(QUESTION, **change))  # type: ignore[arg-type]
    assert reason and len(reason) < 15, "reasons are counted by name, so that pages may not choose them"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json; charset=utf-8", b'{"page": 2}'),
        ("application/graphql+json", b'{"query": "query q { fish }"}'),
        ("APPLICATION/X-WWW-FORM-URLENCODED", b"action=load_more&page=2"),
        ("application/x-www-form-urlencoded", b"query=%7B+fish+%7D"),
        ("application/json", b'"fish"'),
        ("application/json", b'[1, {"query": 5}]'),
    ],
)
def test_questions(content_type: str, body: bytes) -> None:
    assert is_query(content_type, body)


def test_a_mutation_in_the_fields_of_a_form_is_none() -> None:
    assert not is_query("application/x-www-form-urlencoded", b"a=b&query=mutation+%7B+buy+%7D")


@given(st.text(max_size=60), st.binary(max_size=300))
def test_anything_is_a_question_or_not(content_type: str, body: bytes) -> None:
    assert is_query(content_type, body) in (True, False)
    assert is_query("application/json", body) in (True, False)


def test_a_click_asks_for_less() -> None:
    data = PageRequest("http://www.reef.example/api/posts?page=2", "GET", "XHR", {}, clicked=True)
    logout = replace(data, url="http://www.reef.example/session/logout")
    assert rules().refusal(data) == "" and rules().refusal(logout) == "harmful"
    assert rules().refusal(replace(data, url="http://logout.example/")) == "", "the name of a host says nothing"
    assert rules().refusal(replace(logout, kind="Script")) == rules().refusal(replace(logout, clicked=False)) == ""
    assert rules().refusal(QUESTION) == "" and rules().refusal(replace(QUESTION, clicked=True)) == "POST"


def test_cookies_go_to_the_own_site_only() -> None:
    headers = {"cookie": "a=b", "accept": "*/*", "x-token": "t", "host": "x", "sec-fetch-mode": "cors"}
    asked = PageRequest("http://api.reef.example/1", "GET", "XHR", headers)
    assert rules().headers(asked) == {"cookie": "a=b", "accept": "*/*", "x-token": "t"}
    for url in ("http://elsewhere.example/", "http://reef.example:x@elsewhere.example/"):
        assert rules().headers(replace(asked, url=url)) == {"accept": "*/*"}
    assert rules().headers(QUESTION)["content-type"] == "application/json"


def test_frames_of_the_same_site_so_many_and_so_deep() -> None:
    frame = PageRequest("http://reef.example/frame", "GET", DOCUMENT, {}, depth=1)
    several = rules()
    assert [several.refusal(frame) for _ in range(MOST_FRAMES + 1)] == [*[""] * MOST_FRAMES, "frames"]
    for change in (
        {"depth": DEEPEST + 1},
        {"url": "http://elsewhere.example/"},
        {"url": "https://reef.example/frame"},
        {"method": "POST", "body": b"a=b", "headers": {"content-type": "application/x-www-form-urlencoded"}},
    ):
        assert rules().refusal(replace(frame, **change)), change  # type: ignore[arg-type]


def test_a_page_has_so_many_requests_and_bytes() -> None:
    script = PageRequest("http://elsewhere.example/x.js", "GET", "Script", {})
    several = rules()
    assert [several.refusal(script) for _ in range(MOST_REQUESTS + 1)].count("") == MOST_REQUESTS
    heavy = rules()
    heavy.fetched(MOST_BYTES + 1)
    assert heavy.refusal(script) == "over_budget"


def test_images_and_their_like_are_not_fetched() -> None:
    for kind in ("Image", "Media", "Font", "EventSource", "Ping", "Other", "Manifest", "CSPViolationReport"):
        assert rules().refusal(PageRequest("http://reef.example/x", "GET", kind, {})) == kind


def test_a_preflight_is_answered_so_that_cookies_may_follow() -> None:
    asked = PageRequest(QUESTION.url, "OPTIONS", "XHR", {**JSON, "access-control-request-headers": "x-a"})
    said = dict(preflight(asked))
    assert said["Access-Control-Allow-Origin"] == "http://www.reef.example"
    assert said["Access-Control-Allow-Headers"] == "x-a" and said["Access-Control-Allow-Credentials"] == "true"
    assert "Access-Control-Allow-Credentials" not in dict(preflight(replace(asked, headers={})))
