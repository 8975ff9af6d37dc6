"""Feeds with hubs in a crawl: requests to hubs, effects of deliveries, and effects that deliveries can never have."""

from __future__ import annotations

import json
import stat
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.hub import (
    CALLBACK,
    FEED,
    FRONT,
    HUB,
    SETTINGS,
    HubbedWeb,
    News,
    in_process,
    news_crawl,
    signature,
    subscriptions,
)
from support.parts import revisits_of
from support.timedcrawl import DAY, TimedCrawl

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.errors import BadCrawlDir, BadSetting
from crawlproject.parts.websub.deliveries import STRETCH
from crawlproject.parts.websub.subscription import HOUR, NAME, WEEK, read_subscriptions
from crawlproject.parts.websub.subscriptions import SUBSCRIBE
from crawlproject.parts.websub.why import subscription_sentences
from crawlproject.records import CrawlUrl, Reply, Topic
from crawlproject.storage.read import read_visits

OTHER = "http://other.example/hub"
# For tests over days and months, in which pages matter only in that they must not crowd out the feed.
RARELY: dict[str, Any] = {"CRAWL_REVISIT_MIN": DAY / 2}


class Subscribed:
    """A one-hour-old crawl of the news, and its web."""

    def __init__(self, folder: Path, news: News | None = None, **asked: Any) -> None:
        hubs = asked.pop("hubs", None)
        self.folder = folder
        self.news = news or News(HUB)
        self.web = HubbedWeb(self.news, in_process(lambda: self.crawl), hubs=hubs)
        self.crawl: TimedCrawl
        self.begin(**asked)

    def begin(self, seconds: float = HOUR, **asked: Any) -> None:
        now = self.crawl.now if hasattr(self, "crawl") else None
        self.crawl = news_crawl(self.folder, self.web, **({} if now is None else {"now": now}), **asked)
        self.crawl.run(seconds)

    def readings(self, since: float = 0.0) -> list[float]:
        return [at for at, url, _, _ in self.crawl.asked if url == FEED and at >= since]

    def modes(self) -> list[tuple[str, str]]:
        return [(hub, form["hub.mode"]) for hub, form in self.web.asked]

    def publish(self, articles: int = 1, **how: Any) -> list[int]:
        self.news.articles += articles
        return self.web.publish(**how)


