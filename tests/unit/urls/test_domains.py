"""Registrable domains by the Public Suffix List."""

from __future__ import annotations

import pytest

from crawlproject.urls.hosts import domain_of


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("http://www.example.com/a", "example.com"),
        ("https://a.b.example.co.uk:8080/", "example.co.uk"),
        ("http://one.github.io/", "one.github.io"),
        ("http://a.one.github.io/", "one.github.io"),
        ("http://co.uk/", "co.uk"),
        ("http://localhost/", "localhost"),
        ("http://192.0.2.1/", "192.0.2.1"),
        ("http://[2001:db8::1]/", "[2001:db8::1]"),
        ("http://www.xn--bcher-kva.example/", "xn--bcher-kva.example"),
    ],
)
def test_domain_of(url: str, domain: str) -> None:
    assert domain_of(url) == domain
