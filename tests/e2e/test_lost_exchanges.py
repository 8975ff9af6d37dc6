"""Exchanges lost through no fault of the host, over real sockets: the page is fetched later, and no host is penalized."""

from __future__ import annotations

import signal
import socket
import struct
import time
from pathlib import Path
from typing import ClassVar

import pytest
from support.crawling import QUICK, crawl, history, start, stored, topic_file
from support.httpserver import HtmlHandler, listening, local
from support.webs import host_farm

from crawlproject.http.virtual_web_server import running

DELAY = 0.3


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_process_that_is_suspended_loses_nothing(tmp_path: Path, frontier: str) -> None:
    web = host_farm(30, 6, seconds=0.4)
    folder = tmp_path / "crawl"
    settings = {**QUICK, "CRAWL_DIR": folder, "FRONTIER": frontier, "DOWNLOAD_TIMEOUT": 2, "CONCURRENT_REQUESTS": 16}
    topic = topic_file(tmp_path, "http://portal.example/")
    with (
        running(web, latency=True) as server,
        start("crawl", "topical", "-a", f"topic={topic}", port=server.port, **settings) as process,
    ):
        while not (folder / "history.jsonl").exists() or len(history(folder)) < 40:
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        time.sleep(8.0)
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == 0, said
    assert "was suspended for" in said
    lines = history(folder)
    assert [line["error"] for line in lines if line["error"]] == []
    assert stored(folder) == set(web.replies) and len(lines) == len(web.replies)


class Impatient(HtmlHandler):
    """Answers one request per connection and resets the next one. Records when requests arrived and when they ended."""

    asked: ClassVar[list[tuple[float, float]]]
    resets: ClassVar[int]

    def setup(self) -> None:
        super().setup()
        self.requests = 0

    def do_GET(self) -> None:
        came = time.monotonic()
        self.requests += 1
        if self.requests > 1:
            type(self).resets += 1
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.asked.append((came, time.monotonic()))
            return
        links = "".join(f"<a href=/p{n}>coral reef</a>" for n in range(6)) if self.path == "/" else ""
        self.asked.append((came, time.monotonic()))
        self.answer(404 if self.path == "/robots.txt" else 200, f"coral reef {self.path} {links}")


def test_what_a_server_resets_waits_for_the_rest_of_its_host(tmp_path: Path) -> None:
    class Site(Impatient):
        asked: ClassVar[list[tuple[float, float]]] = []
        resets = 0

    folder = tmp_path / "crawl"
    with listening(Site) as port:
        seed = f"http://127.0.0.1:{port}/"
        done = crawl(topic_file(tmp_path, seed), folder, POLITENESS_MIN_DELAY=DELAY, **local(port))
    assert done.returncode == 0, done.stderr
    assert stored(folder) == {seed, *(f"{seed}p{n}" for n in range(6))}
    assert [line["error"] for line in history(folder) if line["error"]] == []
    pauses = [later[0] - earlier[1] for earlier, later in zip(Site.asked, Site.asked[1:], strict=False)]
    assert Site.resets == 1 and min(pauses) >= DELAY, "noted before it answers, so nothing is noted late"