def test_a_crawl_subscribes_to_a_feed_that_names_a_hub(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    assert found.modes() == [(HUB, "subscribe")]
    (form,) = found.web.live.values()
    assert form["hub.topic"] == FEED and form["hub.callback"].startswith(CALLBACK)
    assert not any(url.startswith(HUB) for url in (visit.url for visit in read_visits(tmp_path))), "not in the history"
    found.crawl.close()
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    telling = [
        path for path in tmp_path.rglob("*") if path.is_file() and form["hub.secret"].encode() in path.read_bytes()
    ]
    assert telling == [tmp_path / NAME], "the secret is nowhere else"


@pytest.mark.parametrize(
    ("news", "topic", "hub"),
    [
        (News("/hub", topic="/other.xml"), "http://news.example/other.xml", "http://news.example/hub"),
        (News(OTHER, header=f'<{HUB}>; rel="hub", <http://t.example/x>; rel=self'), "http://t.example/x", HUB),
        (News(HUB, header="<http://t.example/x>; rel=self"), FEED, HUB),
        (News(HUB, topic=""), FEED, HUB),
        (News("javascript:x", "ftp://x/", "", HUB, topic="data:x"), FEED, HUB),
    ],
)
def test_which_hub_is_asked_for_which_topic(tmp_path: Path, news: News, topic: str, hub: str) -> None:
    found = Subscribed(tmp_path, news, hubs={HUB: 202, OTHER: 202, "http://news.example/hub": 202})
    assert [(url, form["hub.topic"]) for url, form in found.web.asked] == [(hub, topic)]


def test_a_delivery_makes_the_feed_due_and_brings_the_new_page(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    published = found.crawl.now
    assert found.publish() == [202]
    found.crawl.run(30.0)
    assert found.readings(published) == [published]
    assert found.news.article(3) in {visit.url for visit in read_visits(tmp_path) if visit.md5}


def test_nothing_of_a_delivery_is_read(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    evil = b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://evil.example/"/></entry></feed>'
    found.web.publish(evil)
    found.crawl.run(DAY)
    assert not any("evil" in url for _, url, _, _ in found.crawl.asked)


def state(found: Subscribed) -> tuple[Any, ...]:
    """All state that a delivery could change."""
    frontier = found.crawl.crawl.frontier
    waiting = sorted((url.key, url.not_before, url.score) for url in frontier.waiting())
    files = [path.read_bytes() for path in sorted((found.folder / "frontier").iterdir())]
    return (found.folder / NAME).read_bytes(), files, waiting


def deliver(found: Subscribed, path: str, header: str, body: bytes) -> bool:
    known = subscriptions(found.crawl)
    signed = known.signed(path, header)
    if signed is None:
        return False
    signed.add(body)
    return known.delivered(path, signed, found.crawl.now)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_delivery_without_a_valid_signature_changes_anything(tmp_path: Path, data: st.DataObject) -> None:
    found = _shared(tmp_path)
    (known,) = read_subscriptions(found.folder)
    body = data.draw(st.binary(max_size=40))
    right = signature(known.secret, body)
    forged = st.sampled_from(
        ["", "sha256", "sha256=", right[:-1], right.replace("sha256", "sha512"), signature("guess", body), right + "0",
         signature(known.secret, body + b"x"), signature(known.path, body), "md5=" + right, "=" + right]
    )  # fmt: skip
    header = data.draw(st.one_of(forged, st.text(max_size=80)))
    path = data.draw(st.sampled_from([known.path, known.path[:-1], "", "x"]))
    before = state(found)
    assert not deliver(found, path, header, body) and state(found) == before


_found: dict[Path, Subscribed] = {}


def _shared(folder: Path) -> Subscribed:
    if folder not in _found:
        _found[folder] = Subscribed(folder)
    return _found[folder]


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_challenge_is_only_answered_for_what_was_asked(tmp_path: Path, data: st.DataObject) -> None:
    found = _shared(tmp_path)
    (known,) = read_subscriptions(found.folder)
    path = data.draw(st.sampled_from([known.path, known.path + "x", "", known.secret]))
    query = {
        "hub.mode": data.draw(st.sampled_from(["unsubscribe", "publish", "", "subscribe", "SUBSCRIBE"])),
        "hub.topic": data.draw(st.sampled_from([FEED, FEED + "?", FRONT, "", "http://evil.example/"])),
        "hub.challenge": data.draw(st.sampled_from(["", "x", "<script>"])),
    }
    right = (
        path == known.path
        and query["hub.mode"] == "subscribe"
        and query["hub.topic"] == FEED
        and query["hub.challenge"]
    )
    before = state(found)
    said = subscriptions(found.crawl).challenge(path, query, found.crawl.now)
    assert said == (query["hub.challenge"] if right else None)
    assert right or state(found) == before


def test_before_the_verification_and_after_the_lease_deliveries_do_not_count(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 202}, **RARELY)
    (known,) = read_subscriptions(tmp_path)
    assert deliver(found, known.path, signature(known.secret, b"x"), b"x")
    found.web.verifies = False
    found.crawl.run(11 * DAY)
    assert not deliver(found, known.path, signature(known.secret, b"x"), b"x")


def test_a_hub_that_shouts_is_heard_once_a_minute(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, CRAWL_RATE=10_000.0, CRAWL_MAX_PAGES=1_000)
    began = found.crawl.now
    for _ in range(600):
        found.publish()
        found.crawl.run(1.0)
    readings = found.readings(began)
    assert 5 <= len(readings) <= 11
    assert min(later - earlier for earlier, later in pairwise(readings)) >= 59.9


def test_a_hub_without_news_is_believed_no_more_and_may_be_again(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, **RARELY)
    began = found.crawl.now
    for _ in range(100):
        found.web.publish()
        found.crawl.run(600.0)
    assert len(found.readings(began)) == 2, "and none at once after that"
    for _ in range(12):
        found.publish()
        found.crawl.run(DAY)
    published = found.crawl.now
    found.publish()
    found.crawl.run(60.0)
    assert found.readings(published) == [published], "readings in its interval have shown that it was right"


def test_a_feed_that_cannot_be_read_says_nothing_about_its_hub(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.news.gone = True
    for _ in range(5):
        found.web.publish()
        found.crawl.run(600.0)
    (known,) = read_subscriptions(tmp_path)
    assert (known.true, known.false) == (0, 0)


def test_a_delivery_that_comes_while_the_feed_is_read_is_not_lost(tmp_path: Path) -> None:
    class Late(News):
        """Publishes once more while its feed is being fetched."""

        late = False

        def get(self, url: str) -> Reply:
            reply = super().get(url)
            if self.late and url == FEED:
                self.late = False
                found.crawl.now += 0.05
                found.publish()
                found.crawl.now -= 0.05
            return reply

    news = Late(HUB)
    found = Subscribed(tmp_path, news)
    news.late = True
    found.publish()
    began = found.crawl.now
    found.crawl.run(200.0)
    assert len(found.readings(began)) == 2
    assert found.news.article(4) in {visit.url for visit in read_visits(tmp_path) if visit.md5}
    (known,) = read_subscriptions(tmp_path)
    assert (known.true, known.false) == (1, 0)


def test_a_feed_that_a_hub_speaks_for_is_read_less_often_until_it_is_silent(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, **RARELY)
    found.publish()
    found.crawl.run(60.0)
    last = found.readings()[-1]
    found.crawl.run(8 * DAY)
    first = found.readings(last + 1.0)[0]
    assert first - last == pytest.approx(STRETCH * DAY, abs=60.0)
    found.news.articles += 1  # no hub delivers
    found.crawl.run(40 * DAY)
    missed, *later = [at for at, url, _, status in found.crawl.asked if url == FEED and status == 200 and at > first]
    intervals = [at - missed for at in found.readings(missed + 1.0)]
    assert intervals[0] < 2 * DAY and not later, "news without a delivery: its own interval again"


def test_when_the_lease_is_lost_the_interval_goes_back(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, **RARELY)
    found.publish()
    found.crawl.run(60.0)
    last = found.readings()[-1]
    assert found.web.deny(found.web.asked[0][1]) == 200
    found.crawl.run(3 * DAY)
    assert found.readings(last + 1.0)[0] - last == pytest.approx(DAY, abs=120.0)


def test_a_lease_is_renewed_with_the_same_callback_before_it_ends(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, **RARELY)
    found.web.lease = str(5 * DAY)
    found.crawl.run(30 * DAY)
    assert 4 <= len(found.web.asked) <= 8
    assert len({form["hub.callback"] for _, form in found.web.asked}) == 1 == len(found.web.live)
    (known,) = read_subscriptions(tmp_path)
    assert known.is_live(found.crawl.now)


@pytest.mark.parametrize(
    ("status", "then"), [(500, OTHER), (404, OTHER), (200, HUB), (307, HUB), (308, HUB), (302, OTHER)]
)
def test_the_first_hub_that_accepts(tmp_path: Path, status: int, then: str) -> None:
    first = "http://first.example/"
    found = Subscribed(tmp_path, News(first, OTHER), hubs={first: status, HUB: 202, OTHER: 202})
    asked = [hub for hub, _ in found.web.asked]
    assert asked == ([first] if status == 200 else [first, then])


def test_a_hub_that_does_not_verify_is_given_up_after_an_hour(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, News(OTHER, HUB), hubs={OTHER: 202, HUB: 202})
    found.web.live.clear()
    other = Subscribed(tmp_path / "other", News(OTHER, HUB), hubs={OTHER: 200, HUB: 202})
    other.crawl.run(2 * HOUR)
    assert [hub for hub, _ in other.web.asked] == [OTHER, HUB] and len(other.web.live) == 1


def test_a_hub_that_fails_is_left_alone_more_and_more(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 503}, **RARELY)
    found.crawl.run(30 * DAY)
    assert len(found.web.asked) <= 12


class Twenty(News):
    """The news at twenty hosts."""

    def get(self, url: str) -> Reply:
        host = url.split("/")[2]
        site = News(*self.hubs, front=f"http://{host}/")
        return site.get(url) if host.endswith(".many.example") else super().get(url)


def many_feeds(folder: Path, status: int) -> tuple[TimedCrawl, HubbedWeb]:
    web = HubbedWeb(Twenty(HUB), in_process(lambda: crawl), hubs={HUB: status})
    seeds = tuple(f"http://h{number}.many.example/" for number in range(20))
    numbers = iter(range(1_000))
    crawl = TimedCrawl(Topic("reef", ("reef",), seeds), folder, web, token=lambda: f"token{next(numbers)}", **SETTINGS)
    return crawl, web


def test_feeds_cannot_make_a_crawl_ask_a_stranger_again_and_again(tmp_path: Path) -> None:
    crawl, web = many_feeds(tmp_path, 404)
    crawl.run(DAY)
    assert len(read_subscriptions(tmp_path)) == 20
    assert len(web.asked) == 5, "of 20 feeds that name it"


def test_a_hub_that_accepts_is_asked_for_all_feeds_but_for_no_more_than_fit(tmp_path: Path) -> None:
    with mock.patch("crawlproject.parts.websub.subscriptions.MOST", 12):
        crawl, web = many_feeds(tmp_path, 202)
        crawl.run(DAY)
    assert len(web.live) == 12 == len(web.asked)


def test_a_hub_out_of_scope_is_not_asked(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, CRAWL_ALLOWED_DOMAINS="news.example")
    found.crawl.run(2 * DAY)
    assert not found.web.asked


def asked_next(found: Subscribed) -> CrawlUrl:
    """Take the next request to the hub, which is then in progress."""
    crawl = found.crawl.crawl
    found.crawl.run(HOUR)
    while (url := crawl.take(found.crawl.now)) is None or url.url != HUB:
        if url is not None:
            crawl.frontier.release(url.key, found.crawl.now, 0.1, not_before=found.crawl.now + DAY)
        found.crawl.now += 60.0
    return url


def test_a_hub_is_asked_without_a_login(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 503})
    plan = found.crawl.crawl.plan(asked_next(found))
    assert plan.post is not None and plan.without_login


def test_a_hub_that_robots_txt_forbids_is_asked_for_again_later(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 503})
    crawl, url = found.crawl.crawl, asked_next(found)
    crawl.refuse(url, "robots/disallowed")
    record = next(record for record in crawl.frontier.waiting() if record.url == HUB)
    assert found.crawl.now + HOUR <= record.not_before <= found.crawl.now + WEEK


