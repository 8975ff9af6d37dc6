"""Attacks on the port for deliveries of hubs: forged, replayed, huge, slow, many. None of them affects the crawl."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from unittest import mock
from urllib.parse import urlencode

import pytest
from support.hub import FEED, HUB, HubbedWeb, News, in_process, news_crawl, over_http, signature, subscriptions
from support.timedcrawl import TimedCrawl

from crawlproject.errors import StorageFailed
from crawlproject.http.loopback import listen
from crawlproject.parts.websub.extension import CONNECTIONS, MOST_BODY, DeliveryServer
from crawlproject.parts.websub.subscription import NAME, Subscription, read_subscriptions

LONGEST = 2.0  # seconds that a connection may take


class Served:
    """A crawl that is subscribed to a feed, and the server that receives deliveries from its hub."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.news = News(HUB)
        self.web = HubbedWeb(self.news, in_process(lambda: self.crawl))
        self.crawl: TimedCrawl = news_crawl(folder, self.web, now=time.time() - 60.0)
        self.crawl.run(60.0)
        self.counts: Counter[str] = Counter()
        self.failures: list[StorageFailed] = []
        self.server = DeliveryServer(
            subscriptions(self.crawl),
            listen("127.0.0.1", 0, "CRAWL_WEBSUB_PORT"),
            lambda name: self.counts.update([name]),
            self.failures.append,
            LONGEST,
        )

    @property
    def known(self) -> Subscription:
        (known,) = read_subscriptions(self.folder)
        return known

    @property
    def callback(self) -> str:
        return f"{self.server.url}/any/prefix/{self.known.path}"

    def deliver(self, body: bytes = b"news", header: str | None = None) -> int:
        header = signature(self.known.secret, body) if header is None else header
        return over_http("POST", self.callback, {"X-Hub-Signature": header}, body)[0]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(self.server.url.rpartition(":")[2])), timeout=30)

    def due(self) -> float:
        """When the feed is read next."""
        return next(url.not_before for url in self.crawl.crawl.frontier.waiting() if url.key.startswith(f"{FEED}#"))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found, loop = Served(tmp_path), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(found.server.begin(), loop).result()
    yield found
    asyncio.run_coroutine_threadsafe(found.server.end(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    found.crawl.close()


def test_a_hub_is_heard(served: Served) -> None:
    before = served.due()
    assert served.deliver() == 202
    assert served.due() <= time.time() < before and served.counts == {"delivered": 1}


def test_forged_deliveries_are_answered_as_others_and_ignored(served: Served) -> None:
    log, due = (served.folder / NAME).read_bytes(), served.due()
    headers = [
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        signature("guess", b"news"),
        "md5=x",
        "sha1",
        "=" * 500,
        "x" * 8_000,
    ]
    for number in range(200):
        assert served.deliver(header=headers[number % len(headers)]) == 202, "a forger learns nothing"
    assert ((served.folder / NAME).read_bytes(), served.due()) == (log, due)
    assert served.counts == {"ignored": 200}


def test_replayed_deliveries_make_the_feed_due_once(served: Served) -> None:
    served.deliver()
    log, due = (served.folder / NAME).read_bytes(), served.due()
    for _ in range(100):
        assert served.deliver() == 202
    assert ((served.folder / NAME).read_bytes(), served.due()) == (log, due)


def test_what_was_not_asked_for_is_not_confirmed(served: Served) -> None:
    asked = {"hub.mode": "subscribe", "hub.topic": FEED, "hub.challenge": "x", "hub.lease_seconds": "9"}
    log = (served.folder / NAME).read_bytes()
    for wrong in (
        {"hub.mode": "unsubscribe"},
        {"hub.topic": "http://evil.example/"},
        {"hub.challenge": ""},
        {"hub.challenge": "x" * 5_000},
        {"hub.mode": "denied", "hub.topic": "x"},
    ):
        assert over_http("GET", f"{served.callback}?{urlencode(asked | wrong)}", {}, b"")[0] == 404
    for path in ("", "x", served.known.path[:-1], served.known.secret, f"{served.known.path}/", "..%2f..%2fetc"):
        assert over_http("GET", f"{served.server.url}/{path}?{urlencode(asked)}", {}, b"")[0] == 404
        assert over_http("POST", f"{served.server.url}/{path}", {}, b"x")[0] == 404
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert over_http(method, f"{served.callback}?{urlencode(asked)}", {}, b"")[0] == 405
    assert (served.folder / NAME).read_bytes() == log and not served.counts


def test_a_challenge_is_no_page_for_a_browser(served: Served) -> None:
    asked = {
        "hub.mode": "subscribe",
        "hub.topic": FEED,
        "hub.challenge": "<script>alert(1)</script>",
        "hub.lease_seconds": "9999",
    }
    with closing(served.connect()) as line:
        line.sendall(f"GET /{served.known.path}?{urlencode(asked)} HTTP/1.0\r\n\r\n".encode())
        said = b"".join(iter(lambda: line.recv(65_536), b"")).lower()
    assert b"200 ok" in said and b"content-type: text/plain" in said
    assert b"nosniff" in said and b"default-src 'none'" in said


@pytest.mark.parametrize("declared", [True, False])
def test_a_delivery_that_is_too_long_is_not_read_to_its_end(served: Served, declared: bool) -> None:
    due, piece = served.due(), b"x" * 65_536
    head = f"POST /{served.known.path} HTTP/1.1\r\nHost: x\r\n"
    with closing(served.connect()) as line:
        line.sendall(
            f"{head}{f'Content-Length: {10**12}' if declared else 'Transfer-Encoding: chunked'}\r\n\r\n".encode()
        )
        sent = 0
        try:
            for _ in range(2_000):
                line.sendall(piece if declared else b"10000\r\n" + piece + b"\r\n")
                sent += len(piece)
        except OSError:
            pass
    assert MOST_BODY <= sent < 30 * MOST_BODY, "the rest is not taken"
    assert served.due() == due and served.counts["delivered"] == 0
    assert served.deliver() == 202 and served.counts["delivered"] == 1


def test_the_largest_delivery_counts(served: Served) -> None:
    assert served.deliver(b"x" * MOST_BODY) == 202
    assert served.deliver(b"x" * (MOST_BODY + 1)) in (413, 0)
    assert served.counts == {"delivered": 1, "ignored": 1}


@pytest.mark.parametrize(
    "begun", [b"", b"POST /x HTTP/1.1\r\nX-A: ", b"POST /{path} HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nx"]
)
def test_slow_connections_are_closed_and_others_are_served(served: Served, begun: bytes) -> None:
    began = time.monotonic()
    with ExitStack() as lines:
        slow = [lines.enter_context(closing(served.connect())) for _ in range(CONNECTIONS // 2)]
        for line in slow:
            line.sendall(begun.replace(b"{path}", served.known.path.encode()))
        assert served.deliver() == 202
        for line in slow:
            while line.recv(65_536):
                pass
    assert time.monotonic() - began >= LONGEST * 0.9, "so long is a hub waited for"
    assert served.counts["delivered"] == 1


def test_too_many_connections_do_not_take_the_server_away(served: Served) -> None:
    with ExitStack() as lines:
        for _ in range(3 * CONNECTIONS):
            lines.enter_context(closing(served.connect()))
        until = time.monotonic() + 60.0
        while served.deliver() != 202:
            assert time.monotonic() < until, "no connection is kept for long"
            time.sleep(0.2)
        assert len(open_connections(served)) <= CONNECTIONS + 1


def open_connections(served: Served) -> list[object]:
    runner = served.server._runner
    assert runner is not None and runner.server is not None
    return list(runner.server.connections)


JUNK = [
    b"\x16\x03\x01\x02\x00",
    b"GET\r\n\r\n",
    b"\0" * 5_000,
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000,
]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_what_is_no_http_is_answered_with_an_error(served: Served, junk: bytes) -> None:
    with closing(served.connect()) as line:
        try:
            line.sendall(junk)
            said = line.recv(65_536)
        except OSError:
            said = b""
    assert said == b"" or (said.startswith(b"HTTP/1.") and b" 2" not in said[:12])
    assert served.deliver() == 202


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        ("Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", b"400"),
        ("no header\r\n\r\n", b"400"),
        ("X-Hub-Signature: sha1=\xff\xfe\r\nContent-Length: 3\r\n\r\nabc", b"202"),
        ("Content-Length: 3\r\n\r\na", b""),
    ],
)
def test_nothing_that_strangers_send_is_logged(
    served: Served, caplog: pytest.LogCaptureFixture, head: str, status: bytes
) -> None:
    with caplog.at_level("INFO"), served.connect() as connection:
        connection.sendall(f"POST /{served.known.path} HTTP/1.1\r\nHost: x\r\n{head}".encode("latin-1"))
        assert connection.recv(12)[9:] == status
    time.sleep(0.1)
    assert not caplog.records and not served.counts["delivered"]


def test_when_the_crawl_ends_nothing_counts_any_more(served: Served) -> None:
    served.server.is_open = False
    due, log = served.due(), (served.folder / NAME).read_bytes()
    assert served.deliver() == 202
    assert ((served.folder / NAME).read_bytes(), served.due()) == (log, due)


def test_a_full_disk_is_told_of(served: Served) -> None:
    with mock.patch("crawlproject.storage.append_log.os.pwrite", side_effect=OSError("full")):
        assert served.deliver() == 503
    assert len(served.failures) == 1
