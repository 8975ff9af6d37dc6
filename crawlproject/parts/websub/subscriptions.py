"""The subscriptions of a crawl: hubs report that a feed has changed (WebSub), and the crawl learns for each host what that is
worth.

The content of a delivery is not read. A delivery makes the feed due, which is then fetched as usual. So nobody can put text or
links into a crawl, and politeness, rates and history hold. A host whose deliveries bring no news is believed no more; its feeds
are read at their intervals, and what these readings show may restore the belief.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crawlproject.core.part import Setup
from crawlproject.parts.listings.listing import MAX_LENGTH, NO_LINKS, HubLinks, Listing
from crawlproject.parts.revisits.options import RevisitOptions
from crawlproject.parts.revisits.rereads import FeedNotices, FeedReading, Rereads
from crawlproject.parts.websub.deliveries import PAUSE, Deliveries, SignedBody
from crawlproject.parts.websub.options import WebsubOptions
from crawlproject.parts.websub.subscription import HOUR, LONGEST, Subscription, SubscriptionLog, read_subscriptions
from crawlproject.records import REREADS, CrawlUrl, Fetch
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.urls.hosts import host_of
from crawlproject.urls.resolve import absolute, cleaned

SUBSCRIBE = "subscribe"  # kind of URL: a request to a hub to report changes of a feed
MOST = 10_000  # subscriptions of a crawl
_FAILURES = 5  # of a hub in a row, for any feeds, before it rests
_REST = 86_400.0  # seconds
_MAX_HEADER = 16_384  # characters that are read
_QUOTED = r'"(?:[^"\\]|\\.){0,1000}+"'
_LINK = re.compile(rf'<([^<>]*)>((?:[^",<]|{_QUOTED})*+)')  # RFC 8288 section 3
_PARAMETER = re.compile(rf';\s*(\w+)\s*=\s*({_QUOTED}|[^\s;"]+)')


class Subscriptions(FeedNotices):
    """``setup.token`` makes unguessable texts. Methods that change something raise ``StorageFailed`` when the disk fails.

    Each subscription waits in the frontier for its next request, as the kind ``SUBSCRIBE``.
    """

    def __init__(self, setup: Setup, rereads: Rereads) -> None:
        assert setup.token is not None, "without unguessable texts no hub is asked"
        folder, options = setup.folder, setup.options
        self._frontier = frontier = setup.frontier
        self._canonicalize = setup.canonicalize
        self._token = setup.token
        self._callback = options.of(WebsubOptions).crawl_websub_callback.rstrip("/") + "/"
        self._failures: dict[str, int] = {}  # host of a hub -> failures in a row
        self._rests: dict[str, float] = {}
        self._by_path = {each.path: each for each in read_subscriptions(folder.path)}
        for known in self._by_path.values():
            self._resume(known)
        self._by_feed = {each.feed: each for each in self._by_path.values() if not each.leaving}
        self._by_number = {each.number: each for each in self._by_path.values()}
        self._last_number = max(self._by_number, default=0)
        self._log = SubscriptionLog(folder.path, self._by_path.values())
        folder.beside.append(self._log)
        pause = max(1.0, min(PAUSE, options.of(RevisitOptions).crawl_revisit_min))
        self._deliveries = Deliveries(self._by_path.values(), frontier, rereads, self._log.note, pause)

    def _resume(self, known: Subscription) -> None:
        callback = self._callback + known.path
        if known.callback != callback:
            known.callback, known.ends, known.due = callback, 0.0, 0.0
        if known.asked and not known.ends and not known.rounds:  # the hub may have called while no crawl listened
            known.due = 0.0
        known.accepted = False

    def __len__(self) -> int:
        return len(self._by_path)

    def begin(self, now: float) -> None:
        """Let each subscription wait for its next request, as the crawl starts or resumes."""
        for known in list(self._by_path.values()):
            if max(known.ends, known.due) > now + LONGEST:  # the clock was set back: nobody knows when the lease ends
                known.ends, known.due = 0.0, now
            record = self._record(known)
            if not self._frontier.put(record) and not self._frontier.hold(record.key, known.due):
                self._put(known)

    # ------------------------------------------------------------ feeds

    def listed(self, url: str, header: str, found: Listing, now: float) -> None:
        """Subscribe, if the feed names hubs. Its header has precedence over its text."""
        if found.entries or found.links.hubs:
            named = links_in_header(header)
            self._discovered(url, named if named.hubs else found.links, now)

    def _discovered(self, feed: str, links: HubLinks, now: float) -> None:
        found = (canonical_or_none(self._canonicalize, hub, feed) for hub in links.hubs)
        hubs = list(dict.fromkeys(hub for hub in found if hub))
        topic, known = _topic(links.topic, feed), self._by_feed.get(feed)
        if known is not None and known.topic == topic and set(known.hubs) == set(hubs):
            return
        self.left(feed, now)
        if hubs and len(self) < MOST:
            path, secret = self._token(), self._token()
            new = Subscription(feed, topic, hubs, self._callback + path, path, secret, due=now)
            self._by_path[path] = self._by_feed[feed] = new
            self._put(new)

    def left(self, url: str, now: float) -> None:
        """End the subscription of a feed that no longer names its hub, or is no longer read: a hub with a lease is told."""
        known = self._by_feed.pop(url, None)
        if known is not None and known.leave(now):
            self._keep_on(known)
        elif known is not None:
            self._forget(known)

    def was_read(self, url: str, fetch: Fetch, *, news: bool) -> FeedReading:
        known = self._by_feed.get(url)
        return FeedReading() if known is None else self._deliveries.was_read(known, fetch, news=news)

    # ------------------------------------------------------------ requests to hubs

    def wants(self, url: CrawlUrl) -> bool:
        """Whether a waiting request should still be sent."""
        return self._of(url) is not None

    def turn(self, url: CrawlUrl, now: float) -> float:
        """When a request whose turn has come may be sent; ``now`` or earlier: at once."""
        known = self._of(url)
        if known is not None and known.accepted and known.due <= now:  # the hub has not verified
            self._failed(known, now)
        known = self._of(url)
        return now + HOUR if known is None else max(known.due, self._rests.get(host_of(known.hub), 0.0))

    def form(self, url: CrawlUrl) -> str:
        """The body of a request, which is sent now."""
        known = self._of(url)
        if known is None:
            return ""
        if not known.asked:
            known.asked = True
            self._log.note(known)
        return known.form()

    def ended(self, url: CrawlUrl, fetch: Fetch, *, accepted: bool = False, target: str = "") -> None:
        """End the lease of a request: the hub accepts it, redirects it to ``target``, or neither."""
        known = self._of(url)
        moved = canonical_or_none(self._canonicalize, target, url.url) if target else None
        if known is not None and accepted:
            known.was_accepted(fetch.at)
            self._log.note(known)
        elif known is not None and moved:
            known.moved(moved, fetch.at)
            self._put(known)
        elif known is not None:
            self._failed(known, fetch.at)
        known = self._of(url)
        due = None if known is None else known.due
        self._frontier.done(url.key, fetch.rests_from, fetch.seconds, refetch_at=due)

    def refused(self, url: CrawlUrl, now: float, *, unreachable: bool) -> None:
        """End the lease of a request without a fetch: the hub must not be asked, or its robots.txt does not arrive."""
        known = self._of(url)
        if known is not None:
            self._failed(known, now)
        known = self._of(url)
        if known is not None:
            self._frontier.hold(url.key, known.due)
        else:
            self._frontier.drop(url.key, picked=unreachable)

    # ------------------------------------------------------------ what hubs say

    def challenge(self, path: str, query: Mapping[str, str], now: float) -> str | None:
        """Handle a verification or a denial by a hub. Returns the text of the answer; None if it was not asked for."""
        known = self._by_path.get(path)
        before = self._record(known) if known else None
        if known is None or before is None or not known.heard(query, now):
            return None
        if known.leaving:
            self._forget(known)
        elif known.is_live(now):
            self._failures.pop(host_of(known.hub), None)
            self._rests.pop(host_of(known.hub), None)
            self._keep_on(known)
        else:
            self._lost(known, before, now)
        return query.get("hub.challenge", "")

    def signed(self, path: str, header: str) -> SignedBody | None:
        """The check to which the body of a delivery is added; None if there is no such subscription."""
        known = self._by_path.get(path)
        return None if known is None else SignedBody(header, known.secret)

    def delivered(self, path: str, body: SignedBody, now: float) -> bool:
        """Handle a complete delivery; return whether it counts. Then its feed is due, if its host is believed."""
        known = self._by_path.get(path)
        if known is None or not known.is_live(now) or not body.is_valid:
            return False
        self._deliveries.came(known, now)
        return True

    # ------------------------------------------------------------ inside

    def _of(self, url: CrawlUrl) -> Subscription | None:
        """The subscription of a record in the frontier."""
        known = self._by_number.get(int(url.variant))
        return known if known is not None and known.hub == url.url else None

    @staticmethod
    def _record(known: Subscription) -> CrawlUrl:
        number = str(known.number)
        return CrawlUrl(
            known.hub, 0.0, 1, known.feed, not_before=known.due, kind=SUBSCRIBE, variant=number, precedence=REREADS
        )

    def _put(self, known: Subscription) -> None:
        """Put the next request in the frontier, under a number that the frontier does not know."""
        self._by_number.pop(known.number, None)
        known.number = self._last_number + 1
        while self._record(known).key in self._frontier:
            known.number += 1
        self._last_number = known.number
        self._by_number[known.number] = known
        self._log.note(known)
        self._frontier.put(self._record(known))

    def _keep_on(self, known: Subscription) -> None:
        """Let the same request wait for another time; if it is under way, ``ended`` does so."""
        self._log.note(known)
        key = self._record(known).key
        if self._frontier.leased(key) is None:
            self._frontier.hold(key, known.due)

    def _failed(self, known: Subscription, now: float) -> None:
        if known.leaving:
            self._forget(known)
            return
        before, host = self._record(known), host_of(known.hub)
        self._failures[host] = self._failures.get(host, 0) + 1
        if self._failures[host] >= _FAILURES:
            self._rests[host] = now + _REST
        known.failed(now)
        self._lost(known, before, now)

    def _lost(self, known: Subscription, before: CrawlUrl, now: float) -> None:
        """The request that was recorded as ``before`` has failed: let the next one wait."""
        if known.hub == before.url:
            self._keep_on(known)
        else:
            self._end(before.key)
            self._put(known)
        if not known.is_live(now):
            self._deliveries.stopped(known.feed, now)

    def _forget(self, known: Subscription) -> None:
        del self._by_path[known.path]
        self._by_number.pop(known.number, None)
        self._log.forget(known)
        self._end(self._record(known).key)

    def _end(self, key: str) -> None:
        if self._frontier.leased(key) is None:
            self._frontier.drop(key)


def links_in_header(header: str) -> HubLinks:
    """The hubs and topic in the ``Link`` headers of a response, joined by commas. Any text gives an answer."""
    found = NO_LINKS
    for href, parameters in _LINK.findall(header[:_MAX_HEADER]):
        named = {
            name.lower(): value for name, value in reversed(_PARAMETER.findall(parameters))
        }  # the first of a name counts
        found = found.with_link(named.get("rel", "").strip('"'), href.strip())
    return found


def _topic(said: str, feed: str) -> str:
    """The URL by which the hub knows a feed."""
    topic = absolute(cleaned(said), feed) if said else feed
    is_url = topic.startswith(("http://", "https://")) and topic.isprintable() and " " not in topic
    return topic if is_url and len(topic) <= MAX_LENGTH else feed
