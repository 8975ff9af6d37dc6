"""A small WebSub hub: it takes subscriptions by POST, verifies them, and sends signed deliveries."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from crawlproject.parts.websub.part import WebsubPart
from crawlproject.parts.websub.subscriptions import Subscriptions
from crawlproject.records import Reply, Topic
from crawlproject.urls.post import post_of
from support.timedcrawl import TimedCrawl

HUB = "http://hub.example/"
FEED = "http://news.example/feed.xml"
FRONT = "http://news.example/"
CALLBACK = "https://crawler.example/websub/"
Form = Mapping[str, str]


class Caller(Protocol):
    """Sends a request to a callback; returns the status and the text of the response."""

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]: ...


class HubbedWeb:
    """``web`` and its hubs: each hub answers POST with its status, and verifies if that is 202."""

    warnings: Sequence[str] = ()

    def __init__(self, web: Any, call: Caller, *, hubs: Mapping[str, int] | None = None, later: bool = False) -> None:
        self.web = web
        self.hubs = dict(hubs or {HUB: 202})
        self.asked: list[tuple[str, dict[str, str]]] = []  # each hub with the form it received
        self.live: dict[str, dict[str, str]] = {}  # by callback
        self.lease = "864000"
        self.verifies = True
        self._call = call
        self._later = later

    def get(self, url: str) -> Reply:
        post = post_of(url)
        if post is None:
            return self.web.get(url)
        form = dict(parse_qsl(post.body))
        self.asked.append((post.url, form))
        status = self.hubs[post.url]
        if status == 202 and self.verifies:
            if self._later:
                threading.Thread(target=self._verify_later, args=(form,), daemon=True).start()
            else:
                self.verify(form)
        headers = {"location": HUB} if 300 <= status < 400 else {}
        return Reply(post.url, status, headers, b"")

    def __contains__(self, url: str) -> bool:
        post = post_of(url)
        return post.url in self.hubs if post else url in self.web

    def urls(self) -> Iterator[str]:
        return iter(self.web.urls())

    def close(self) -> None:
        """Nothing is held open."""

    def _verify_later(self, form: Form) -> None:
        time.sleep(0.3)  # a hub responds before it verifies
        self.verify(form)

    def verify(self, form: Form, challenge: str = "a challenge & more") -> bool:
        """Whether the subscriber confirms; if so, it is subscribed or unsubscribed."""
        mode = form["hub.mode"]
        query = {"hub.mode": mode, "hub.topic": form["hub.topic"], "hub.challenge": challenge}
        if mode == "subscribe":
            query["hub.lease_seconds"] = self.lease
        status, text = self._call("GET", f"{form['hub.callback']}?{urlencode(query)}", {}, b"")
        if (status, text) != (200, challenge):
            return False
        if mode == "subscribe":
            self.live[form["hub.callback"]] = dict(form)
        else:
            self.live.pop(form["hub.callback"], None)
        return True

    def deny(self, form: Form) -> int:
        query = urlencode({"hub.mode": "denied", "hub.topic": form["hub.topic"], "hub.reason": "no"})
        return self._call("GET", f"{form['hub.callback']}?{query}", {}, b"")[0]

    def publish(self, body: bytes = b"<feed/>", method: str = "sha256", only: str = "") -> list[int]:
        """Deliver to all subscribers, or those of one topic; return the statuses of their responses."""
        found = []
        for callback, form in list(self.live.items()):
            if only and form["hub.topic"] != only:
                continue
            headers = {"X-Hub-Signature": signature(form["hub.secret"], body, method)}
            found.append(self._call("POST", callback, headers, body)[0])
        return found


def signature(secret: str, body: bytes, method: str = "sha256") -> str:
    return f"{method}={hmac.new(secret.encode(), body, method).hexdigest()}"


def over_http(method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
    """Send over a socket; the status is 0 if no server is there."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(Request(url, body or None, dict(headers), method=method), timeout=20) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


