"""``scrapy revisit`` and ``scrapy changes``, run as a person runs them, on a web that changes between the runs."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.crawling import ROOT, crawl, history, scrapy, stored, topic_file
from support.warcs import check, records
from support.webs import html

PAGES = 12
AT_ONCE = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_PROGRESS_SECONDS": 0}
KEPT = ("response", "revisit")
ATOM = "{http://www.w3.org/2005/Atom}"


def write(web: Path, name: str, *links: str, text: str) -> None:
    path = web / "reef.example" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(html(*links, text=text, title=name.partition(".")[0].title()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl of 13 pages."""
    web, names = tmp_path / "web", [f"p{n}.html" for n in range(PAGES)]
    write(web, "index.html", *names, text="coral reef")
    for n, name in enumerate(names):
        write(web, name, text=f"coral reef number {chr(97 + n)} with its own words {'tide ' * n}")
    for path in web.rglob("*.html"):
        os.utime(path, (1e9, 1e9))  # Last-Modified has a resolution of seconds
    topic = topic_file(tmp_path, "http://reef.example/", extra='language = "en"\n[crawl]\nCRAWL_MAX_PAGES = 40\n')
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB=web)
    topic.unlink()  # the folder holds all that is needed
    assert done.returncode == 0 and len(history(tmp_path / "crawl")) == PAGES + 1, done.stderr
    return tmp_path / "crawl"


