"""The disk is full: one message, exit code 3, whole files; after space is freed nothing is lost or doubled."""

from __future__ import annotations

import json
import resource
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, ROOT, command, crawl, environment, history, stored, topic_file
from support.webs import host_farm

from crawlproject.http.virtual_web_server import running
from crawlproject.storage.page_files import PageRepository

HOSTS, PAGES = 12, 8


def limited_crawl(topic: Path, folder: Path, port: int, limit: int) -> subprocess.CompletedProcess[str]:
    """A crawl in which no file can grow beyond ``limit`` bytes. This simulates a full disk without root rights.

    Its frontier is in memory: the one on disk allocates its files in advance, and does not start with so little space.
    """
    return subprocess.run(
        command("crawl", "topical", "-a", f"topic={topic}", **QUICK, CRAWL_DIR=folder, FRONTIER="memory"),
        cwd=ROOT,
        env=environment(port),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


def lines(path: Path) -> list[Any]:
    """Every line of a file, each of which must be whole."""
    text = path.read_bytes() if path.exists() else b""
    assert text.endswith(b"\n") or not text
    return [json.loads(line) for line in text.splitlines()]


def whole(folder: Path) -> None:
    """Assert that every file of the folder is readable, and that the logs agree."""
    for path in folder.rglob("*.jsonl"):
        lines(path)
    for path in folder.rglob("*.json"):
        json.loads(path.read_bytes())
    kept = {line["url"] for line in history(folder)}
    assert {line["url"] for line in lines(folder / "items.jsonl")} == stored(folder)
    assert {line["source"] for line in lines(folder / "links.jsonl")} <= kept


@pytest.mark.parametrize("limit", [6_000, 20_000])
def test_a_full_disk_loses_nothing(tmp_path: Path, limit: int) -> None:
    folder, topic = tmp_path / "crawl", topic_file(tmp_path, "http://portal.example/")
    with running(host_farm(HOSTS, PAGES)) as server:
        stopped = limited_crawl(topic, folder, server.port, limit)
        assert stopped.returncode == 3, stopped.stderr
        assert "Traceback" not in stopped.stderr, stopped.stderr
        told = [line for line in stopped.stderr.splitlines() if "ERROR" in line]
        assert len(told) == 1 and "The crawl stops; free some space" in told[0] and str(folder) in told[0], told
        whole(folder)
        before = history(folder)
        assert before and len(before) < HOSTS * PAGES + 1
        done = crawl(topic, folder, port=server.port, ordering="adaptive")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    whole(folder)
    assert history(folder)[: len(before)] == before, "a line is never rewritten"
    assert Counter(line["url"] for line in history(folder)) == Counter(host_farm(HOSTS, PAGES).urls())
    assert Counter(line["url"] for line in lines(folder / "items.jsonl")) == Counter(stored(folder))
    links = Counter((line["source"], line["target"]) for line in lines(folder / "links.jsonl"))
    assert len(links) == links.total() == HOSTS * PAGES
    pages = PageRepository(folder / "pages")
    assert all(pages.load(url) == host_farm(HOSTS, PAGES).get(url).body for url in stored(folder))


def test_a_disk_that_is_full_from_the_start_is_reported_as_well(tmp_path: Path) -> None:
    done = limited_crawl(topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl", 9, 10)
    assert done.returncode == 3 and "Traceback" not in done.stderr, done.stderr
    assert str(tmp_path / "crawl") in done.stderr
