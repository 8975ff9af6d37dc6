"""A crawler of a few lines in a race: the counts of the server, the time of its kill, and the remains."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from support.webs import DictWeb, page

from benchmarks.contenders import LOG, Task
from benchmarks.race import Race
from crawlproject.configuration import read_options
from crawlproject.evaluation.runs import find_runs, load_run
from crawlproject.records import Topic

URLS = [f"http://a.example/{number}" for number in range(6)]
WEB = DictWeb(dict(page(url) for url in URLS))
TOPIC = Topic(name="t", keywords=("a",), seeds=tuple(URLS[:1]), targets=(URLS[1], URLS[5]))

# Fetches the URLs through the proxy of its environment, records each, and then either waits for ever or ends.
CRAWLER = """
import json, sys, time, urllib.request
log, linger, *urls = sys.argv[1:]
for url in urls:
    urllib.request.urlopen(url).read()
    with open(log, "a") as file:
        file.write(json.dumps({"url": url}) + "\\n")
while linger == "linger":
    time.sleep(0.1)
"""


@dataclass(frozen=True)
class Fetcher:
    urls: list[str]
    linger: bool
    title: str = "fetcher"
    endless: bool = True

    def command(self, task: Task) -> list[str]:
        arguments = [str(task.folder / LOG), "linger" if self.linger else "end", *self.urls]
        return [sys.executable, "-I", "-c", CRAWLER, *arguments]


def race(out: Path) -> Race:
    out.mkdir()
    return Race(WEB, read_options({}), out, seconds=60, say=lambda sentence: None)


def test_an_endless_crawler_is_stopped_at_its_budget(tmp_path: Path) -> None:
    found = race(tmp_path / "runs")
    cost = found.run("fetcher", Fetcher(URLS[:4], linger=True), [(TOPIC, tmp_path / "t.toml")], 4)
    [folder] = find_runs(tmp_path / "runs")
    run = load_run(folder)
    assert run.urls == tuple(URLS[:4])
    assert (folder.ordering, folder.info.reason) == ("fetcher", "page budget")
    assert found.notes == []
    assert cost.start_mb > 0


def test_one_that_ends_too_early_is_noted(tmp_path: Path) -> None:
    found = race(tmp_path / "runs")
    found.run("fetcher", Fetcher([*URLS[:2], "http://a.example/0#again"], linger=False), [(TOPIC, tmp_path / "t")], 4)
    assert found.notes == ["fetcher on t: 2 pages, ended by itself with exit code 0"]
    assert load_run(find_runs(tmp_path / "runs")[0]).pages == 2
