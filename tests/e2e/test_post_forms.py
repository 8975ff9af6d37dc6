"""Search forms sent by POST, over real sockets: they are queried like GET forms, and nothing else is sent by POST."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from support.crawling import crawl, refusals, scrapy, stored, topic_file
from support.deepweb import LIMIT, posts, queries, some_sites
from support.httpserver import HtmlHandler, listening, local

from benchmarks.twenty_deep_sites import DeepWeb
from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.forms.report import read_sources, read_token_forms
from crawlproject.reports.report import write_report
from crawlproject.urls.post import is_post, post_of
from crawlproject.webs.open import open_web


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, tuple[DeepWeb, Path]]:
    """The same sites with forms by GET and by POST, crawled."""
    found = {}
    for by_post in (False, True):
        folder = tmp_path_factory.mktemp("post" if by_post else "get")
        web = some_sites(by_post=by_post)
        with AccessLog(folder / "log") as log, running(web, log=log) as server:
            topic, settings = (
                topic_file(folder, web.ENTRANCE),
                {"CRAWL_FORMS": LIMIT, "CRAWL_WARC": 1, "CONCURRENT_REQUESTS": 1},
            )
            done = crawl(topic, folder / "crawl", port=server.port, **settings)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        found[by_post] = web, folder
    return found


def reached(web: DeepWeb, folder: Path) -> dict[str, int]:
    found = stored(folder / "crawl")
    return {host: len({site.url_of(number) for number in range(site.size)} & found) for host, site in web.sites.items()}


def test_what_is_behind_a_form_is_found_whatever_way_it_is_sent(crawled: dict[bool, tuple[DeepWeb, Path]]) -> None:
    by_get, by_post = (reached(*crawled[method]) for method in (False, True))
    assert by_get.keys() == by_post.keys()
    for host, items in by_get.items():
        assert abs(by_post[host] - items) <= 0.05 * items, (host, items, by_post[host])
    assert sum(count > 20 for count in by_post.values()) >= 3


def test_nothing_is_sent_but_queries_and_no_link_makes_one(crawled: dict[bool, tuple[DeepWeb, Path]]) -> None:
    web, folder = crawled[True]
    assert not web.no_queries() and not crawled[False][0].no_queries()
    assert not posts(crawled[False][1] / "log")
    sent, asked = posts(folder / "log"), [line for line in queries(folder / "crawl") if is_post(line["url"])]
    assert len(sent) == len(asked) > 20 and {urlsplit(access["url"]).path for access in sent} == {"/find"}
    assert all(access["agent"].endswith("(query of a search form)") for access in sent)
    assert not [access for access in sent if access["host"] == "forbidden.example"]
    assert refusals(folder / "crawl")["robots/forbidden"] >= 1
    # Every page links to #POST?q=reef and to ?__wb_method=POST&q=coral: these are plain links.
    plain = [access for access in read_log(folder / "log") if access["method"] == "GET"]
    assert any(access["url"].endswith("/find") for access in plain)
    assert any("__wb_method=POST" in access["url"] for access in plain)
    assert max(Counter(urlsplit(line["url"]).hostname for line in queries(folder / "crawl")).values()) == LIMIT


def test_records_say_what_was_sent(crawled: dict[bool, tuple[DeepWeb, Path]]) -> None:
    _, folder = crawled[True]
    lines = [line for line in queries(folder / "crawl") if is_post(line["url"]) and line["md5"]]
    assert lines
    line = next(line for line in lines if line["anchor"] == "coral")
    done = scrapy("why", folder / "crawl", line["url"])
    assert done.returncode == 0 and "sends by POST: q=coral" in done.stdout, done.stdout
    # Its further result pages are requested as the site links to them.
    assert [line for line in queries(folder / "crawl") if is_post(line["parent"]) and not is_post(line["url"])]


def test_the_report_lists_sources_and_forms_with_tokens(crawled: dict[bool, tuple[DeepWeb, Path]]) -> None:
    web, folder = crawled[True]
    sources = {urlsplit(source.address).hostname: source for source in read_sources(folder / "crawl", 0.1)}
    assert sum(source.fetches for source in sources.values()) == len(queries(folder / "crawl"))
    assert all(
        source.address.endswith("/find") and source.items <= web.sites[host or ""].size
        for host, source in sources.items()
    )
    assert read_token_forms(folder / "crawl").keys() == set(web.sites)
    assert "one-time token" in write_report(folder / "crawl").read_text()


def test_the_archive_has_the_requests_and_serves_their_answers(
    tmp_path: Path, crawled: dict[bool, tuple[DeepWeb, Path]]
) -> None:
    _, folder = crawled[True]
    target = tmp_path / "crawl.warc.gz"
    assert scrapy("export", folder / "crawl", "--to", "warc", target).returncode == 0
    web, pages = open_web(target, cache_dir=tmp_path / "cache"), open_web(folder / "crawl", cache_dir=tmp_path)
    asked = [line["url"] for line in queries(folder / "crawl") if is_post(line["url"]) and line["md5"]]
    for url in asked:
        assert web.get(url).body == pages.get(url).body and web.get(url).status == 200
        assert (post := post_of(url)) and b"results</p>" not in web.get(post.url).body
    assert not [url for opened in (web, pages) for url in opened.urls() if is_post(url)]
    again = crawl(
        topic_file(tmp_path, DeepWeb.ENTRANCE), tmp_path / "again", VIRTUAL_WEB=target, CRAWL_FORMS=LIMIT, CRAWL_WARC=1
    )
    assert again.returncode == 0 and "Traceback" not in again.stderr, again.stderr
    served = [line["url"] for line in queries(tmp_path / "again") if is_post(line["url"]) and line["md5"]]
    assert len(set(served) & set(asked)) > 0.8 * len(asked)


# ---------------------------------------------------------------- servers that redirect


class Library(HtmlHandler):
    """A catalogue whose form redirects to the list (Post/Redirect/Get), or first redirects to another path."""

    how: int
    target: str
    log: list[tuple[str, str, str]]

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        self.log.append(("GET", split.path, split.query))
        if split.path == "/robots.txt":
            self.answer(404, "")
        elif split.path == "/results":
            self.answer(200, self.results(parse_qs(split.query).get("words", [""])[0]))
        elif split.path.startswith("/book/"):
            self.answer(200, f"<h1>Book {split.path[6:]}</h1><p>A book on the coral reef, number {split.path[6:]}.</p>")
        else:
            hidden = "<input type=hidden name=in value='all &amp; more'>"
            form = f"<form method=post action=/search>{hidden}<input name=words><button>Search</button></form>"
            self.answer(200, f"<title>Coral reef library</title><p>Coral reef books</p>{form}")

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded"
        self.log.append(("POST", self.path, sent))
        words = parse_qs(sent).get("words", [""])[0]
        if self.how >= 500 and len([each for each in self.log if each == ("POST", self.path, sent)]) < 2:
            self.answer(self.how, "later")
        elif self.path == "/search" and self.how < 400:
            self.send_response(self.how)
            self.send_header("Location", self.target.format(escape(urlencode({"words": words}))))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.answer(200, self.results(words))

    def results(self, words: str) -> str:
        base = sum(map(ord, words)) % 40 if words in ("coral", "reef") else None
        books = [] if base is None else range(base, base + 10)
        return "<p>Results</p>" + "".join(f"<p><a href=/book/{number}>Coral reef {number}</a></p>" for number in books)


def crawl_library(tmp_path: Path, how: int, target: str) -> list[tuple[str, str, str]]:
    log: list[tuple[str, str, str]] = []
    with listening(type("Shelf", (Library,), {"how": how, "target": target, "log": log})) as port:
        topic = topic_file(tmp_path, f"http://127.0.0.1:{port}/")
        done = crawl(topic, tmp_path / "crawl", CRAWL_FORMS=12, CRAWL_WARC=1, **local(port))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return log


@pytest.mark.parametrize("how", [301, 302, 303])
def test_an_answer_behind_a_redirect_is_asked_for_by_get(tmp_path: Path, how: int) -> None:
    log = crawl_library(tmp_path, how, "/results?{}")
    sent = [sent for method, path, sent in log if method == "POST"]
    assert "in=all+%26+more&words=coral" in sent and "in=all+%26+more&words=reef" in sent
    assert len(sent) == len(set(sent)) and not [
        path for method, path, _ in log if method == "POST" and path != "/search"
    ]
    assert [query for method, path, query in log if path == "/results"] and sum(
        "/book/" in path for _, path, _ in log
    ) >= 15
    moved = [line for line in queries(tmp_path / "crawl") if line["redirect"]]
    answers = [line for line in queries(tmp_path / "crawl") if "/results" in line["url"]]
    assert len(moved) == len(answers) == len(sent)
    (source,) = read_sources(tmp_path / "crawl", 0.1)
    assert source.fetches == 2 * len(sent) and source.items >= 15


def test_a_query_that_fails_is_sent_again_as_it_was(tmp_path: Path) -> None:
    log = crawl_library(tmp_path, 503, "")
    sent = Counter(sent for method, _, sent in log if method == "POST")
    assert set(sent.values()) == {2} and "in=all+%26+more&words=coral" in sent
    assert sum("/book/" in path for _, path, _ in log) >= 15
    assert [line["status"] for line in queries(tmp_path / "crawl")] == [200] * len(sent)


def test_answers_at_a_page_that_is_known_are_given_up(tmp_path: Path) -> None:
    log = crawl_library(tmp_path, 302, "/")
    assert len([path for method, path, _ in log if method == "POST"]) == 1
    assert [path for method, path, _ in log if path == "/"] == ["/"]


def test_a_redirect_that_keeps_the_method_leads_to_the_same_path_only(tmp_path: Path) -> None:
    log = crawl_library(tmp_path, 307, "/elsewhere")
    assert {path for method, path, _ in log if method == "POST"} == {"/search"}
    assert ("GET", "/elsewhere", "") in log


def test_a_redirect_to_itself_ends(tmp_path: Path) -> None:
    log = crawl_library(tmp_path, 308, "/search")
    assert 1 <= len([path for method, path, _ in log if method == "POST"]) <= 2
