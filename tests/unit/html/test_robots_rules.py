import pytest

from crawlproject.html.robots import RobotsRules, robots_rules


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", RobotsRules(noindex=False, nofollow=False)),
        ("index, follow", RobotsRules(noindex=False, nofollow=False)),
        ("NOINDEX", RobotsRules(noindex=True, nofollow=False)),
        ("noindex,nofollow", RobotsRules(noindex=True, nofollow=True)),
        ("none", RobotsRules(noindex=True, nofollow=True)),
        ("max-snippet: 50, nofollow", RobotsRules(noindex=False, nofollow=True)),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", RobotsRules(noindex=True, nofollow=False)),
        ("otherbot: noindex, nofollow", RobotsRules(noindex=False, nofollow=False)),
        ("nofollow, otherbot: noindex", RobotsRules(noindex=False, nofollow=True)),
        (",,;; noindexed", RobotsRules(noindex=False, nofollow=False)),
    ],
)
def test_rules_are_read_from_the_meta_tag_and_the_header_alike(value: str, expected: RobotsRules) -> None:
    assert robots_rules(value) == expected
