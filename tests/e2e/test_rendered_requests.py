"""Requests of pages in a real Chromium: queries by POST, cookies of one page load, frames; and their archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from support.browser import CHROMIUM
from support.crawling import crawl, history, scrapy, stored, topic_file
from support.httpserver import QuietHandler, listening
from support.warcs import check, records

from benchmarks.scripted_web import SHELL
from crawlproject.storage.warc.index import read_entries
from crawlproject.urls.post import is_digest

PAGES = 3
SHOW = """
const show = (page) => {
  const root = document.getElementById("root");
  root.innerHTML = page.text.map((text) => "<p>" + text + "</p>").join("");
  for (const href of page.links) root.insertAdjacentHTML("beforeend", "<p>reef <a href='" + href + "'>coral fish</a></p>");
};
const json = { "Content-Type": "application/json" };
"""
ASK = """
const post = (url, body, more) => fetch(url, { method: "POST", headers: json, body: JSON.stringify(body), ...more });
post("http://api.post.example/graphql", { query: "{ page }", variables: { path: location.pathname } }, { credentials: "include" })
  .then((answer) => answer.json()).then(show);
post("/graphql", { query: "mutation { visit }" }).catch(() => 0);
post("http://other.example/collect", { page: 1 }).catch(() => 0);
fetch("/page", { method: "DELETE" }).catch(() => 0);
navigator.sendBeacon("/beacon", "x");
const form = Object.assign(document.createElement("form"), { method: "post", action: "/sent", target: "inner" });
document.body.insertAdjacentHTML("beforeend", "<iframe name=inner></iframe>");
document.body.append(form);
form.submit();
"""
COOKIE = """
if (!document.cookie.includes("human")) {
  document.cookie = "human=1";
  location.reload();
} else {
  fetch("/api" + location.pathname).then((answer) => answer.json()).then(show);
  fetch("http://other.example/data", { credentials: "include" }).catch(() => 0);
}
"""
FRAMES = """
const next = (Number(location.pathname.slice(1)) + 1) % 3;
show({ text: ["coral reef with frames " + "fish polyp atoll ".repeat(9)], links: ["/" + next] });
const others = ["http://other.example/frame", "/noindex", "/pdf", "/to-other", "data:text/html,<p>datum"];
for (const src of ["/frame", "http://sub.frames.example/frame", ...others])
  document.body.insertAdjacentHTML("beforeend", "<iframe src='" + src + "'></iframe>");
document.body.insertAdjacentHTML("beforeend", "<iframe srcdoc='<p>written here</p>'></iframe>");
"""
SCRIPTS = {"post.example": ASK, "cookie.example": COOKIE, "frames.example": FRAMES}
TEXT = "coral reef fish polyp lagoon atoll diver current kelp sponge shoal tide"


class Asked(NamedTuple):
    method: str
    url: str
    cookie: str
    body: bytes


class Web:
    """Three sites, and a fourth one that their pages send requests to, served by a proxy."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._lock = Lock()
        self._sessions = 0

    def answer(self, asked: Asked) -> tuple[int, bytes, list[tuple[str, str]]]:
        with self._lock:
            self.asked.append(asked)
            self._sessions += 1
        parts = urlsplit(asked.url)
        host, path = parts.hostname or "", parts.path
        html, data = [("Content-Type", "text/html; charset=utf-8")], [("Content-Type", "application/json")]
        open_to = [("Access-Control-Allow-Origin", "http://post.example"), ("Access-Control-Allow-Credentials", "true")]
        if path == "/robots.txt":
            return 404, b"", html
        if path.startswith("/static/"):
            return 200, (SHOW + SCRIPTS[host]).encode(), [("Content-Type", "text/javascript")]
        if path == "/graphql" and asked.method == "POST":
            path = json.loads(asked.body)["variables"]["path"]
            return 200, self._page("posted", path), data + open_to
        if path.startswith("/api/"):
            allowed = "human=1" in asked.cookie and "session=" in asked.cookie
            return (200, self._page("cookies", path[4:]), data) if allowed else (403, b"{}", data)
        if host == "other.example":
            return 200, b"<p>foreign text", [*html, ("Set-Cookie", "foreign=1")]
        if path == "/frame":
            inner = "" if "sub" in host else '<iframe src="/inner"></iframe>'
            return 200, f"<title>t</title><p>framed by {host} <a href=more>{TEXT}</a>{inner}".encode(), html
        if path == "/inner":
            return 200, b'<p>the inner text</p><iframe src="/innermost"></iframe>', html
        if path == "/innermost":
            return 200, b"<p>too deep", html
        if path == "/noindex":
            return 200, b"<p>not to be kept", [*html, ("X-Robots-Tag", "noindex")]
        if path == "/pdf":
            return 200, b"%PDF-1.7", [("Content-Type", "application/pdf")]
        if path == "/to-other":
            return 302, b"", [*html, ("Location", "http://other.example/frame")]
        if path.strip("/").isdecimal():
            return 200, SHELL.encode(), [*html, ("Set-Cookie", f"session={self._sessions}; HttpOnly")]
        return 404, b"", html

    def _page(self, name: str, path: str) -> bytes:
        number = int(path.strip("/"))
        text = [f"{name} {number} {TEXT}"] * 3
        return json.dumps({"text": text, "links": [f"/{(number + 1) % PAGES}"]}).encode()

    def of(self, host: str, method: str = "GET") -> list[Asked]:
        return [asked for asked in self.asked if asked.url.startswith(f"http://{host}/") and asked.method == method]


