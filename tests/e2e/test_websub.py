"""A feed with a hub, over real sockets: new pages are fetched when the hub announces them, also after ``kill -9``."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from support.attacker import Secret
from support.crawling import PATIENCE, QUICK, history, start, topic_file
from support.hub import FEED, FRONT, HUB, HubbedWeb, News, over_http
from support.webs import by_host, gaps

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.websub.subscription import NAME

FORBIDDEN = "http://forbidden.example/hub"
DELAY = 0.1


def until(what: Callable[[], object]) -> None:
    end = time.time() + PATIENCE
    while not what():
        assert time.time() < end
        time.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def test_what_is_published_is_fetched_when_the_hub_says_so(tmp_path: Path) -> None:
    secret_place, port = Secret(), free_port()
    news = News(f"http://127.0.0.1:{secret_place.port}/hub", FORBIDDEN, HUB)
    news.robots["http://forbidden.example/robots.txt"] = b"User-agent: *\nDisallow: /hub\n"
    web = HubbedWeb(news, over_http, hubs={FORBIDDEN: 202, HUB: 202}, later=True)
    folder = tmp_path / "crawl"
    settings: dict[str, Any] = {
        **QUICK,
        "CRAWL_DIR": folder,
        "CRAWL_REVISIT": "uniform",
        "CRAWL_RATE": 3600,
        "CRAWL_FEEDS": 1,
        "CRAWL_WEBSUB_CALLBACK": f"http://127.0.0.1:{port}/hook",
        "CRAWL_WEBSUB_PORT": port,
        "CRAWL_WARC": True,
        "PAGE_DUPLICATES": False,
        "POLITENESS_MIN_DELAY": DELAY,
    }
    arguments = ("crawl", "topical", "-a", f"topic={topic_file(tmp_path, FRONT)}")

    def publish() -> float:
        """Publish and deliver; return the seconds until the new page is in the history."""
        news.articles += 1
        began = time.time()
        assert web.publish() == [202]
        until(lambda: news.article(news.articles - 1) in {line["url"] for line in history(folder)})
        return time.time() - began

    with closing(secret_place), AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        web.verifies = False
        with start(*arguments, port=server.port, **settings) as process:
            until(lambda: web.asked)
            process.send_signal(signal.SIGKILL)
        web.verifies = True
        with start(*arguments, port=server.port, **settings) as process:
            until(lambda: web.live)
            assert publish() < PATIENCE
            process.send_signal(signal.SIGKILL)
        asked = len(web.asked)
        with start(*arguments, port=server.port, **settings) as process:
            until(lambda: over_http("GET", f"http://127.0.0.1:{port}/", {}, b"")[0] == 404)
            delay = publish()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 3 and "Traceback" not in errors, errors
    assert len(web.asked) == asked, "the lease goes on"
    assert {hub for hub, _ in web.asked} == {HUB}, "robots.txt of the other hub forbids it"
    assert secret_place.visits == 0, "a feed does not lead into the crawler's own network"
    assert len({form["hub.callback"] for _, form in web.asked}) == 1
    assert delay < 3600.0, "an interval of the feed is a day"
    requests = by_host(read_log(tmp_path / "log"))["hub.example"]
    assert min(gaps(requests), default=DELAY) >= 0.5 * DELAY, "a busy server notes the end late"
    secret = web.asked[0][1]["hub.secret"].encode()
    told = [path for path in folder.rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert told == [folder / NAME], "the secret is nowhere else, not in the archive either"
    assert not any(line["url"] in (HUB, FORBIDDEN) for line in history(folder))
    assert sum(line["url"] == FEED for line in history(folder)) == 1
