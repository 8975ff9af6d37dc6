"""``scrapy why`` shows for a feed the requests to its hub."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

from support.hub import FEED, HUB, HubbedWeb, News, in_process, news_crawl
from support.timedcrawl import DAY

from crawlproject.adapters.explanation import explain
from crawlproject.parts.websub.subscription import SubscriptionLog, read_subscriptions
from crawlproject.parts.websub.why import subscription_sentences


def test_what_is_said_of_a_feed(tmp_path: Path) -> None:
    web = HubbedWeb(News(HUB), in_process(lambda: crawl))
    crawl = news_crawl(tmp_path, web)
    crawl.run(3600.0)
    web.publish()
    crawl.run(60.0).close()
    (said,) = subscription_sentences(tmp_path, FEED, crawl.now)
    assert said.startswith(f"The hub {HUB} reports its changes until 2023-") and "0 of 1 readings" in said
    assert not list(subscription_sentences(tmp_path, HUB, crawl.now))
    (said,) = subscription_sentences(tmp_path, FEED, crawl.now + 9.5 * DAY)
    assert "reports its changes" in said
    (said,) = subscription_sentences(tmp_path, FEED, crawl.now + 20 * DAY)
    assert "does not report its changes; it is asked now" in said
    stream = StringIO()
    explain(tmp_path, FEED, stream, agent="tests")
    assert HUB in stream.getvalue()
    (known,) = read_subscriptions(tmp_path)
    SubscriptionLog(tmp_path, [replace(known, leaving=True)]).close()
    (said,) = subscription_sentences(tmp_path, FEED, crawl.now)
    assert "asked to stop reporting" in said
