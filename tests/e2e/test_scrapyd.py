"""A real Scrapyd: deploy, schedule, cancel, resume. All code and data are loaded from the zipped egg."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crawling import crawl, history, stored
from support.scrapyd import PROJECT, Scrapyd, make_deploy, running_scrapyd

pytestmark = pytest.mark.slow

# None of these hosts has an endless calendar, whose pages found depend on the order of the crawl.
REEF_HOSTS = [
    f"www.{name}.example"
    for name in ("lagoon-notes", "hobby-ring", "coralpedia", "atoll-letters", "bleachwatch", "reef-atlas")
]
IMPOLITE = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "POLITENESS_MAX_CRAWL_DELAY": 0}
WHOLE = {"VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 0, "CRAWL_ALLOWED_DOMAINS": ",".join(REEF_HOSTS)}
LOAVES = """
name = "loaves"
keywords = ["sourdough", "bread = dough + patience"]
seeds = ["http://www.slow-loaf.example/"]
[crawl]
CRAWL_ALLOWED_DOMAINS = ["slow-loaf.example"]
POLITENESS_MIN_DELAY = 0
POLITENESS_FACTOR = 0
POLITENESS_MAX_CRAWL_DELAY = 0
"""


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    """A Scrapyd with the project deployed to it."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with running_scrapyd(folder / "server") as server:
        done = make_deploy(server, folder / "tree")
        assert done.returncode == 0, done.stderr
        assert '"spiders": 1' in done.stdout and server.get("listspiders", project=PROJECT)["spiders"] == ["topical"]
        yield server


def settings(**chosen: object) -> list[str]:
    return [f"{name}={value}" for name, value in chosen.items()]


def test_two_topics_one_cancelled_and_resumed(scrapyd: Scrapyd, tmp_path: Path) -> None:
    reef = scrapyd.crawl_folder("demo")
    slow = {**IMPOLITE, "POLITENESS_MIN_DELAY": 0.3}
    cancelled = scrapyd.schedule("demo", *settings(**WHOLE, **slow))
    loaves = scrapyd.schedule(LOAVES, *settings(VIRTUAL_WEB="sample"))
    wait_for_pages(reef, 10)
    assert scrapyd.post("cancel", job=cancelled)["prevstate"] == "running"
    scrapyd.wait_until("finished", cancelled)
    before = history(reef)
    assert json.loads((reef / "crawl.json").read_text())["reason"] == "shutdown"

    resumed = scrapyd.schedule("demo", *settings(**WHOLE, **IMPOLITE))
    for job in (resumed, loaves):
        scrapyd.wait_until("finished", job)

    once = tmp_path / "once"
    done = crawl(Path("topics/demo.toml"), once, ordering="adaptive", **WHOLE, **IMPOLITE)
    assert done.returncode == 0, done.stderr
    assert 10 <= len(before) < len(history(once))
    assert stored(reef) == stored(once)
    assert history(reef)[: len(before)] == before, "what was crawled before is as it was"
    urls = [line["url"] for line in history(reef)]
    assert len(urls) == len(set(urls))
    assert json.loads((reef / "crawl.json").read_text())["reason"] == "finished"
    assert "coral" in (reef / "report.html").read_text()

    fed = [item["url"] for job in (cancelled, resumed) for item in scrapyd.items(job)]
    assert sorted(fed) == sorted(stored(reef)), "the items of both jobs are the pages, each once"
    bread = scrapyd.crawl_folder("loaves")
    assert {item["url"] for item in scrapyd.items(loaves)} == stored(bread) != set()
    for job in (cancelled, resumed, loaves):
        assert "Crawl ended" in scrapyd.log(job)
        assert "Traceback" not in scrapyd.log(job)


def test_jobs_that_cannot_start_say_why_in_their_logs(scrapyd: Scrapyd, tmp_path: Path) -> None:
    """A job with a missing topic, and the second of two jobs of one topic, which ends at once while the first continues."""
    job = scrapyd.schedule("dmo")
    scrapyd.wait_until("finished", job)
    assert "topic 'dmo': expected a topic file, TOML text, or a topic of the project (demo" in scrapyd.log(job)

    folder = tmp_path / "crawl"
    chosen = settings(VIRTUAL_WEB="sample", CRAWL_DIR=folder, POLITENESS_MIN_DELAY=0.3)
    first = scrapyd.schedule("demo-bread", *chosen)
    wait_for_pages(folder, 1)
    second = scrapyd.schedule("demo-bread", *chosen)
    scrapyd.wait_until("finished", second)
    assert f"{folder}: in use by process" in scrapyd.log(second)
    assert scrapyd.get("status", job=first)["currstate"] == "running"
    scrapyd.post("cancel", job=first)
    scrapyd.wait_until("finished", first)
    assert json.loads((folder / "crawl.json").read_text())["reason"] == "shutdown"


def wait_for_pages(folder: Path, pages: int) -> None:
    deadline = time.monotonic() + 60
    path = folder / "history.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < pages:
        assert time.monotonic() < deadline, f"fewer than {pages} pages in {folder}"
        time.sleep(0.02)
