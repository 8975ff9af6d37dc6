"""Each rule of the trap filter: the URLs that it refuses and accepts, and how to switch it off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.urls.traps import TrapFilter

HOST = "http://host"  # 11 characters with the slash after it


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/", None),
        ("/a/b/c.html?d=e", None),
        ("/" + "a" * 244, None),
        ("/" + "a" * 245, "too_long"),
        ("/paper.pdf", "extension"),
        ("/Photo.JPEG", "extension"),
        ("/src.tar.gz?download=1", "extension"),
        ("/view.php?file=paper.pdf", None),
        ("/notes.txt", None),
        ("/v1.zip/readme", None),
        ("/a.b/c", None),
        ("/" + "/".join(f"s{n}" for n in range(20)) + "/", None),
        ("/" + "/".join(f"s{n}" for n in range(21)), "too_many_segments"),
        ("/a/a", None),
        ("/a/b/a", None),
        ("/a/a/a", "repeated_segments"),
        ("/a/x/a/y/a/z", "repeated_segments"),
        ("/django/django/blob/main/django/utils/log.py", None),
        ("/a/a/x/y/a/z/a", "repeated_segments"),
        ("/a/b/a/b", "repeated_segments"),
        ("/x/a/b/c/a/b/c/", "repeated_segments"),
        ("/a/b/c/b/a", None),
        ("/a/a/b/b/", None),
        ("/p?x=/a/a/a", None),
        ("/a////b", "repeated_segments"),
        ("/login?next=/login?next=/reef", None),
        ("/login?next=/login?next=/login?next=/reef", "nested_query"),
        ("/login?next=/login%3Fnext%3D/login%253Fnext%253D/reef", "nested_query"),
        ("/find?tag=a&tag=b&tag=c&to=/x%3Ftag%3Da", None),
    ],
)
def test_rules_that_look_at_the_url(path: str, rule: str | None) -> None:
    assert TrapFilter().refusal(HOST + path) == rule


@pytest.mark.parametrize(("depth", "rule"), [(0, None), (50, None), (51, "too_deep")])
def test_depth(depth: int, rule: str | None) -> None:
    assert TrapFilter(max_depth=50).refusal(HOST + "/", depth) == rule
    assert TrapFilter().refusal(HOST + "/", depth) is None


def test_a_host_is_full_of_admitted_urls_not_of_questions() -> None:
    traps = TrapFilter(max_urls_per_host=2)
    for page in "abcd":
        assert traps.refusal(f"http://host/{page}") is None
    traps.admitted("http://host/a")
    traps.admitted("http://host:8080/b")
    assert traps.refusal("http://host/c") == "host_full"
    assert traps.refusal("https://host/c") == "host_full"
    assert traps.refusal("http://other.host/c") is None


def test_only_http_is_crawled() -> None:
    assert TrapFilter().refusal("ftp://host/a") == "scheme"


@pytest.mark.parametrize(
    ("without", "path", "depth"),
    [
        (TrapFilter(max_url_length=0), "/" + "a" * 300, 0),
        (TrapFilter(max_segment_repeats=0), "/a/a/a/a", 0),
        (TrapFilter(max_segments=0), "/" + "/".join(f"s{n}" for n in range(30)), 0),
        (TrapFilter(extensions=()), "/paper.pdf", 0),
    ],
)
def test_nought_switches_a_rule_off(without: TrapFilter, path: str, depth: int) -> None:
    assert TrapFilter().refusal(HOST + path, depth) is not None
    assert without.refusal(HOST + path, depth) is None


def test_no_limit_of_urls_per_host() -> None:
    traps = TrapFilter(max_urls_per_host=0)
    traps.admitted(HOST + "/a")
    assert traps.refusal(HOST + "/b") is None


def test_limits_and_extensions_can_be_chosen() -> None:
    traps = TrapFilter(
        max_url_length=20, max_segment_repeats=2, max_segments=3, max_depth=1, extensions=[".Foo", "bar"]
    )
    assert traps.refusal(HOST + "/0123456789") == "too_long"
    assert traps.refusal(HOST + "/a/b/a") == "repeated_segments"
    assert traps.refusal(HOST + "/a/b/c/d") == "too_many_segments"
    assert traps.refusal(HOST + "/", 2) == "too_deep"
    assert traps.refusal(HOST + "/a.foo") == traps.refusal(HOST + "/a.BAR") == "extension"
    assert traps.refusal(HOST + "/a.pdf") is None


def test_more_repeats_may_be_allowed() -> None:
    traps = TrapFilter(max_segment_repeats=4)
    assert traps.refusal(HOST + "/a/b/a/b") is None
    assert traps.refusal(HOST + "/a/b/a/b/a/b") == "repeated_segments"
    assert traps.refusal(HOST + "/a/a/a") is None
    assert traps.refusal(HOST + "/a/a/a/a") == "repeated_segments"


@given(st.lists(st.sampled_from("abcdef"), max_size=4), st.lists(st.sampled_from("abcdef"), min_size=2, max_size=8))
def test_any_circle_of_two_to_eight_segments_is_seen(lead_in: list[str], circle: list[str]) -> None:
    assert TrapFilter().refusal(HOST + "/" + "/".join(lead_in + circle + circle)) == "repeated_segments"


def test_a_path_without_end_is_judged_in_linear_time() -> None:
    traps = TrapFilter(max_url_length=0, max_segments=0)
    assert traps.refusal(HOST + "/" + "/".join(str(n // 2) for n in range(8000))) is None
    numbers = [str(n) for n in range(8000)]
    assert traps.refusal(HOST + "/" + "/".join([*numbers, *numbers, *numbers[::-1]])) is None
