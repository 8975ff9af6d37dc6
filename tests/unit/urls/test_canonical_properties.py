"""Properties that hold for any string, and how canonical URLs relate to w3lib, Scrapy and the WHATWG parser."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from w3lib.url import canonicalize_url, safe_url_string

from crawlproject.errors import InvalidUrl
from crawlproject.urls.canonical import Canonicalizer, canonical_url
from crawlproject.urls.resolve import absolute, cleaned

VARIANTS = (
    canonical_url,
    Canonicalizer(query_rules=False, default_pages=False),
    Canonicalizer(strip_parameters=["x*", "é"]),
)
BASES = ("http://Base.org/x/y;z/index.html?q#f", "https://h", "http://h/a//b/../c//", "http://u:p@h:81/?/x")

_PIECES = [
    *"/\\?#&=;:@.%~+ []|^'\"<>{}()$!*,ab1\0\t\n",
    *("é", "ß", "İ", "١", "😀", "\u3002", "\u00ad", "\u200d", "\ud800", "host.com", "xn--", "[::1]", "0x", "08"),
    *("http:", "https://", "//", "..", "%2e", "%7e", "%3D", "%25", "%2F", "%4", ":80", ":8080", "index.html"),
    *(";jsessionid=1", "(S(abcdefghijklmnopqrstuvwx))", "PHPSESSID=1", "utm_x=1", "sid=0123456789abcdef0"),
]
_starts = st.sampled_from(["", "http://", "HTTPS://h", "http://h/", "http://h/?", "http://xn--", "http://u:p@h:80/a/"])
ugly = st.builds(str.__add__, _starts, st.lists(st.sampled_from(_PIECES), max_size=20).map("".join) | st.text())


@settings(max_examples=600, deadline=None)
@given(ugly, st.none() | st.sampled_from(BASES))
def test_any_string_is_refused_or_has_one_stable_spelling(text: str, base: str | None) -> None:
    for canonical in VARIANTS:
        try:
            url = canonical(text, base)
        except InvalidUrl:
            continue
        assert canonical(url) == url
        assert url.isascii() and url.isprintable() and " " not in url
        assert safe_url_string(url) == url, "Scrapy would fetch another spelling"


@settings(max_examples=600, deadline=None)
@given(ugly, st.sampled_from(BASES))
def test_joins_as_the_whatwg_standard_does(href: str, base: str) -> None:
    href = cleaned(href)
    assert _read(lambda: ada_url.normalize_url(absolute(href, base))) == _read(lambda: ada_url.join_url(base, href))


def _read(reader) -> str | None:
    try:
        return reader()
    except ValueError:
        return None


_word = st.text("abcXYZ019-._~é ", min_size=1, max_size=6)
_pairs = st.lists(st.tuples(_word, st.just("=") | st.just("=1") | _word.map("={}".format)).map("".join), max_size=5)
_paths = st.lists(
    _word | st.sampled_from(["%7eb", "%c3%a9", "..", ".", "a%2fb", "(c)", "d;e=f", "g,h:i@j"]), max_size=5
)


@given(_paths.map("/".join), _pairs.map("&".join))
def test_agrees_with_w3lib_on_paths_and_forms_of_plain_words(path: str, query: str) -> None:
    url = f"http://Host.example/{path}" + (f"?{query}" if query else "")
    assert canonical_url(url) == canonicalize_url(url)


@given(_paths.map("/".join), st.lists(st.tuples(_word, st.text("ab/:?@!$'()*,=[]|%é +", max_size=8)), max_size=4))
def test_what_w3lib_calls_equal_is_equal_here(path: str, pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={value}" for name, value in pairs)
    url = f"http://host.example/{path}" + (f"?{query}" if query else "")
    assert canonical_url(canonicalize_url(url)) == canonical_url(url)


@pytest.mark.parametrize(
    "hostile", ["../" * 2_000_000, "%" * 8000, "../" * 5000, "a=1&" * 4000, ";jsessionid=" * 1300, "/." * 8000]
)
def test_long_and_ugly_urls_take_no_longer_than_they_are(hostile: str) -> None:
    for url in (f"http://host/{hostile}", f"http://host/?{hostile}", hostile):
        try:
            canonical = canonical_url(url, "http://host/")
        except InvalidUrl:
            continue
        assert canonical.startswith("http://host/")
