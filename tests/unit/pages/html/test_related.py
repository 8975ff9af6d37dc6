"""Feeds, neighbours and translations that the head of a page names."""

from __future__ import annotations

from crawlproject.pages.html.head import FEED, LANGUAGE, MAX_RELATED, Related, related_in


def test_many_feeds_leave_room_for_the_translations_behind_them() -> None:
    feeds = "".join(
        f'<link rel=alternate type="application/atom+xml" href="/feed/{number}">' for number in range(2 * MAX_RELATED)
    )
    found = related_in(f'{feeds}<link rel=alternate hreflang=de href="/de"><link rel=next href="/2">')
    assert found == [
        *(Related(FEED, f"/feed/{number}") for number in range(MAX_RELATED)),
        Related(f"{LANGUAGE}de", "/de"),
    ]
