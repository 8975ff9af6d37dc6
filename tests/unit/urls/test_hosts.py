"""Host and origin of canonical URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.urls.canonical import canonical_url
from crawlproject.urls.hosts import host_of, is_within, origin_of


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://www.uiowa.edu/", "www.uiowa.edu", "http://www.uiowa.edu"),
        ("https://www.uiowa.edu/a/b?c=//d:1", "www.uiowa.edu", "https://www.uiowa.edu"),
        ("http://HOST:8080/a:b", "host", "http://host:8080"),
        ("https://host:8443/", "host", "https://host:8443"),
        ("http://[::1]/", "[::1]", "http://[::1]"),
        ("http://[::1]:81/", "[::1]", "http://[::1]:81"),
        ("http://user:secret@host", "host", "http://host"),
    ],
)
def test_host_and_origin(url: str, host: str, origin: str) -> None:
    assert host_of(canonical_url(url)) == host
    assert origin_of(canonical_url(url)) == origin


HOSTS = st.lists(st.sampled_from(["a", "b", "ab", "[::1]", "1"]), min_size=1, max_size=4).map(".".join)


@given(st.lists(HOSTS, max_size=4), HOSTS)
def test_a_host_is_within_itself_and_its_parent_domains(domains: list[str], host: str) -> None:
    within = any(f".{host}".endswith(f".{domain}") for domain in domains)
    assert is_within(host, domains) is is_within(host, frozenset(domains)) is within
