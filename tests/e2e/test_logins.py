"""A crawl that is logged in on one host: which host receives which credentials, and no file contains the secret."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

from support.crawling import QUICK, crawl, refusals, scrapy, topic_file
from support.httpserver import HtmlHandler, QuietHandler, listening
from support.twofaced import prose

SECRET = "q7-very-secret"
PAGE = (
    b"<title>reef</title><p>coral reef <a href='http://wiki.example/in'>in</a> <a href='http://wiki.example/away'>away</a>"
    b" <a href='http://other.example/'>other</a> <a href='http://wiki.example/logout'>log out</a>"
)


def test_only_the_host_of_a_login_gets_it_and_it_is_in_no_file(tmp_path: Path) -> None:
    asked: dict[str, list[str | None]] = {}

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked.setdefault(self.path, []).append(self.headers.get("X-Key"))
            if self.path.endswith("/away"):
                self.send_response(302)
                self.send_header("Location", "http://other.example/landed")
            else:
                self.send_response(404 if self.path.endswith("robots.txt") else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE)))
            self.end_headers()
            self.wfile.write(PAGE)

    (tmp_path / "logins.toml").write_text(f'[hosts."http://wiki.example".headers]\nX-Key = "{SECRET}"\n')
    topic, folder = topic_file(tmp_path, "http://wiki.example/"), tmp_path / "crawl"
    with listening(Handler) as port:
        chosen = {
            "CRAWL_LOGINS": tmp_path / "logins.toml",
            "CRAWL_WARC": 1,
            "PAGE_DUPLICATES": "off",
            "CRAWL_SOFT_404_PROBE": 0,
        }
        done = crawl(topic, folder, port=port, LOG_FILE=tmp_path / "log", **{**QUICK, **chosen, "LOG_LEVEL": "DEBUG"})
    assert done.returncode == 0, done.stderr
    wiki = {url: keys for url, keys in asked.items() if "//wiki.example/" in url}
    assert {"http://wiki.example/", "http://wiki.example/in", "http://wiki.example/away"} <= wiki.keys()
    assert all(keys == [SECRET] * len(keys) for keys in wiki.values())
    assert asked["http://other.example/landed"] == asked["http://other.example/"] == [None]
    assert "fetched without the login" not in (tmp_path / "log").read_text()
    assert "http://wiki.example/logout" not in asked and refusals(folder)["login/logout"]
    for path in [tmp_path / "log", *filter(Path.is_file, folder.rglob("*"))]:
        data = path.read_bytes()
        assert SECRET.encode() not in (gzip.decompress(data) if path.suffix == ".gz" else data), path


def test_a_wrong_file_is_told_before_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "logins.toml").write_text("[hosts")
    done = crawl(
        topic_file(tmp_path, "http://wiki.example/"), tmp_path / "crawl", CRAWL_LOGINS=tmp_path / "logins.toml"
    )
    assert done.returncode == 2 and "CRAWL_LOGINS" in done.stderr
    assert not (tmp_path / "crawl").exists()


def test_what_the_login_changes_is_found_by_asking_without_it(tmp_path: Path) -> None:
    """One page depends on the login, the other does not; probes are sent without the login, robots.txt as usual."""
    asked: list[tuple[str, str | None]] = []

    class Handler(HtmlHandler):
        def do_GET(self) -> None:
            key = self.headers.get("X-Key")
            asked.append((self.path, key))
            name = self.path.rpartition("/")[2]
            mine = prose("for ann", 90) if key and name == "mine" else prose("for all", 90)
            links = "<a href=/mine>coral reef</a> <a href=/all>coral reef</a>" if not name else ""
            self.answer(404 if name == "robots.txt" else 200, f"<title>{name}</title>coral reef {name} {mine} {links}")

    (tmp_path / "logins.toml").write_text(f'[hosts."http://wiki.example".headers]\nX-Key = "{SECRET}"\n')
    chosen = {"CRAWL_LOGINS": tmp_path / "logins.toml", "CRAWL_LOGIN_PROBE": 1, "PAGE_DUPLICATES": "off"}
    folder = tmp_path / "crawl"
    with listening(Handler) as port:
        done = crawl(topic_file(tmp_path, "http://wiki.example/"), folder, port=port, **chosen)
    assert done.returncode == 0, done.stderr
    sent = Counter((url.rpartition("/")[2], bool(key)) for url, key in asked)
    assert sent["mine", True] == sent["mine", False] == 2, "twice as itself, twice as a stranger"
    assert sent["all", True] == sent["all", False] == 1, "alike at first sight"
    stats = json.loads((folder / "crawl.json").read_text())["stats"]
    assert stats["probes/login/personalised"] == 1 and stats["probes/login/honest"] == 2
    said = scrapy("why", folder, "http://wiki.example/mine").stdout
    assert "Probed: personalised. 100% of its text is shown only to those who are logged in." in said
    assert (
        "Probed: without the login the same page is shown." in scrapy("why", folder, "http://wiki.example/all").stdout
    )
    report = (folder / "report.html").read_text()
    assert "without the login of their host: 2 the same, 1 personalised" in report


def test_a_login_of_a_host_is_not_sent_in_clear(tmp_path: Path) -> None:
    asked: list[str | None] = []

    class Handler(HtmlHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("X-Key"))
            self.answer(404 if self.path.endswith("robots.txt") else 200, "<title>reef</title>coral reef")

    (tmp_path / "logins.toml").write_text(f'[hosts."wiki.example".headers]\nX-Key = "{SECRET}"\n')
    with listening(Handler) as port:
        done = crawl(
            topic_file(tmp_path, "http://wiki.example/"),
            tmp_path / "crawl",
            port=port,
            CRAWL_LOGINS=tmp_path / "logins.toml",
        )
    assert done.returncode == 0 and asked and not any(asked)
    assert done.stderr.count("http://wiki.example is fetched without the login") == 1, done.stderr
