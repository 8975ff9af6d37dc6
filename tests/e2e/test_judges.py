"""Crawls with a judge over HTTP: one that answers well, one that fails, and crawls that are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, ROOT, crawl, history, kill_after_growth, scrapy, topic_file
from support.judgeserver import JudgeServer, judging

from crawlproject.parts.judges.llm import NAME
from crawlproject.storage.append_log import read_lines

pytestmark = pytest.mark.slow

TOPIC = ROOT / "topics" / "demo.toml"
LLM = {"VIRTUAL_WEB": "sample", "TOPIC_RELEVANCE": "llm", "JUDGE_MODEL": "m", "JUDGE_UNSURE": 10}


def relevance_of(folder: Path) -> dict[str, float]:
    return {visit["url"]: visit["relevance"] for visit in history(folder) if visit.get("md5")}


def counters(folder: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((folder / "crawl.json").read_text())["stats"]
    return found


def test_its_answers_are_in_the_history(tmp_path: Path) -> None:
    with judging(JudgeServer(says=lambda asked: "100")) as server:
        # One request at a time: the pages that the judge is unsure about depend on their order.
        settings = {**LLM, "JUDGE_URL": server.url, "CONCURRENT_REQUESTS": 1}
        done = crawl(TOPIC, tmp_path / "llm", CRAWL_MAX_PAGES=40, **settings)
    assert done.returncode == 0, done.stderr
    plain = crawl(TOPIC, tmp_path / "terms", CRAWL_MAX_PAGES=40, VIRTUAL_WEB="sample", CONCURRENT_REQUESTS=1)
    assert plain.returncode == 0, plain.stderr
    judged, by_words = relevance_of(tmp_path / "llm"), relevance_of(tmp_path / "terms")
    raised = {url for url, value in judged.items() if value == 1.0}  # 100 is the top of the range, 0.01 to 1
    assert len(raised) >= 20 and all(by_words[url] > 0.01 for url in raised & {*by_words})
    assert counters(tmp_path / "llm")["judge/asked"] >= len(raised)
    assert {line["url"] for line in read_lines(tmp_path / "llm" / NAME)} >= raised


@pytest.mark.parametrize("broken", [JudgeServer(status=503), JudgeServer(hangs=True)])
def test_a_broken_judge_changes_nothing_but_what_is_said(broken: JudgeServer, tmp_path: Path) -> None:
    plain = crawl(TOPIC, tmp_path / "terms", CRAWL_MAX_PAGES=40, VIRTUAL_WEB="sample", CONCURRENT_REQUESTS=1)
    assert plain.returncode == 0, plain.stderr
    with judging(broken) as server:
        settings = {**LLM, "JUDGE_URL": server.url, "JUDGE_SECONDS": 0.5, "CONCURRENT_REQUESTS": 1}
        done = crawl(TOPIC, tmp_path / "llm", CRAWL_MAX_PAGES=40, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the judge llm does not answer") == 1
    assert relevance_of(tmp_path / "llm") == relevance_of(tmp_path / "terms")
    stats = counters(tmp_path / "llm")
    reason = "timeout" if broken.hangs else "status 503"
    assert stats[f"judge/failed/{reason}"] == 3 and stats["judge/resting"] > 10


def test_a_killed_crawl_asks_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICAL_JUDGE_KEY", "sk-very-secret")
    folder = tmp_path / "crawl"
    chosen: dict[str, object] = {**QUICK, **LLM, "CRAWL_DIR": folder, "CRAWL_MAX_PAGES": 120}
    with judging(JudgeServer(says=lambda asked: "60")) as server:
        chosen["JUDGE_URL"] = server.url
        kill_after_growth(folder, 40, chosen, None, TOPIC)  # type: ignore[arg-type]
        before = relevance_of(folder)
        done = scrapy("crawl", "topical", "-a", f"topic={TOPIC}", **chosen)
    assert done.returncode == 0, done.stderr
    asked = [page for page in server.pages() if server.pages().count(page) > 1]
    lost = len(server.asked) - len([*read_lines(folder / NAME)])  # in flight when it was killed
    assert len(asked) <= 2 * lost and lost <= 4
    assert before.items() <= relevance_of(folder).items() and len(relevance_of(folder)) == 120
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in files if b"sk-very-secret" in path.read_bytes()]
    assert "sk-very-secret" not in done.stdout + done.stderr


def test_a_class_of_a_script_judges_a_crawl_and_its_rehearsals(tmp_path: Path) -> None:
    code = """
from crawlproject import crawl, rehearse
from crawlproject.parts.judges.base import Judge

class Titles(Judge):
    needs_text = True
    def judge(self, texts):
        return [0.75 if "reef" in text.title.lower() and text.text else 0.25 for text in texts]

stored = crawl("demo", "crawl", pages=30, ordering="dom", judge=Titles, progress=False, VIRTUAL_WEB="sample",
               POLITENESS_MIN_DELAY=0, POLITENESS_FACTOR=0)
assert {page.relevance for page in stored.pages()} == {0.75, 0.25}
assert all((page.relevance == 0.75) == ("reef" in page.title.lower()) for page in stored.pages())
runs = rehearse("sample", "demo", "dom", pages=30, judge=Titles)
assert {visit.relevance for visit in runs[0].visits() if visit.md5} == {0.75, 0.25}
"""
    (tmp_path / "script.py").write_text(code)
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_examples_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("polyps of a coral reef bleach in warm water; symbiotic algae leave the coral")
    (tmp_path / "bad.txt").write_text("flour, dough and an oven; bread, steam engines and volcanoes; music of a band")
    examples = '[examples]\npositive = ["good.txt"]\nnegative = ["bad.txt"]\n'
    topic = topic_file(tmp_path, "http://www.lagoon-notes.example/", extra=examples)
    arguments = ("crawl", "topical", "-a", f"topic={topic}", "-a", "judge=examples", "-a", "ordering=adaptive")
    settings = {**QUICK, "VIRTUAL_WEB": "sample", "CRAWL_DIR": tmp_path / "crawl", "CRAWL_CHECKPOINT_SECONDS": 0.01}
    for pages in (30, 60):  # the second run continues from a checkpoint
        done = scrapy(*arguments, **{**settings, "CRAWL_MAX_PAGES": pages})
        assert done.returncode == 0, done.stderr
    found = relevance_of(tmp_path / "crawl")
    assert len(found) == 60 and len({*found.values()}) > 20 and max(found.values()) > 0.1
    again = scrapy("rehearse", "sample", topic, "--judge", "exampels", "--pages", "20", "--out", tmp_path / "runs")
    assert again.returncode == 2 and "there is no judge 'exampels'; did you mean examples?" in again.stderr
    nothing = scrapy(
        "crawl", "topical", "-a", "topic=demo", "-a", "judge=examples", **{**settings, "CRAWL_DIR": tmp_path / "x"}
    )
    assert nothing.returncode == 2 and "has no positive examples" in nothing.stderr