@contextmanager
def serving(web: Web) -> Iterator[int]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer, headers = web.answer(Asked(self.command, self.path, self.headers.get("Cookie", ""), body))
            self.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(answer)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET

    with listening(Handler) as port:
        yield port


class Crawled(NamedTuple):
    topic: Path
    folder: Path
    web: Web

    def body(self, url: str) -> str:
        line = next(line for line in history(self.folder) if line["url"] == url)
        name = line["md5"]
        return (self.folder / "pages" / name[:2] / name[2:4] / name).read_text()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    if CHROMIUM is None:
        pytest.skip("no Chromium: scripts/install-chromium installs one")
    place, web = tmp_path_factory.mktemp("requests"), Web()
    topic = topic_file(place, *(f"http://{host}/0" for host in SCRIPTS), keywords="coral reef fish")
    with serving(web) as port:
        done = crawl(
            topic,
            place / "crawl",
            port=port,
            CRAWL_RENDER="needed",
            CRAWL_RENDER_POSTS=1,
            CRAWL_RENDER_SECONDS=40,  # a busy machine is slow
            CRAWL_WARC=1,
            TRAP_TEMPLATES=0,
        )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return Crawled(topic, place / "crawl", web)


ALL = {f"http://{host}/{number}" for host in SCRIPTS for number in range(PAGES)}


def test_content_by_post_with_cookies_and_in_frames_is_read(crawled: Crawled) -> None:
    assert stored(crawled.folder) >= ALL
    assert "posted 1 coral" in crawled.body("http://post.example/1")
    assert "cookies 2 coral" in crawled.body("http://cookie.example/2")


def test_only_questions_to_the_own_site_are_posted(crawled: Crawled) -> None:
    posts = [asked for asked in crawled.web.asked if asked.method == "POST"]
    assert {asked.url for asked in posts} == {"http://api.post.example/graphql"} and len(posts) == PAGES
    assert all(b"mutation" not in asked.body and asked.body for asked in posts)
    assert {asked.method for asked in crawled.web.asked} == {"GET", "POST"}


def test_posts_are_not_made_unless_they_are_asked_for(tmp_path: Path, crawled: Crawled) -> None:
    web = Web()
    with serving(web) as port:
        done = crawl(
            topic_file(tmp_path, "http://post.example/0"), tmp_path / "crawl", port=port, CRAWL_RENDER="needed"
        )
    assert {asked.method for asked in web.asked} == {"GET"} and not stored(tmp_path / "crawl")
    assert done.stderr.count("CRAWL_RENDER_POSTS") == 1, "which setting allows it is said once"


