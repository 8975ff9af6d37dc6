"""How crawlers are started, and what is said of those that are not installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.contenders import LOG, Live, Rival, Task, why_not
from crawlproject.errors import BadSetting
from crawlproject.records import Topic

TOPIC = Topic(name="t", keywords=("coral reef",), seeds=("http://a.example/",), targets=("http://a.example/secret",))


def task(folder: Path) -> Task:
    return Task(TOPIC, folder / "t.toml", 50, "http://127.0.0.1:1", folder)


def test_a_rival_is_told_the_topic_and_no_target(tmp_path: Path) -> None:
    rival = Rival("a rival", "benchmarks.rivals.it", "it", {"prefetch": True}, python="/opt/python")
    *start, job = rival.command(task(tmp_path))
    assert start == ["/opt/python", "-m", "benchmarks.rivals.it"]
    assert json.loads(Path(job).read_text()) == {
        "seeds": ["http://a.example/"],
        "keywords": ["coral reef"],
        "proxy": "http://127.0.0.1:1",
        "log": str(tmp_path / LOG),
        "folder": str(tmp_path),
        "prefetch": True,
    }


def test_a_live_crawl_takes_settings(tmp_path: Path) -> None:
    live = Live.spelled("dom,FRONTIER_BATCH_SIZE=1")
    assert live.title == "dom, live, FRONTIER_BATCH_SIZE=1"
    command = live.command(task(tmp_path))
    assert {"ordering=dom", "FRONTIER_BATCH_SIZE=1", "CRAWL_MAX_PAGES=50", "POLITENESS_MIN_DELAY=0"} <= set(command)


def test_an_unknown_ordering_is_refused() -> None:
    with pytest.raises(BadSetting, match="nonsense"):
        Live.spelled("nonsense")


def test_what_is_missing_is_told_with_the_way_to_install_it() -> None:
    reason = why_not(Rival("No Such best-first", "benchmarks.rivals.it", "no_such_package"))
    assert f"{sys.executable} cannot import no_such_package" in reason
    assert "pip install no_such_package" in reason
    assert "cannot run /no/such/python" in why_not(Rival("It", "it", "it", python="/no/such/python"))


def test_what_is_installed_or_our_own_can_run() -> None:
    assert why_not(Rival("JSON", "it", "json")) == ""
    assert why_not(Rival("plain", "it", python="/no/such/python")) == ""
