"""Attacks of pages in the browser: none reaches a server that the crawler itself would not contact."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.attacker import Secret
from support.browser import CHROMIUM
from support.browser_attacks import ATTACKS, DONE, OTHERS, SECRET, SHELL
from support.crawling import crawl, history, topic_file
from support.httpserver import QuietHandler, listening

from crawlproject.parts.rendering.browser.page_session import MOST_EVENTS
from crawlproject.parts.rendering.browser.renderer import TRIES
from crawlproject.parts.rendering.browser_requests import MOST_FRAMES, MOST_REQUESTS, MOST_SENT


class _Udp(threading.Thread):
    """Counts the UDP packets to a port."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.settimeout(0.2)
        self._over = False

    def run(self) -> None:
        while not self._over:
            try:
                self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            self.count += 1

    def close(self) -> None:
        self._over = True
        self.join()
        self._socket.close()


def _pages(secret: int, port: int) -> dict[str, str]:
    said = {"url": SECRET.format(secret=secret), "secret": secret, "port": port}
    after = {name: "".join(scripts).format(**said) + DONE for name, scripts in ATTACKS.items()}
    return after | {name: script.format(**said) for name, script in OTHERS.items()}


class Asked(NamedTuple):
    method: str
    path: str
    host: str
    cookie: str