def test_cookies_live_as_long_as_one_page_and_stay_on_its_site(crawled: Crawled) -> None:
    web = crawled.web
    assert web.of("other.example") and not any(asked.cookie for asked in web.of("other.example"))
    sessions = []
    for number in range(PAGES):
        plain, again = (asked.cookie for asked in web.of("cookie.example") if asked.url.endswith(f".example/{number}"))
        assert plain == "" and "session=" in again, "the crawl itself has none; the page shows itself with its own"
        (api,) = (asked.cookie for asked in web.of("cookie.example") if asked.url.endswith(f"/api/{number}"))
        assert "human=1" in api
        sessions.append(next(part for part in api.split("; ") if part.startswith("session=")))
    assert len(set(sessions)) == PAGES, "each page is a new visitor"


def test_frames_of_the_same_site_are_part_of_the_page(crawled: Crawled) -> None:
    body = crawled.body("http://frames.example/0")
    for text in ("framed by frames.example", "framed by sub.frames.example", "the inner text", "written here"):
        assert body.count(text) == 1, text
    assert "http://frames.example/more" in body and "http://sub.frames.example/more" in body
    for text in ("foreign text", "not to be kept", "too deep", "<p>datum", "PDF", "blocked", "ERR_"):
        assert text not in body, text
    asked = {asked.url for asked in crawled.web.asked}
    assert not asked & {"http://other.example/frame", "http://frames.example/innermost"}
    assert {"http://frames.example/more", "http://sub.frames.example/more"} <= asked, "its links are followed"


def test_what_a_page_asked_for_is_archived_with_it(crawled: Crawled) -> None:
    paths = sorted((crawled.folder / "warc").glob("*.warc.gz"))
    check(*paths)
    found = [each for path in paths for each in records(path)]
    answers = ((record.rec_headers, url) for kind, url, record, _ in found if kind in ("response", "revisit"))
    captures = {headers.get_header("WARC-Record-ID"): url for headers, url in answers}
    told = {url: (record.rec_headers, text.decode()) for kind, url, record, text in found if kind == "metadata"}
    assert set(told) >= ALL
    headers, text = told["http://post.example/1"]
    assert captures[headers.get_header("WARC-Refers-To")] == "http://post.example/1"
    assert text.startswith("rendered: true\r\n") and "outlink: http://api.post.example/graphql E POST\r\n" in text
    sent = [body for kind, url, record, body in found if kind == "request" and record.http_headers.protocol == "POST"]
    assert sorted(json.loads(body)["variables"]["path"] for body in sent) == ["/0", "/1", "/2"]
    assert not any("Cookie" in str(record.http_headers) for kind, _, record, _ in found if kind == "request")
    kept = {url for kind, url, _, _ in found}
    assert "http://frames.example/noindex" not in kept and "http://cookie.example/api/1" in kept
    urls = {entry.url for entry in read_entries(crawled.folder / "warc")}
    assert sum(map(is_digest, urls)) == PAGES and "http://api.post.example/graphql" not in urls


def test_the_archive_can_be_rendered_again(crawled: Crawled, tmp_path: Path) -> None:
    warc = tmp_path / "crawl.warc.gz"
    done = scrapy("export", crawled.folder, "--to", "warc", warc)
    assert done.returncode == 0, done.stderr
    again: dict[str, Any] = {
        "VIRTUAL_WEB": warc,
        "CRAWL_RENDER": "needed",
        "CRAWL_RENDER_POSTS": 1,
        "CRAWL_RENDER_SECONDS": 40,
        "TRAP_TEMPLATES": 0,
    }
    done = crawl(crawled.topic, tmp_path / "again", **again)
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path / "again") >= ALL
    second = Crawled(crawled.topic, tmp_path / "again", crawled.web)
    counts = json.loads((second.folder / "crawl.json").read_text())["stats"]
    requests = {name: n for name, n in counts.items() if name.startswith("render/")}
    for url in sorted(ALL):
        assert second.body(url) == crawled.body(url), (url, requests)
    assert scrapy("export", crawled.folder, "--to", "wacz", tmp_path / "crawl.wacz").returncode == 0