def rounds(folder: Path, *arguments: object, **settings: object) -> str:
    done = scrapy("revisit", folder, *arguments, **AT_ONCE, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_round_tells_what_has_become_of_the_pages(folder: Path, tmp_path: Path) -> None:
    web = folder.parent / "web"
    assert scrapy("changes", folder).stdout.startswith("topic: no page was visited again yet")
    write(web, "p1.html", "new.html", text="coral reef restored by divers from all over the world\x1b[2J\u202e")
    write(web, "new.html", text="coral reef nursery")
    (web / "reef.example" / "p2.html").unlink()
    out = rounds(folder, "--pages", 15)
    shown = {line.split()[1]: int(line.split()[0]) for line in out.splitlines()[1:-1]}
    assert shown == {"same": 11, "changed": 1, "new": 1, "missing": 1, "gone": 0, "moved": 0}
    assert out.startswith("14 pages visited in ") and out.splitlines()[-1].startswith("next due: ")
    lines = len(history(folder))
    assert json.loads((folder / "finished.json").read_text())["fetches"] == lines == PAGES + 1 + 14
    manifest = json.loads((folder / "crawl.json").read_text())
    assert (manifest["ordering"], manifest["reason"]) == ("dom", "round over")
    assert manifest["settings"]["crawl_revisit"] == "adaptive" and manifest["settings"]["crawl_max_pages"] == 40
    assert manifest["stats"]["revisits/changed"] == 1

    text = scrapy("changes", folder).stdout
    assert text.startswith("topic: 1 new, 1 changed, 1 missing since the first harvest\n")
    assert "+ coral reef restored by divers" in text and "- coral reef number b" in text
    assert "\x1b" not in text and "\u202e" not in text
    lines = [
        json.loads(line) for line in scrapy("changes", folder, "--to", "jsonl", "--since", "1d").stdout.split("\n")[:-1]
    ]
    assert sorted(line["change"] for line in lines) == ["changed", "missing", *["new"] * (PAGES + 2)], (
        "since 1d: the harvest, too"
    )
    assert {line["title"] for line in lines if line["change"] == "missing"} == {"P2"}

    feed = tmp_path / "feeds" / "changes.atom"
    assert scrapy("changes", folder, "--to", "atom", "--output", feed).returncode == 0
    root = ElementTree.parse(feed).getroot()
    assert root.tag == f"{ATOM}feed" and len(root.findall(f"{ATOM}entry")) == 3


def test_index_exports_and_archive_follow(folder: Path, tmp_path: Path) -> None:
    web = folder.parent / "web"
    assert scrapy("index", folder).stdout.startswith(f"{PAGES + 1} pages added;")
    rounds(folder, "--pages", PAGES + 1, CRAWL_WARC=True)
    write(web, "p1.html", text="coral reef restored by divers")
    rounds(folder, "--pages", PAGES + 1)
    assert scrapy("index", folder).stdout.startswith(f"0 pages added, 1 replaced; {PAGES + 1} pages")
    hits = scrapy("search", folder, "divers").stdout
    assert "http://reef.example/p1.html" in hits
    assert scrapy("export", folder, "--to", "jsonl", tmp_path / "pages.jsonl").returncode == 0
    texts = [json.loads(line)["text"] for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert len(texts) == PAGES + 1 and sum("divers" in text for text in texts) == 1

    (archive,) = (folder / "warc").glob("*.warc.gz")
    check(archive)
    kept = [(kind, record.http_headers.get_statuscode()) for kind, _, record, _ in records(archive) if kind in KEPT]
    assert kept.count(("revisit", "304")) == 2 * (PAGES + 1) - 1
    asked = [
        record.http_headers for kind, url, record, _ in records(archive) if kind == "request" and "robots" not in url
    ]
    assert asked and all(headers.get_header("If-Modified-Since") for headers in asked)


def test_what_a_folder_would_run_is_left_out_and_told(folder: Path) -> None:
    path = folder / "crawl.json"
    manifest = json.loads(path.read_text())
    manifest["settings"] |= {"crawl_browser": "/tmp/its\x1b own", "topic_relevance": "its:Judge"}
    path.write_text(json.dumps(manifest))
    done = scrapy("revisit", folder, "--pages", 3, **AT_ONCE, TOPIC_RELEVANCE="terms")
    assert done.returncode == 0, done.stderr
    for name, value in (("CRAWL_BROWSER", "'/tmp/its own'"), ("TOPIC_RELEVANCE", "its:Judge")):
        assert f"{name} of the crawl is ignored; to use it, give -s {name}={value}" in done.stderr
    assert json.loads(path.read_text())["settings"]["crawl_browser"] == ""


def test_a_round_is_a_tenth_and_at_least_ten(folder: Path) -> None:
    assert rounds(folder).startswith("10 pages visited")
    assert len(history(folder)) == PAGES + 11
    rounds(folder, "--pages", 3, CRAWL_REVISIT="uniform")
    assert len(history(folder)) == PAGES + 14
    assert json.loads((folder / "crawl.json").read_text())["settings"]["crawl_revisit"] == "uniform"
    rounds(folder, "--pages", 1)
    assert json.loads((folder / "crawl.json").read_text())["settings"]["crawl_revisit"] == "uniform", "the folder's"


def test_what_is_wrong_is_named(folder: Path, tmp_path: Path) -> None:
    for arguments, wish in [
        (("revisit", tmp_path / "none"), "has no crawl.json"),
        (("revisit", folder, "--pages", 0), "--pages must be at least 1"),
        (("revisit", folder, "-a", "topic=demo"), "expected one crawl folder"),
        (("revisit", folder, "-s", "CRAWL_REVISIT=often"), "revisit policy: expected one of"),
        (("changes", tmp_path / "none"), "has no crawl.json"),
        (("changes", folder, "--since", "yesterday"), "time 'yesterday': expected a date such as"),
    ]:
        done = scrapy(*arguments)
        assert done.returncode == 2 and wish in done.stderr and "Traceback" not in done.stderr, arguments


def test_a_round_its_changes_and_the_report_have_the_same_numbers(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    topic = ROOT / "topics" / "demo.toml"
    done = crawl(topic, folder, ordering="adaptive", VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=80)
    assert done.returncode == 0, done.stderr
    out = rounds(folder, "--pages", 50)
    visits = {line[10:]: int(line[:8]) for line in out.splitlines()[1:] if line.startswith("  ")}
    assert sum(visits.values()) == int(out.split()[0]) == 50
    retired = int(re.search(r"^(\d+) pages? retired to make room", out, re.MULTILINE)[1])
    assert visits["new"] == retired > 0 < visits["stored and retired at once"], "the collection keeps its size"

    text = scrapy("changes", folder).stdout
    came = visits["new"] + visits["stored and retired at once"] + visits.get("copies of other pages", 0)
    assert text.startswith(f"demo: {visits['new']} new, {retired} retired since the first harvest ({came} stored: ")

    report = re.sub(r"<[^>]+>", "", (folder / "report.html").read_text())
    stored_pages, there, away, copies = map(
        int,
        re.search(
            r"(\d+) pages were stored so far: (\d+) are in the collection, (\d+) are gone, .*, (\d+) are copies", report
        ).groups(),
    )
    assert stored_pages == 80 + came == len(stored(folder)) and there + away + copies == stored_pages
    assert away == retired + visits["stored and retired at once"]


def test_a_round_needs_no_port_of_the_crawl_before(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        manifest = json.loads((folder / "crawl.json").read_text())
        port = taken.getsockname()[1]
        manifest["settings"] |= {"dashboard": True, "dashboard_port": port, "crawl_metrics_port": port}
        (folder / "crawl.json").write_text(json.dumps(manifest))
        rounds(folder, "--pages", 10)


def test_after_a_round_the_crawl_itself_has_nothing_to_wait_for(folder: Path, tmp_path: Path) -> None:
    """URLs of the next round stay in the frontier. Before, the crawl waited for them, or dropped them when they were due."""
    rounds(folder, "--pages", 15)
    topic = topic_file(tmp_path, "http://reef.example/", extra='language = "en"\n[crawl]\nCRAWL_MAX_PAGES = 40\n')
    for _ in range(2):
        done = crawl(topic, folder, VIRTUAL_WEB=tmp_path / "web", timeout=60)
        assert done.returncode == 0, done.stderr
        assert json.loads((folder / "crawl.json").read_text())["reason"] == "finished"
    assert "13 pages visited" in rounds(folder, "--pages", 15)


def test_a_crawl_of_several_topics_is_visited_again(tmp_path: Path) -> None:
    topics, web, folder = tmp_path / "topics", tmp_path / "web", tmp_path / "crawl"
    topics.mkdir()
    write(web, "index.html", "bread.html", text="coral reef")
    write(web, "bread.html", text="sourdough bread")
    for name, words in (("reefs", "coral reef"), ("bread", "sourdough")):
        topic_file(topics, "http://reef.example/", keywords=words).rename(topics / f"{name}.toml")
    done = scrapy("crawl", "topical", "-a", f"topics={topics}", CRAWL_DIR=folder, VIRTUAL_WEB=web, **AT_ONCE)
    assert done.returncode == 0, done.stderr
    assert "2 pages visited" in rounds(folder)