FRAMES = {
    "endless-frame": "<p>endless<script>while (true) {}</script>",
    "moving-frame": "<script>top.location = '/moved'; parent.location = 'file:///etc/passwd'</script>",
}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """One crawl in which every page is an attack, through one Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    place = tmp_path_factory.mktemp("browser")
    asked: list[Asked] = []
    with closing(Secret()) as secret, closing(_Udp(secret.port)) as udp:
        udp.start()
        pages: dict[str, str] = {}

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked.append(Asked(self.command, self.path, self.headers["Host"], self.headers.get("Cookie", "")))
                name = self.path.strip("/")
                if self.headers["Host"].startswith("localhost"):
                    self._send(200, b"<p>another site, of coral reefs", ("Content-Type", "text/html"))
                elif name == "to-secret":
                    self._send(307, b"", ("Location", SECRET.format(secret=secret.port)))
                elif name == "robots.txt":
                    self._send(200, b"User-agent: *\nDisallow: /forbidden", ("Content-Type", "text/plain"))
                elif name.startswith("deep/"):
                    inner = f'<p>level {name}<iframe src="/deep/{int(name[5:]) + 1}"></iframe>'
                    self._send(200, inner.encode(), ("Content-Type", "text/html"))
                elif name.startswith("flat/"):
                    self._send(200, b"<p>flat " * 200, ("Content-Type", "text/html"))
                elif name in FRAMES:
                    self._send(200, FRAMES[name].encode(), ("Content-Type", "text/html"))
                elif name == "main.js":
                    self._send(200, b"0;", ("Content-Type", "text/javascript"))
                elif name == "":
                    links = "".join(f'<p>coral reef <a href="/{page}">reef {page}</a></p>' for page in pages)
                    self._send(200, links.encode(), ("Content-Type", "text/html"))
                elif name in pages:
                    self._send(200, SHELL.format(name=name, script=pages[name]).encode(), ("Content-Type", "text/html"))
                else:
                    self._send(404, b"", ("Content-Type", "text/html"))

            do_POST = do_PUT = do_GET

            def _send(self, status: int, body: bytes, header: tuple[str, str]) -> None:
                self.send_response(status)
                self.send_header(*header)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        handler: type[BaseHTTPRequestHandler] = Handler
        with listening(handler) as port:
            pages.update(_pages(secret.port, port))
            done = crawl(
                topic_file(place, f"http://127.0.0.1:{port}/", f"http://localhost:{port}/"),
                place / "crawl",
                CRAWL_RENDER="always",  # "needed" leaves a host of such pages alone
                CRAWL_RENDER_SECONDS=2,  # a busy machine starts slowly
                CRAWL_RENDER_POSTS=5,
                CRAWL_RENDER_CLICKS=20,
                CRAWL_RENDER_PAGES=4,
                CRAWL_RENDER_MEMORY=300 * 2**20,
                CRAWL_ALLOWED_PORTS=f"80,443,{secret.port}",
                CRAWL_BLOCKED_REST=0.001,
                CRAWL_BLOCKS_UNTIL_GIVEN_UP=0,
            )
        yield {
            "folder": place / "crawl",
            "done": done,
            "visits": secret.visits,
            "datagrams": udp.count,
            "asked": asked,
            "stats": json.loads((place / "crawl" / "crawl.json").read_text())["stats"],
            "lines": {
                line["url"].rpartition("/")[2]: line for line in history(place / "crawl") if "//127" in line["url"]
            },
        }


def test_nothing_comes_to_the_secret(attacked: dict[str, Any]) -> None:
    assert attacked["done"].returncode == 0 and "Traceback" not in attacked["done"].stderr, attacked["done"].stderr
    assert attacked["visits"] == attacked["datagrams"] == 0


def test_the_pages_go_on_without_what_they_wanted(attacked: dict[str, Any]) -> None:
    lines = [attacked["lines"][name] for name in ATTACKS]
    assert [line for line in lines if not (line["signs"].get("rendered") and line["md5"])] == []
    assert [line for line in lines if "secret" in line["title"]] == []


def test_what_has_no_end_is_ended(attacked: dict[str, Any]) -> None:
    for name in ("endless", "endless-dialogs", "hog", "nodes", "reload", "file-location", "data-location"):
        assert attacked["lines"][name]["error"] == "needs_browser", name
        assert attacked["lines"][name]["seconds"] < 25, name
    assert attacked["lines"]["long"]["size"] <= 1_048_576


def test_a_redirect_by_script_is_refused_like_a_link(attacked: dict[str, Any]) -> None:
    for name in ("location", "download"):
        assert attacked["lines"][name]["redirect"].endswith("/secret")
    assert not any(line["url"].endswith("/secret") for line in attacked["lines"].values())


def test_only_so_much_is_asked_for(attacked: dict[str, Any]) -> None:
    paths = [asked.path for asked in attacked["asked"]]
    assert all(sum(path.startswith(kind) for path in paths) <= MOST_REQUESTS for kind in ("/many/", "/lots/"))
    assert not [path for path in paths if path.startswith("/said")]


def test_questions_are_posted_to_the_own_site_only_and_only_so_many(attacked: dict[str, Any]) -> None:
    others = [asked for asked in attacked["asked"] if asked.method != "GET"]
    assert {asked.path for asked in others} <= {"/ask", "/to-secret"} and {asked.method for asked in others} == {"POST"}
    assert len(others) <= 5 and not [asked for asked in others if asked.host.startswith("localhost")]


def test_cookies_cross_no_site_and_no_page(attacked: dict[str, Any]) -> None:
    asked = attacked["asked"]
    assert [each for each in asked if each.path == "/thief"], "it was asked"
    assert not [each for each in asked if each.host.startswith("localhost") and each.cookie]
    with_cookies = {each.path for each in asked if each.cookie}
    assert with_cookies <= {"/own-cookies", "/cookie-reloads", "/main.js"}, with_cookies
    assert sum(each.path == "/cookie-reloads" and bool(each.cookie) for each in asked) == 1
    assert all(len(each.cookie) <= MOST_SENT for each in asked)


def test_what_a_click_does_stays_in_the_page(attacked: dict[str, Any]) -> None:
    signs = attacked["lines"]["clicks"]["signs"]
    assert any(name.startswith("clicked/") for name in signs), "a slow machine has time for few of them"
    assert _stored(attacked, "clicks").startswith("<!DOCTYPE html>") and "root:" not in _stored(attacked, "clicks")


def test_frames_are_few_and_not_deep(attacked: dict[str, Any]) -> None:
    paths = {asked.path for asked in attacked["asked"]}
    assert "/deep/1" in paths and {path for path in paths if path.startswith("/deep/")} <= {"/deep/1", "/deep/2"}
    assert sum(path.startswith("/flat/") for path in paths) <= MOST_FRAMES
    assert "/other-site" not in paths
    lines = attacked["lines"]
    assert all(lines[name]["size"] <= 1_048_576 for name in ("frames", "many-frames", "nested-here"))
    for text in ("root:", "<p>datum", "level deep/3", "ERR_", "Chromium"):
        assert text not in _stored(attacked, "frames"), text


def test_a_page_that_talks_without_end_is_not_listened_to(attacked: dict[str, Any]) -> None:
    for name in ("chatter", "chatter-at-once", "frame-chatter", "frame-endless", "post-bomb"):
        assert attacked["lines"][name]["signs"].get("rendered"), name
        assert attacked["lines"][name]["seconds"] < 25, name
    stats = attacked["stats"]
    blocked = {name: count for name, count in stats.items() if name.startswith("render/requests/blocked/")}
    assert blocked["render/requests/blocked/PUT"] <= 2 * MOST_EVENTS * TRIES
    assert blocked["render/requests/blocked/method"] >= 50 and len(blocked) < 30, blocked


def _stored(attacked: dict[str, Any], name: str) -> str:
    md5 = attacked["lines"][name]["md5"]
    return (attacked["folder"] / "pages" / md5[:2] / md5[2:4] / md5).read_text()


def test_nothing_is_left(attacked: dict[str, Any]) -> None:
    """No process remains, and no file but those of the crawl."""
    mine = str(attacked["folder"].parent)
    assert {path.name for path in Path(mine).iterdir()} == {"topic.toml", "crawl"}
    left = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"--remote-debugging-pipe" in process.joinpath("cmdline").read_bytes():
                parent = int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                left += [process.name] if parent in (1, os.getpid()) else []
        except OSError:
            continue
    assert left == []
