"""Templates of URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.urls.traps import folded, is_wide, templates_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/cal/2024-05", "/cal/#-#"),
        ("/item/0123456789abcdef01", "/item/*"),
        ("/item/123e4567-e89b-12d3-a456-426614174000", "/item/*"),
        ("/coral-reefs-of-the-red-sea", "/coral-reefs-of-the-red-sea"),
    ],
)
def test_numbers_and_ids_are_folded(text, expected):
    assert folded(text) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "http://a.example/shop/2024/item-17?sort=up&page=3",
            (
                "a.example/shop/#/item-#?page&sort=up",
                "a.example/shop/#/item-#?page&sort",
                "a.example/shop/#/*?page&sort=up",
                "a.example/shop/#/*?page&sort",
                "a.example/shop/#/**?page&sort=up",
                "a.example/shop/**?page&sort=up",
                "a.example/shop/**",
                "a.example/**",
            ),
        ),
        (
            "http://a.example/git/log/src/main.c",
            (
                "a.example/git/log/src/main.c",
                "a.example/git/log/src/*",
                "a.example/git/**/main.c",
                "a.example/git/log/src/**",
                "a.example/git/log/**",
                "a.example/git/**",
                "a.example/**",
            ),
        ),
        (
            "http://a.example/?a=history;f=src/main.c",
            ("a.example/?a=history&f", "a.example/?a&f", "a.example/*?a=history&f", "a.example/*?a&f", "a.example/**"),
        ),
        ("http://a.example/", ("a.example/", "a.example/*", "a.example/**")),
        ("https://a.example:8443/x/", ("a.example/x/", "a.example/*", "a.example/x/**", "a.example/**")),
    ],
)
def test_templates_go_from_narrow_to_wide(url, expected):
    assert templates_of(url) == expected


@given(st.from_regex(r"http://a\.example/[a-z0-9/.?&=-]{0,40}", fullmatch=True))
def test_every_url_has_templates_of_its_host(url):
    templates = templates_of(url)
    assert templates[-1] == "a.example/**"
    assert len(set(templates)) == len(templates) <= 11
    assert is_wide(templates[-1]) and not is_wide(templates[0])
    assert all(template.startswith("a.example/") for template in templates)