def in_process(crawl: Callable[[], TimedCrawl]) -> Caller:
    """Send without a socket, at the time of a timed crawl."""

    def call(method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        known, now = subscriptions(crawl()), crawl().now
        place, _, query = url.partition("?")
        path = place.rpartition("/")[2]
        if method == "GET":
            challenge = known.challenge(path, dict(parse_qsl(query)), now)
            return (404, "") if challenge is None else (200, challenge)
        signed = known.signed(path, headers.get("X-Hub-Signature", ""))
        if signed is None:
            return 404, ""
        signed.add(body)
        known.delivered(path, signed, now)
        return 202, ""

    return call


def subscriptions(crawl: TimedCrawl) -> Subscriptions:
    part = crawl.crawl.part(WebsubPart)
    assert part is not None
    return part.subscriptions


class News:
    """A site whose front page names a feed of the articles so far; the feed names ``hubs``. Its pages have entity tags."""

    warnings: Sequence[str] = ()

    def __init__(self, *hubs: str, header: str = "", topic: str | None = None, front: str = FRONT) -> None:
        self.articles = 3
        self.front = front
        self.feed = f"{front}feed.xml"
        self.hubs = hubs
        self.header = header
        self.topic = self.feed if topic is None else topic
        self.gone = False
        self.robots: dict[str, bytes] = {}  # by URL

    def article(self, number: int) -> str:
        return f"{self.front}{number}"

    def get(self, url: str) -> Reply:
        html = {"content-type": "text/html; charset=utf-8", "etag": f'"{url}"'}
        if url in self.robots:
            return Reply(url, 200, {"content-type": "text/plain"}, self.robots[url])
        if url == self.front:
            body = f'<title>reef news</title><link rel=alternate type="application/atom+xml" href="{self.feed}"><p>coral reef'
            return Reply(url, 200, html, body.encode())
        if url == self.feed:
            headers = {"content-type": "application/atom+xml", "etag": f'"{self.articles}"'}
            headers |= {"link": self.header} if self.header else {}
            return Reply(url, 200, headers, self._feed()) if not self.gone else Reply(url, 503)
        number = url.removeprefix(self.front)
        if url.startswith(self.front) and number.isdecimal() and int(number) < self.articles:
            text = f"<title>reef {number}</title><p>coral reef article number {number} " + f"tide{number} " * 30
            return Reply(url, 200, html, text.encode())
        return Reply(url, 404, {"content-type": "text/html"}, b"")

    def _feed(self) -> bytes:
        links = "".join(f'<link rel="hub" href="{hub}"/>' for hub in self.hubs)
        entries = "".join(
            f'<entry><title>reef</title><link href="{self.article(number)}"/></entry>'
            for number in reversed(range(self.articles))
        )
        own = f'<link rel="self" href="{self.topic}"/>' if self.topic else ""
        return f'<feed xmlns="http://www.w3.org/2005/Atom">{own}{links}{entries}</feed>'.encode()

    def urls(self) -> Iterator[str]:
        return iter([self.front, self.feed])

    def __contains__(self, url: str) -> bool:
        return self.get(url).status == 200

    def close(self) -> None:
        """Nothing is held open."""


SETTINGS: dict[str, Any] = {
    "CRAWL_REVISIT": "uniform",
    "CRAWL_RATE": 30.0,
    "CRAWL_FEEDS": 2,
    "CRAWL_WEBSUB_CALLBACK": CALLBACK,
    "PAGE_DUPLICATES": False,
}


def news_crawl(folder: Path, web: HubbedWeb, **settings: Any) -> TimedCrawl:
    """A crawl of the news on a virtual clock, with readable tokens."""
    numbers = iter(range(1_000_000))
    return TimedCrawl(
        Topic("reef", ("coral reef",), (FRONT,)),
        folder,
        web,
        token=lambda: f"token{next(numbers)}-{folder.name}",
        **{**SETTINGS, **settings},
    )
