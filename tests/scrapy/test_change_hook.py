"""``CRAWL_CHANGE_HOOK``: a command or a web service is notified of changes, and the crawl never waits for it."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.crawling import crawl, scrapy, topic_file
from support.httpserver import QuietHandler, listening
from support.webs import html

from crawlproject.parts.revisits.change_hook import Caller

KEEP = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"


def kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_command_hears_of_relevant_changes_and_of_the_end(tmp_path: Path) -> None:
    web, notes = tmp_path / "web" / "reef.example", tmp_path / "notes.jsonl"
    web.mkdir(parents=True)
    (web / "index.html").write_bytes(html("a.html", "b.html", text="coral reef"))
    for name, text in (("a", "coral reef"), ("b", "railways")):
        (web / f"{name}.html").write_bytes(html(text=f"{text} {name}"))
    for path in web.iterdir():
        os.utime(path, (1e9, 1e9))  # Last-Modified has a resolution of seconds
    folder = tmp_path / "crawl"
    assert crawl(topic_file(tmp_path, "http://reef.example/"), folder, VIRTUAL_WEB=web.parent).returncode == 0
    (web / "a.html").write_bytes(html("new.html", text="coral reef restored by divers"))
    (web / "b.html").write_bytes(html(text="steam engines"))
    (web / "new.html").write_bytes(html(text="coral reef nursery"))
    settings = {"CRAWL_CHANGE_HOOK": f'{sys.executable} -c "{KEEP}" {notes}', "POLITENESS_MIN_DELAY": 0}
    done = scrapy("revisit", folder, **settings, POLITENESS_FACTOR=0)
    assert done.returncode == 0, done.stderr
    *changes, end = kept(notes)
    assert {(note["change"], note["url"][-8:]) for note in changes} == {("changed", "e/a.html"), ("new", "new.html")}
    assert (end["event"], end["reason"], end["changed"], end["stored"]) == ("end", "round over", 2, 1)
    assert str(notes) not in (folder / "crawl.json").read_text()


def test_a_web_service_hears_and_failures_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(500 if len(heard) > 1 else 204)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with listening(Handler) as port, caplog.at_level(logging.WARNING):
        caller = Caller(f"http://127.0.0.1:{port}/hook")
        for number in range(4):
            caller.tell({"number": number})
        caller.close()
    assert [message["number"] for message in heard] == [0, 1, 2, 3]
    assert caller.failed == 3 and len(caplog.records) == 1


def test_a_crawl_tells_of_its_pages_and_its_end(tmp_path: Path) -> None:
    notes, folder = tmp_path / "notes.jsonl", tmp_path / "crawl"
    hook = f'{sys.executable} -c "{KEEP}" {notes}'
    chosen = {"VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 30, "CRAWL_CHANGE_HOOK": hook}
    done = crawl(Path("topics/demo.toml"), folder, **chosen, CRAWL_HOOK_PAGES=10)
    assert done.returncode == 0, done.stderr
    *told, end = kept(notes)
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    relevant = {item["url"] for item in items if item["relevance"] >= 0.1 and not item["duplicate_of"]}
    assert {note["event"] for note in told} == {"pages"}
    assert [len(note["pages"]) for note in told[:-1]] == [10] * (len(told) - 1) and len(told) > 1
    urls = [page["url"] for note in told for page in note["pages"]]
    assert len(urls) == len(set(urls)) and set(urls) == relevant
    assert (end["event"], end["reason"], end["pages"], end["folder"]) == ("end", "page budget", 30, str(folder))
    assert "visits" not in end


def test_a_slow_hook_holds_up_nobody() -> None:
    caller = Caller(f'{sys.executable} -c "import time; time.sleep(60)"', waiting=5, patience=0.3)
    start = time.monotonic()
    for number in range(100):
        caller.tell({"number": number})
    assert time.monotonic() - start < 0.2 and caller.dropped >= 94
    caller.close()
    assert time.monotonic() - start < 10.0


@pytest.mark.parametrize(("hook", "wish"), [("'", "No closing quotation"), ("  ", "expected a command")])
def test_a_hook_that_is_none_is_named(tmp_path: Path, hook: str, wish: str) -> None:
    topic = topic_file(tmp_path, "http://a.example/")
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB="sample", CRAWL_CHANGE_HOOK=hook)
    assert done.returncode == 2 and wish in done.stderr


def test_a_topic_file_sets_no_hook(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://a.example/", extra='[crawl]\nCRAWL_CHANGE_HOOK = "true"\n')
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB="sample")
    assert done.returncode == 2 and "a topic file must not set it" in done.stderr
