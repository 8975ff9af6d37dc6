"""The topical crawl over real sockets: what is stored, followed, refused and recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from support.changingweb import REVISITING
from support.crawling import crawl, history, refusals, stored, topic_file
from support.webs import HTML, DictWeb, host_farm, html, page, robots

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply
from crawlproject.storage.page_files import PageRepository


def test_a_crawl_leaves_its_folder_complete(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    web = DictWeb(
        dict(
            [
                page("http://a.example/", "http://b.example/coral", "http://b.example/cars", text="coral reef"),
                page("http://b.example/coral", text="reef of coral"),
                page("http://b.example/cars", text="engines"),
            ]
        )
    )
    with running(web) as server:
        done = crawl(topic_file(tmp_path, "http://a.example/"), folder, port=server.port)
    assert done.returncode == 0, done.stderr
    lines = {line["url"]: line for line in history(folder)}
    front_page = lines.pop("http://b.example/")
    assert front_page["parent"] == "http://a.example/" and front_page["error"] == "http 404"
    assert set(lines) == {"http://a.example/", "http://b.example/coral", "http://b.example/cars"}
    assert lines["http://b.example/coral"]["parent"] == "http://a.example/"
    assert lines["http://b.example/coral"]["depth"] == 1
    assert lines["http://b.example/coral"]["relevance"] > lines["http://b.example/cars"]["relevance"]
    assert PageRepository(folder / "pages").load("http://a.example/") == web.replies["http://a.example/"].body
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert {item["url"] for item in items} == set(lines)
    assert all(item["text"] and item["title"] for item in items)
    links = [json.loads(line) for line in (folder / "links.jsonl").read_text().splitlines()]
    assert {(link["source"], link["target"]) for link in links} == {
        ("http://a.example/", "http://b.example/coral"),
        ("http://a.example/", "http://b.example/cars"),
    }
    manifest = json.loads((folder / "crawl.json").read_text())
    assert manifest["ordering"] == "dom" and manifest["reason"] == "finished" and manifest["finished"]
    assert "<html" in (folder / "report.html").read_text()


def test_redirects_lead_to_one_canonical_page(tmp_path: Path) -> None:
    """Redirects to another host, to another spelling of the same URL, in circles, and to a trap."""
    replies = dict(
        [
            page(
                "http://a.example/",
                "http://a.example/moved",
                "http://a.example/circle",
                "http://a.example/itself",
                "http://a.example/trap",
                "http://a.example/wrong",
                "http://a.example/strange",
                "http://spelled.example/",
                text="reef",
            ),
            page("http://b.example/new", text="reef"),
        ]
    )

    def moved(url: str, to: str) -> None:
        replies[url] = Reply(url, 301, {"location": to, **HTML}, b"moved")

    moved("http://a.example/moved", "http://b.example/new?utm_source=x#here")
    moved("http://a.example/circle", "http://a.example/circle2")
    moved("http://a.example/circle2", "http://a.example/circle")
    moved("http://a.example/itself", "http://a.example/itself")
    moved("http://a.example/wrong", "http://[bad/")
    moved("http://a.example/strange", "http://a.example:port/")
    moved("http://a.example/trap", "http://b.example/" + "x" * 300)
    exact = {
        "http://spelled.example/": Reply("", 301, {"location": "/index.html", **HTML}, b"moved"),
        "http://spelled.example/index.html": Reply("", 200, HTML, html(text="reef")),
    }

    class Exact(DictWeb):
        def get(self, url: str) -> Reply:
            return exact[url] if url in exact else super().get(url)

    with AccessLog(tmp_path / "log") as log, running(Exact(replies), log=log) as server:
        done = crawl(topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path / "crawl") == {"http://a.example/", "http://b.example/new", "http://spelled.example/"}
    lines = {line["url"]: line for line in history(tmp_path / "crawl")}
    assert lines["http://a.example/moved"]["redirect"] == "http://b.example/new"
    assert lines["http://a.example/moved"]["status"] == 301
    assert lines["http://b.example/new"]["parent"] == "http://a.example/"
    assert lines["http://a.example/itself"]["error"] == "too_many_redirects"
    assert lines["http://a.example/itself"]["status"] == 301
    for wrong in ("wrong", "strange"):
        line = lines[f"http://a.example/{wrong}"]
        assert (line["error"], line["status"]) == ("redirect to no URL", 301), wrong
    assert [access["url"] for access in read_log(tmp_path / "log")].count("http://a.example/itself") == 2
    assert refusals(tmp_path / "crawl")["trap/too_long"] == 1


PAGES_BY_NAME = {
    "http://a.example/index.html": html("docs/index.html", "sub/", text="reef"),
    "http://a.example/docs/index.html": html("more.html", text="coral"),
    "http://a.example/docs/more.html": html(text="reef"),
    "http://a.example/sub/index.html": html(text="reef"),
}


class Storage(DictWeb):
    """Serves sites as storage services do: ``/a/`` is missing, ``/a/index.html`` exists."""

    def get(self, url: str) -> Reply:
        body = PAGES_BY_NAME.get(url)
        return Reply(url, 200, HTML, body) if body else Reply(url, 403, HTML, b"AccessDenied")


def test_a_folder_that_is_known_by_its_page_only_is_found(tmp_path: Path) -> None:
    """A link to ``/sub/`` itself leads to no page."""
    with AccessLog(tmp_path / "log") as log, running(Storage({}), log=log) as server:
        done = crawl(topic_file(tmp_path, "http://a.example/index.html"), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    docs = {"http://a.example/docs/", "http://a.example/docs/more.html"}
    assert stored(tmp_path / "crawl") == {"http://a.example/", *docs}
    assert {line["url"]: line["error"] for line in history(tmp_path / "crawl")}["http://a.example/sub/"] == "http 403"
    asked = [access["url"] for access in read_log(tmp_path / "log")]
    assert "http://a.example/sub/index.html" not in asked, "nobody named it"
    assert [asked.count(f"http://a.example/docs/{name}") for name in ("", "index.html")] == [1, 1]


def test_a_folder_that_is_known_by_its_page_only_is_visited_again(tmp_path: Path) -> None:
    settings = {**REVISITING, "CLOSESPIDER_TIMEOUT": 6}
    with running(Storage({})) as server:
        crawl(topic_file(tmp_path, "http://a.example/index.html"), tmp_path / "crawl", port=server.port, **settings)
    visits = [line for line in history(tmp_path / "crawl") if line["url"] == "http://a.example/docs/"]
    assert len(visits) > 2
    assert [visit["change"] for visit in visits[1:]] == ["same"] * (len(visits) - 1)
    assert not any(visit["error"] for visit in visits)


def test_failures_are_recorded_and_retried_inside_the_lease(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", "http://a.example/broken", "http://a.example/gone", text="reef")]))
    web.replies["http://a.example/broken"] = Reply("", 503, HTML, b"down")
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        topic = topic_file(tmp_path, "http://a.example/")
        crawl(topic, tmp_path / "crawl", port=server.port, RETRY_TIMES=2, CRAWL_BLOCKED_REST=1)
    errors = {line["url"]: line["error"] for line in history(tmp_path / "crawl") if line["error"]}
    assert errors == {"http://a.example/broken": "http 503", "http://a.example/gone": "http 404"}
    assert sum(access["url"].endswith("/broken") for access in read_log(tmp_path / "log")) == 3


def test_unwanted_content_stops_at_the_headers_and_long_bodies_are_cut(tmp_path: Path) -> None:
    web = DictWeb(dict([page("http://a.example/", "http://a.example/film", "http://a.example/long", text="reef")]))
    web.replies["http://a.example/film"] = Reply("", 200, {"content-type": "video/mp4"}, b"x" * 3_000_000)
    web.replies["http://a.example/long"] = Reply("", 200, HTML, b"<p>reef " * 100_000)
    with running(web) as server:
        topic = topic_file(tmp_path, "http://a.example/")
        crawl(topic, tmp_path / "crawl", port=server.port, PAGE_MAX_BYTES=10_000)
    lines = {line["url"]: line for line in history(tmp_path / "crawl")}
    assert lines["http://a.example/film"]["error"] == "content type video/mp4"
    assert lines["http://a.example/film"]["md5"] == ""
    assert lines["http://a.example/long"]["size"] == 10_000


def test_pages_that_ask_not_to_be_kept_are_not(tmp_path: Path) -> None:
    web = DictWeb(
        dict([page("http://a.example/", "http://a.example/secret", text="reef"), page("http://a.example/next")])
    )
    hidden = b'<meta name="robots" content="noindex"><a href="/next">next</a>'
    web.replies["http://a.example/secret"] = Reply("", 200, HTML, hidden)
    with running(web) as server:
        crawl(topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl", port=server.port)
    assert stored(tmp_path / "crawl") == {"http://a.example/", "http://a.example/next"}


def test_the_budget_is_kept_to_the_page(tmp_path: Path) -> None:
    with running(host_farm(20, 5)) as server:
        topic = topic_file(tmp_path, "http://portal.example/")
        crawl(topic, tmp_path / "crawl", port=server.port, CRAWL_MAX_PAGES=37)
        assert len(stored(tmp_path / "crawl")) == 37
        crawl(topic, tmp_path / "crawl", port=server.port, CRAWL_MAX_PAGES=50)
    assert len(stored(tmp_path / "crawl")) == 50, "a larger budget continues where the smaller one ended"
    assert len(history(tmp_path / "crawl")) == len({line["url"] for line in history(tmp_path / "crawl")})


def test_the_crawl_stays_in_its_domains(tmp_path: Path) -> None:
    web = DictWeb(
        dict([page("http://www.a.example/", "http://b.example/", "http://x.a.example/"), page("http://x.a.example/")])
    )
    with running(web) as server:
        topic = topic_file(tmp_path, "http://www.a.example/", extra='[crawl]\nCRAWL_ALLOWED_DOMAINS = ["a.example"]\n')
        crawl(topic, tmp_path / "crawl", port=server.port)
    assert stored(tmp_path / "crawl") == {"http://www.a.example/", "http://x.a.example/"}
    assert refusals(tmp_path / "crawl") == {"scope/domain": 1}


def test_a_wrong_topic_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    topic = tmp_path / "topic.toml"
    topic.write_text('keywords = "reef"\nseed = ["http://a.example/"]\n')
    done = crawl(topic, tmp_path / "crawl")
    assert done.returncode == 2
    assert str(topic) in done.stderr and "seeds" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "crawl").exists()


def test_wrong_settings_are_one_message_and_exit_code_2(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://a.example/")
    wrong = {"FRONTIER_BATCH_SIZE": "many", "ORDERING_ALPHA": "x", "VIRTUAL_WEB": "nowhere.warc"}
    wrong |= {"CRAWL_ALLOWED_ADDRESSES": "http://10.0.0.1/", "CRAWL_ALLOWED_PORTS": "https"}
    wrong |= {"DOWNLOAD_TLS_MIN_VERSION": "TLSv1", "DOWNLOADER_CLIENT_TLS_CIPHERS": "none"}
    for name, value in wrong.items():
        done = crawl(topic, tmp_path / "crawl", **{name: value})
        assert done.returncode == 2, done.stderr
        assert (name if name != "VIRTUAL_WEB" else value) in done.stderr
        assert "Traceback" not in done.stderr
    done = crawl(topic, tmp_path / "crawl", ordering="bestfirst")
    assert done.returncode == 2 and "best_first" in done.stderr


def test_a_crawl_whose_seeds_are_of_no_use_has_exit_code_2(tmp_path: Path) -> None:
    replies = dict([page("http://b.example/"), robots("http://b.example", "User-agent: *\nDisallow: /\n")])
    with running(DictWeb(replies)) as server:
        topic = topic_file(tmp_path, "http://a.example/gone", "http://b.example/")
        done = crawl(topic, tmp_path / "crawl", port=server.port)
    assert done.returncode == 2
    assert "none of its seeds led to a page" in done.stderr


def test_robots_rules_bind_redirect_targets_too(tmp_path: Path) -> None:
    replies = dict([page("http://a.example/", "http://a.example/go", text="reef"), page("http://b.example/private/x")])
    replies |= dict([robots("http://b.example", "User-agent: *\nDisallow: /private/\n")])
    replies["http://a.example/go"] = Reply("", 302, {"location": "http://b.example/private/x", **HTML}, b"")
    with AccessLog(tmp_path / "log") as log, running(DictWeb(replies), log=log) as server:
        crawl(topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl", port=server.port)
    assert "http://b.example/private/x" not in [access["url"] for access in read_log(tmp_path / "log")]
    assert refusals(tmp_path / "crawl") == {"robots/forbidden": 1}


def test_a_content_type_with_a_comma_is_read(tmp_path: Path) -> None:
    replies = dict([page("http://a.example/", "http://a.example/next", text="reef"), page("http://a.example/next")])
    commas = {"content-type": "text/html, charset=utf-8"}
    with running(DictWeb({url: replace(reply, headers=commas) for url, reply in replies.items()})) as server:
        crawl(topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl", port=server.port)
    assert stored(tmp_path / "crawl") == set(replies)