def test_a_feed_that_changes_its_hub_gives_the_old_lease_back(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 202, OTHER: 202})
    found.news.hubs = (OTHER,)
    found.publish()
    found.crawl.run(60.0)
    assert found.modes()[1:] in (
        [(HUB, "unsubscribe"), (OTHER, "subscribe")],
        [(OTHER, "subscribe"), (HUB, "unsubscribe")],
    )
    assert len(found.web.live) == 1 == len(read_subscriptions(tmp_path))
    assert found.publish() == [202]


def test_a_page_in_place_of_a_feed_changes_nothing(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    with mock.patch.object(found.news, "_feed", return_value=b"<html><p>back soon</p></html>"):
        found.publish()
        found.crawl.run(60.0)
    assert found.modes() == [(HUB, "subscribe")] and len(found.web.live) == 1


def test_a_resumed_crawl_goes_on_with_its_lease(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.crawl.close()
    found.begin()
    assert len(found.web.asked) == 1
    published = found.crawl.now
    assert found.publish() == [202]
    found.crawl.run(60.0)
    assert found.readings(published) == [published]


def test_a_lease_that_ends_too_late_to_be_true_is_asked_for_anew(tmp_path: Path) -> None:
    """The clock was set back by more than a year."""
    found = Subscribed(tmp_path)
    found.crawl.close()
    found.crawl.now -= 400 * DAY
    found.begin()
    assert found.modes() == [(HUB, "subscribe")] * 2


def test_a_crawl_with_another_address_subscribes_anew(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.crawl.close()
    found.begin(CRAWL_WEBSUB_CALLBACK="https://elsewhere.example/hook")
    assert [form["hub.callback"].rpartition("/")[0] for _, form in found.web.asked] == [
        CALLBACK.rstrip("/"),
        "https://elsewhere.example/hook",
    ]


def test_a_crawl_may_go_on_without_hubs_and_with_them_again(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, **RARELY)
    found.crawl.close()
    found.begin(CRAWL_WEBSUB_CALLBACK="", **RARELY)
    found.crawl.run(12 * DAY).close()
    assert len(found.web.asked) == 1
    found.begin()
    assert len(found.web.asked) == 2 and len(found.web.live) == 1
    assert revisits_of(found.crawl.crawl) is not None and not revisits_of(found.crawl.crawl).has_new()


def test_what_was_learned_of_a_host_outlives_the_run(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    for _ in range(2):
        found.web.publish()
        found.crawl.run(600.0)
    found.crawl.close()
    found.begin()
    published = found.crawl.now
    found.web.publish()
    found.crawl.run(600.0)
    assert not found.readings(published), "it had delivered without news"


def test_a_feed_that_names_a_hub_again_in_a_later_run_is_subscribed_to_again(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.news.hubs = ()
    found.publish()
    found.crawl.run(HOUR)
    assert not found.web.live and not read_subscriptions(tmp_path)
    found.crawl.close()
    found.begin()
    found.news.hubs = (HUB,)
    found.news.articles += 1
    found.crawl.run(4 * DAY)
    assert found.modes() == [(HUB, "subscribe"), (HUB, "unsubscribe"), (HUB, "subscribe")] and found.web.live


def test_a_request_that_was_not_verified_before_the_end_is_sent_again(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, hubs={HUB: 200}, seconds=60.0)
    found.crawl.close()
    found.web.hubs[HUB] = 202
    resumed = found.crawl.now
    found.begin()
    assert found.web.live and [at - resumed < 60.0 for at, url, _, _ in found.crawl.asked if url == HUB] == [True]


def test_a_denied_lease_leaves_one_request(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, News(HUB, OTHER), hubs={HUB: 202, OTHER: 202})
    found.web.deny(found.web.asked[0][1])
    waiting = [url.url for url in found.crawl.crawl.frontier.waiting() if url.kind == SUBSCRIBE]
    assert waiting == [OTHER]
    found.crawl.run(60.0)
    assert found.modes() == [(HUB, "subscribe"), (OTHER, "subscribe")]


def test_a_feed_that_may_not_be_read_any_more_gives_its_lease_back(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.web.publish()
    while (url := found.crawl.crawl.take(found.crawl.now)) is None or url.url != FEED:
        assert url is None, "the feed is the first"
        found.crawl.now += 1.0
    found.crawl.crawl.refuse(url, "robots/disallowed")
    found.crawl.run(60.0)
    assert found.modes() == [(HUB, "subscribe"), (HUB, "unsubscribe")] and not found.web.live


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    found.crawl.close()
    for line in ('{"path": "x", "feed": "y"}', "[1]", "{"):
        (tmp_path / NAME).write_text(f"{line}\n")
        with pytest.raises(BadCrawlDir, match=NAME):
            read_subscriptions(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ends": "soon"},
        {"ends": 1e300},
        {"due": None},
        {"true": "1"},
        {"hub": 3},
        {"hubs": []},
        {"hubs": [1]},
        {"told": 1},
    ],
)
def test_a_field_of_the_wrong_type_is_damage(tmp_path: Path, wrong: dict[str, object]) -> None:
    found = Subscribed(tmp_path)
    found.crawl.close()
    line = json.loads((tmp_path / NAME).read_text().splitlines()[-1])
    (tmp_path / NAME).write_text(f"{json.dumps({**line, **wrong})}\n")
    with pytest.raises(BadCrawlDir, match=NAME):
        list(subscription_sentences(tmp_path, FEED, found.crawl.now))


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    found = Subscribed(tmp_path)
    known = subscriptions(found.crawl)
    (first,) = read_subscriptions(tmp_path)
    for _ in range(3_000):
        known._log.note(first)
    assert len((tmp_path / NAME).read_text().splitlines()) <= 1_020
    assert json.loads((tmp_path / NAME).read_text().splitlines()[-1])["path"] == first.path


@pytest.mark.parametrize(
    ("wrong", "wish"), [({"CRAWL_REVISIT": ""}, "CRAWL_REVISIT"), ({"CRAWL_FEEDS": 0}, "CRAWL_FEEDS")]
)
def test_settings_that_do_not_go_together(tmp_path: Path, wrong: dict[str, Any], wish: str) -> None:
    options = read_options({**SETTINGS, **wrong})
    with pytest.raises(BadSetting, match=f"CRAWL_WEBSUB_CALLBACK.*{wish}"):
        assemble(Topic("t", ("reef",), (FRONT,)), options, clock=lambda: 1.0, folder=tmp_path, token=lambda: "x")


@pytest.mark.parametrize(
    "callback", ["crawler.example", "ftp://x/", "https://x/?a=b", "https://x/#a", "https://u:p@x/", "http://"]
)
def test_addresses_that_are_none(callback: str) -> None:
    with pytest.raises(BadSetting, match="CRAWL_WEBSUB_CALLBACK"):
        read_options({"CRAWL_WEBSUB_CALLBACK": callback})


def test_rounds_and_rehearsals_ask_no_hub(tmp_path: Path) -> None:
    found = Subscribed(tmp_path, CRAWL_REVISIT_ROUND=50)
    assert not found.web.asked and not (tmp_path / NAME).exists()
