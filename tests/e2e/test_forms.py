"""Search forms over real sockets: queried politely, followed to their items, remembered after ``kill -9``; also real engines."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from html import escape
from importlib.util import find_spec
from pathlib import Path
from socket import create_connection, socket
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from support.crawling import QUICK, crawl, history, kill_after_growth, refusals, stored, topic_file
from support.deepweb import LIMIT, posts, queries, some_sites
from support.httpserver import HtmlHandler, listening, local

from benchmarks.deep_web_sites import DeepItem, DeepSite
from benchmarks.twenty_deep_sites import DeepWeb
from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.forms.report import read_sources
from crawlproject.reports.report import write_report
from crawlproject.storage.read import read_links
from crawlproject.urls.post import is_post


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[DeepWeb, Path]:
    tmp_path = tmp_path_factory.mktemp("forms")
    web = some_sites()
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        done = crawl(topic_file(tmp_path, web.ENTRANCE), tmp_path / "crawl", port=server.port, CRAWL_FORMS=LIMIT)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return web, tmp_path


def test_items_behind_forms_are_crawled(crawled: tuple[DeepWeb, Path]) -> None:
    web, tmp_path = crawled
    found = stored(tmp_path / "crawl")
    for site in web.sites.values():
        reached = {site.url_of(number) for number in range(site.size)} & found
        if (
            site.kind in ("search", "advanced", "books", "listing")
            and site.host != "forbidden.example"
            and site.on_topic
        ):
            assert len(reached) > 20, site.host
        else:
            assert len(reached) <= 13, site.host  # items on pages that are reachable without queries
    lines = {line["url"]: line for line in history(tmp_path / "crawl")}
    item = next(line for line in lines.values() if "/item/" in line["url"] and "/find" in (line["parent"] or ""))
    query = lines[item["parent"]]
    assert query["anchor"] and lines[query["parent"]]["depth"] < query["depth"]


def test_only_queries_are_sent_and_no_more_than_allowed(crawled: tuple[DeepWeb, Path]) -> None:
    web, tmp_path = crawled
    assert not web.no_queries()
    asked = Counter(urlsplit(line["url"]).hostname for line in queries(tmp_path / "crawl"))
    assert max(asked.values()) == LIMIT
    accesses = list(read_log(tmp_path / "log"))
    scripts = [access for access in accesses if "/find" in access["url"]]
    assert len(scripts) == asked.total(), "other views of a result page are not fetched"
    assert not [access for access in scripts if access["host"] == "forbidden.example"]
    assert refusals(tmp_path / "crawl")["robots/forbidden"] >= 1


def test_the_report_lists_the_sources(crawled: tuple[DeepWeb, Path]) -> None:
    web, tmp_path = crawled
    sources = {urlsplit(source.address).hostname: source for source in read_sources(tmp_path / "crawl", 0.1)}
    assert sum(source.fetches for source in sources.values()) == len(queries(tmp_path / "crawl"))
    for host, source in sources.items():
        site = web.sites[host or ""]
        assert source.items <= site.size and source.relevant <= source.pages <= site.size
        assert source.size >= source.items
    best = next(iter(sources.values()))
    assert best.relevant > 10 and best.queries > 1
    page = write_report(tmp_path / "crawl").read_text()
    assert "Search forms" in page and best.address in page


def test_without_the_setting_no_form_is_filled_in(tmp_path: Path) -> None:
    web = some_sites()
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        done = crawl(topic_file(tmp_path, web.ENTRANCE), tmp_path / "crawl", port=server.port)
    assert done.returncode == 0, done.stderr
    assert not [access for access in read_log(tmp_path / "log") if "/find" in access["url"]]


@pytest.mark.parametrize(("frontier", "by_post"), [("disk", False), ("disk", True), ("memory", True)])
def test_a_killed_crawl_goes_on_with_its_queries(tmp_path: Path, frontier: str, by_post: bool) -> None:
    kinds = ("search", "books", "listing")
    web = DeepWeb([site for site in some_sites(by_post=by_post).sites.values() if site.kind in kinds])
    topic, folder = topic_file(tmp_path, web.ENTRANCE), tmp_path / "crawl"
    settings = {"CRAWL_DIR": folder, "CRAWL_FORMS": LIMIT, "FRONTIER": frontier, "CRAWL_MAX_PAGES": 90}
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        for lines in (13, 23):
            kill_after_growth(folder, lines, {**QUICK, **settings}, server.port, topic)
        done = crawl(topic, folder, port=server.port, ordering="adaptive", **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    urls = [line["url"] for line in history(folder)]
    assert len(urls) == len(set(urls)) and len(stored(folder)) == 90 and not web.no_queries()
    asked = Counter(urlsplit(line["url"]).hostname for line in queries(folder))
    # A nonsense query separates results from the rest of the page; it is sent once per source, even after kills.
    first = [line for line in queries(folder) if line["parent"].endswith("example/")]
    assert 6 <= max(asked.values()) <= LIMIT and len({line["url"] for line in first}) == len(first)
    sent, kept = len(posts(tmp_path / "log")), sum(is_post(line["url"]) for line in queries(folder))
    assert kept <= sent <= kept + 2 * 16, "only what was in flight at a kill is sent twice"


# ---------------------------------------------------------------- real engines


def items_of(count: int) -> list[DeepItem]:
    return DeepSite("notes.example", "books", count).items


class FullText(HtmlHandler):
    """A search page in front of SQLite's full-text index (FTS5), ranked by BM25, ten results a page."""

    database: sqlite3.Connection
    agents: dict[str, str]

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        self.agents[self.path] = self.headers["User-Agent"]
        sent = {name: values[0] for name, values in parse_qs(split.query).items()}
        if split.path == "/robots.txt":
            return self.answer(404, "")
        if split.path.startswith("/note/"):
            title, body = self.database.execute(
                "SELECT title, body FROM notes WHERE rowid = ?", (split.path[6:],)
            ).fetchone()
            return self.answer(200, f"<h1>{escape(title)}</h1><p>{escape(body)}</p>")
        asked, start = sent.get("query", ""), int(sent.get("offset", "0"))
        rows: list[tuple[int, str, str]] = []
        if asked:
            sql = "SELECT rowid, title, snippet(notes, 1, '<b>', '</b>', ' ... ', 12) FROM notes WHERE notes MATCH ?"
            rows = self.database.execute(f"{sql} ORDER BY rank LIMIT 11 OFFSET ?", (f'"{asked}"', start)).fetchall()
        listed = "".join(f"<div><h3><a href=/note/{row}>{title}</a></h3>{text}</div>" for row, title, text in rows[:10])
        more = (
            f"<a href='/?{escape(urlencode({'query': asked, 'offset': start + 10}))}'>More results</a>"
            if rows[10:]
            else ""
        )
        form = "<form><input type=text name=query><input type=submit value='Search the notes'></form>"
        return self.answer(200, f"<title>Notes on the coral reef</title>{form}<p>Coral reef notes</p>{listed}{more}")


