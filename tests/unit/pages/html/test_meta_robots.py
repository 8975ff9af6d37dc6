import pytest

from crawlproject.pages.html.head import MetaRobots, robots_rules

LATER = 1_908_658_800.0  # 25 June 2030, 23:00:00 UTC


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", MetaRobots(noindex=False, nofollow=False)),
        ("index, follow", MetaRobots(noindex=False, nofollow=False)),
        ("NOINDEX", MetaRobots(noindex=True, nofollow=False)),
        ("noindex,nofollow", MetaRobots(noindex=True, nofollow=True)),
        ("none", MetaRobots(noindex=True, nofollow=True)),
        ("max-snippet: 50, nofollow", MetaRobots(noindex=False, nofollow=True)),
        ("noindex nofollow", MetaRobots(noindex=True, nofollow=True)),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", MetaRobots(True, False, LATER)),
        ("Unavailable_After: Tuesday, 25-Jun-30 23:00:00 GMT, nofollow", MetaRobots(False, True, LATER)),
        ("unavailable_after: 2030-06-25T23:00:00Z", MetaRobots(False, False, LATER)),
        ("unavailable_after: 2030-06-25", MetaRobots(False, False, LATER - 23 * 3600)),
        ("unavailable_after: some day, noindex", MetaRobots(noindex=True)),
        ("otherbot: noindex, nofollow", MetaRobots(noindex=False, nofollow=False)),
        ("nofollow, otherbot: noindex", MetaRobots(noindex=False, nofollow=True)),
        (",,;; noindexed", MetaRobots(noindex=False, nofollow=False)),
        ("topical-crawler: noindex, nofollow", MetaRobots(noindex=True, nofollow=True)),
        ("otherbot: noindex, topical-crawler: nofollow", MetaRobots(noindex=False, nofollow=True)),
        ("topical-crawler: nofollow, otherbot: noindex", MetaRobots(noindex=False, nofollow=True)),
        ("otherbot: noindex\nnofollow", MetaRobots(noindex=False, nofollow=True)),
        ("*: noindex", MetaRobots(noindex=True)),
        ("Topical-Crawler: unavailable_after: 25 Jun 2030 23:00:00 GMT", MetaRobots(False, False, LATER)),
        ("otherbot: unavailable_after: 25 Jun 2030 23:00:00 GMT", MetaRobots()),
    ],
)
def test_rules_are_read_from_the_meta_tag_and_the_header_alike(value: str, expected: MetaRobots) -> None:
    assert robots_rules(value, "topical-crawler") == expected


def test_a_page_is_kept_until_its_time() -> None:
    rules = MetaRobots(unavailable_after=LATER)
    assert not rules.bars(LATER) and rules.bars(LATER + 1)
    assert (rules | MetaRobots(noindex=True)).bars(0) and not MetaRobots().bars(LATER)
