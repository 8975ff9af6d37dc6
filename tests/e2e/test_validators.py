"""ETag, Last-Modified and lifetimes, as a server sends them and as they are stored."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
from support.crawling import crawl

from crawlproject.core.responses import MAX_VALIDATOR, validator
from crawlproject.storage.read import read_visits

DATE = "Sat, 09 Mar 2024 08:00:00 GMT"


@pytest.mark.parametrize("value", ['"abc"', 'W/"x-1"', DATE, '""', "x" * MAX_VALIDATOR])
def test_what_can_be_sent_back_is_kept_as_it_came(value: str) -> None:
    assert validator(f" {value} ") == value


@pytest.mark.parametrize("value", ["", "x" * (MAX_VALIDATOR + 1), '"a\rb"', '"\x1b[2J"', '"\xe9"', "\u202e"])
def test_anything_else_is_not(value: str) -> None:
    assert validator(value) == ""


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves pages with validators, without, with hostile ones, a missing page, and one that was modified just now."""

    def do_GET(self) -> None:
        name = self.path.strip("/")
        stated = {"Cache-Control": "public, max-age=7200", "Age": "200"}
        hostile = {"ETag": '"' + "e" * 9000 + '"'}
        sent = {"": {"ETag": 'W/"v1"', "Last-Modified": DATE, **stated}, "long": hostile}
        sent["now"] = {"Last-Modified": formatdate(usegmt=True)}
        self.send_response(404 if name in ("gone", "robots.txt") else 200)
        self.send_header("Content-Type", "text/html")
        for header, value in sent.get(name, {"ETag": '"old"'} if name == "gone" else {}).items():
            self.send_header(header, value)
        self.end_headers()
        if self.path != "/robots.txt":
            links = "".join(f"<a href=/{link}>{link}</a>" for link in ("plain", "long", "gone", "now"))
            self.wfile.write(f"<title>{name}</title><p>coral reef {links}".encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


def test_a_crawl_notes_them_in_its_history(tmp_path: Path, server: str) -> None:
    topic = tmp_path / "reef.toml"
    topic.write_text(f'keywords = "coral reef"\nseeds = ["{server}/"]\n')
    done = crawl(topic, tmp_path / "crawl", CRAWL_SITE_BUDGET=0, CRAWL_SITEMAPS=0)
    assert done.returncode == 0, done.stderr
    found = {
        visit.url.removeprefix(server): (visit.etag, visit.last_modified) for visit in read_visits(tmp_path / "crawl")
    }
    assert found == {
        "/": ('W/"v1"', DATE),
        "/plain": ("", ""),
        "/long": ("", ""),
        "/now": ("", ""),
        "/gone": ('"old"', ""),
    }
    lifetimes = {visit.url.removeprefix(server): visit.lifetime for visit in read_visits(tmp_path / "crawl")}
    assert lifetimes == {"/": 7000.0, "/plain": 0.0, "/long": 0.0, "/now": 0.0, "/gone": 0.0}
