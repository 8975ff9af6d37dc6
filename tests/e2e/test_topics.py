"""A crawl of several topics over sockets: topics join and leave while it runs, and ``kill -9`` loses none of their data."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.crawling import QUICK, history, kill_after_growth, scrapy, start
from support.webs import DictWeb, page

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.parts.topics.topics_log import read_topics

TEXTS = {"reefs": "coral reef fish", "bread": "sourdough bread oven", "engines": "steam engine boiler"}
RELEVANT = 0.1


def a_web(hosts: int = 6, pages: int = 15, seconds: float = 0.02) -> DictWeb:
    """Hosts for each topic, whose pages link to the next page, the next host of the topic, and sometimes to other topics."""
    names = list(TEXTS)
    found: dict[str, Any] = {}
    for name, text in TEXTS.items():
        for host in range(hosts):
            home = f"http://www.{name}{host}.example/"
            others = [f"http://www.{other}{host}.example/" for other in names]
            following = f"http://www.{name}{(host + 1) % hosts}.example/"
            own = [f"{home}{number}" for number in range(pages)]
            found |= dict([page(home, *own[:4], following, *others, text=text, seconds=seconds)])
            found |= dict(
                page(url, *own[number : number + 3], text=f"{text} {host} {number}", seconds=seconds)
                for number, url in enumerate(own)
            )
    return DictWeb(found)


def write(folder: Path, name: str, **fields: object) -> Path:
    folder.mkdir(exist_ok=True)
    path, draft = folder / f"{name}.toml", folder / f".{name}"
    values = {"keywords": TEXTS[name].split(), "seeds": [f"http://www.{name}0.example/"], **fields}
    draft.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))
    draft.rename(path)  # atomically, as editors do
    return path


def crawl(topics: Path, folder: Path, port: int, **settings: object) -> Any:
    chosen = {**QUICK, "CRAWL_DIR": folder, **settings}
    return scrapy("crawl", "topical", "-a", f"topics={topics}", port=port, **chosen)


def until(seen: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float = 120.0) -> None:
    """Wait until ``seen`` returns true while a crawl runs."""
    deadline = time.monotonic() + seconds
    while not seen():
        assert process.poll() is None, "the crawl ended before"
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def items_of(folder: Path, name: str) -> dict[str, float]:
    found = [json.loads(line) for line in (folder / "topics" / name / "items.jsonl").read_text().splitlines()]
    assert len(found) == len({line["url"] for line in found}), "a page is in the folder of the topic once"
    return {line["url"]: line["relevance"] for line in found}


def on_topic(web: DictWeb, name: str) -> set[str]:
    return {url for url in web.urls() if f"www.{name}" in url and not url.endswith("robots.txt")}


@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_killed_again_and_again_each_topic_has_its_pages_once(tmp_path: Path, frontier: str) -> None:
    random, web, folder, topics = Random(7), a_web(), tmp_path / "crawl", tmp_path / "mine"
    for name in TEXTS:
        write(topics, name)
    settings = {**QUICK, "CRAWL_DIR": folder, "FRONTIER": frontier, "CONCURRENT_REQUESTS": 8}
    with AccessLog(tmp_path / "log") as log, running(web, latency=True, log=log) as server:
        for _ in range(3):
            kill_after_growth(folder, random.randrange(20, 80), settings, server.port, topics, named="topics")
        done = crawl(topics, folder, server.port, FRONTIER=frontier, CONCURRENT_REQUESTS=8)
    assert done.returncode == 0, done.stderr
    visits = history(folder)
    assert {line["url"] for line in visits if line["md5"]} == {u for u in web.urls() if not u.endswith("robots.txt")}
    assert max(Counter(line["url"] for line in visits).values()) == 1
    for name in TEXTS:
        found = items_of(folder, name)
        assert on_topic(web, name) <= found.keys()
        assert found == {
            line["url"]: line["topics"][name] for line in visits if line["md5"] and line["topics"][name] >= RELEVANT
        }
        assert len((folder / "topics" / name / "history.jsonl").read_text().splitlines()) == len(visits)
        assert (folder / "topics" / name / "report.html").exists()
    fetched = Counter(access["url"] for access in read_log(tmp_path / "log") if "robots.txt" not in access["url"])
    assert sum(fetched.values()) - len(fetched) <= 3 * 8, "more was fetched again than was in flight"


def test_topics_join_and_leave_a_running_crawl(tmp_path: Path) -> None:
    web, folder, topics = a_web(pages=40, seconds=0.1), tmp_path / "crawl", tmp_path / "mine"
    write(topics, "reefs")
    bread = write(topics, "bread")
    settings = {**QUICK, "CRAWL_DIR": folder, "CONCURRENT_REQUESTS": 3, "LOG_LEVEL": "INFO"}
    with AccessLog(tmp_path / "log") as log, running(web, latency=True, log=log) as server:
        process = start("crawl", "topical", "-a", f"topics={topics}", port=server.port, **settings)
        try:
            until(lambda: (folder / "history.jsonl").exists() and len(history(folder)) > 30, process)
            write(topics, "engines")
            bread.unlink()
            (topics / "wrong.toml").write_text("keywords = 5\n")
            until(lambda: "engines" in read_topics(folder) and read_topics(folder)["bread"].left is not None, process)
            joined = read_topics(folder)["engines"].joined_at_page
            until(lambda: len(history(folder)) > joined + 60, process)
            process.kill()
        finally:
            process.kill()
            process.wait()
        told = process.communicate()[1]
        (topics / "wrong.toml").unlink()
        done = crawl(topics, folder, server.port, CRAWL_MAX_PAGES=len(history(folder)) + 60)
    assert done.returncode == 0, done.stderr
    assert told.count("wrong.toml") == 1 and "keywords" in told
    visits = history(folder)
    assert joined > 0
    assert any("engines" in line["topics"] for line in visits) and "bread" not in visits[-1]["topics"]
    engines = {line["url"] for line in visits if line["md5"] and "www.engines" in line["url"]}
    assert engines and engines <= items_of(folder, "engines").keys(), "also those that were stored before it joined"
    left = json.loads((folder / "topics" / "bread" / "crawl.json").read_text())
    assert left["reason"] == "topic left" and items_of(folder, "bread")
    manifest = json.loads((folder / "crawl.json").read_text())
    assert sorted(manifest["topic"]["members"]) == ["engines", "reefs"]


def test_a_command_works_on_the_folder_of_a_topic(tmp_path: Path) -> None:
    web, folder, topics = a_web(hosts=2, pages=4, seconds=0.0), tmp_path / "crawl", tmp_path / "mine"
    for name in TEXTS:
        write(topics, name)
    with running(web, latency=False) as server:
        done = crawl(topics, folder, server.port, CRAWL_PROGRESS_SECONDS=5)
    assert done.returncode == 0, done.stderr
    assert f"Report: {folder / 'topics' / 'reefs' / 'report.html'}" in done.stderr
    own = folder / "topics" / "reefs"
    for arguments in (
        ["report", own],
        ["index", own],
        ["map", own],
        ["export", own, "--to", "jsonl", tmp_path / "pages.jsonl"],
    ):
        made = scrapy(*arguments)
        assert made.returncode == 0, made.stderr
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) == len(items_of(folder, "reefs"))
    found = scrapy("search", own, "coral", "--json")
    hits = json.loads(found.stdout)["hits"]
    assert hits and all("www.reefs" in hit["url"] for hit in hits)
    why = scrapy("why", own, "http://www.reefs1.example/")
    assert why.returncode == 0 and "reefs" in why.stdout
    refused = scrapy("crawl", "topical", "-a", f"topic={topics / 'reefs.toml'}", CRAWL_DIR=own)
    assert refused.returncode == 2 and "resume that one" in refused.stderr


def test_conflicts_are_one_message_with_file_and_field(tmp_path: Path) -> None:
    topics = tmp_path / "mine"
    write(topics, "reefs")
    path = write(topics, "bread")
    for name, budget in (("reefs", 5), ("bread", 6)):
        with (topics / f"{name}.toml").open("a") as file:
            file.write(f"[crawl]\nCRAWL_MAX_PAGES = {budget}\n")
    done = scrapy("crawl", "topical", "-a", f"topics={topics}", CRAWL_DIR=tmp_path / "crawl")
    assert done.returncode == 2
    assert "crawl.CRAWL_MAX_PAGES: 5, but" in done.stderr and str(path) in done.stderr
    assert not (tmp_path / "crawl").exists()
    both = scrapy("crawl", "topical", "-a", f"topics={topics}", "-a", "topic=demo")
    assert both.returncode == 2 and "expected either -a topic=TOPIC, or -a topics=DIR" in both.stderr