def test_a_full_text_index_is_emptied_of_its_topic(tmp_path: Path) -> None:
    items = items_of(300)
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as database:
        database.execute("CREATE VIRTUAL TABLE notes USING fts5(title, body)")
        database.executemany("INSERT INTO notes VALUES (?, ?)", [(item.title, item.text) for item in items])
        agents: dict[str, str] = {}
        with listening(type("Notes", (FullText,), {"database": database, "agents": agents})) as port:
            home = f"http://127.0.0.1:{port}/"
            done = crawl(topic_file(tmp_path, home), tmp_path / "crawl", CRAWL_FORMS=30, **local(port))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    found = {url for url in stored(tmp_path / "crawl") if "/note/" in url}
    relevant = {f"{home}note/{number}" for number, item in enumerate(items, 1) if item.relevant}
    assert len(found & relevant) > 0.9 * len(relevant)
    assert len(queries(tmp_path / "crawl")) <= 30
    assert {"query=" in path for path, agent in agents.items() if agent.endswith(" (query of a search form)")} == {True}
    assert {"query=" in path for path, agent in agents.items() if not agent.endswith(" (query of a search form)")} == {
        False
    }


@pytest.mark.skipif(find_spec("datasette") is None, reason="datasette is not installed (requirements-dev.txt)")
def test_an_application_with_a_search_form_is_emptied_of_its_topic(tmp_path: Path) -> None:
    """Datasette: its form sends many fields, and redirects to a shorter URL; its pages have many other views."""
    items = items_of(200)
    with closing(sqlite3.connect(tmp_path / "library.db")) as database:
        database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT)")
        database.executemany(
            "INSERT INTO notes (title, body) VALUES (?, ?)", [(item.title, item.text) for item in items]
        )
        database.execute('CREATE VIRTUAL TABLE notes_fts USING fts5(title, body, content="notes", content_rowid="id")')
        database.execute("INSERT INTO notes_fts (notes_fts) VALUES ('rebuild')")
        database.commit()
    with _datasette(tmp_path / "library.db") as port:
        home = f"http://127.0.0.1:{port}/library/notes"
        done = crawl(topic_file(tmp_path, home), tmp_path / "crawl", CRAWL_FORMS=40, CRAWL_MAX_PAGES=80, **local(port))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    asked = {line["url"] for line in queries(tmp_path / "crawl")}
    # Its rows are reachable without queries, too: only rows listed in the answers count.
    listed = {link for url, links in read_links(tmp_path / "crawl") if url in asked for link in links}
    relevant = {f"{home}/{number}" for number, item in enumerate(items, 1) if item.relevant}
    assert len(listed & relevant) > 0.9 * len(relevant) and len(asked) < 60
    assert any(line["redirect"] for line in queries(tmp_path / "crawl"))


@contextmanager
def _datasette(database: Path) -> Iterator[int]:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "datasette", "serve", str(database), "--port", str(port)]
    command += ["--setting", "default_page_size", "20"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                try:
                    create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield port
        finally:
            process.terminate()
