"""How a crawl ends: reason, exit code, and the marker file that other programs wait for."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, ROOT, command, crawl, environment, history, start, stored, topic_file
from support.warm import Started
from support.webs import host_farm

from crawlproject.http.virtual_web_server import running


def marker(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "finished.json").read_text())


def test_an_interrupted_crawl_exits_with_3_and_has_no_marker_until_it_is_complete(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    web = host_farm(20, 10, seconds=0.02)
    with running(web, latency=True) as server:
        arguments = ("crawl", "topical", "-a", f"topic={topic}")
        with start(*arguments, port=server.port, **QUICK, CRAWL_DIR=folder, CONCURRENT_REQUESTS=4) as process:
            while not (folder / "history.jsonl").exists() or len(history(folder)) < 10:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 3
        assert json.loads((folder / "crawl.json").read_text())["reason"] == "shutdown"
        assert (folder / "report.html").exists() and not (folder / "finished.json").exists()
        done = crawl(topic, folder, port=server.port, ordering="adaptive")
        assert done.returncode == 0, done.stderr
    found = marker(folder)
    assert (found["reason"], found["waiting"]) == ("finished", 0)
    assert found["pages"] == len(stored(folder)) and found["fetches"] == len(history(folder))


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ((signal.SIGINT,), "; Ctrl-C again stops at once."),
        ((signal.SIGTERM,), "; a second signal stops at once."),
        ((signal.SIGHUP, signal.SIGHUP), "; a second signal stops at once."),  # from the shell, and from the system
    ],
)
def test_a_signal_says_at_once_what_is_awaited_and_leaves_a_report(
    tmp_path: Path, sent: tuple[signal.Signals, ...], said: str
) -> None:
    folder = tmp_path / "crawl"
    with signalled(tmp_path, *sent) as process:
        while "in flight" not in process.said()[1]:
            assert process.poll() is None, "it is said while the fetches are under way"
            time.sleep(0.01)
        assert process.wait(60) == 3
    assert re.search(rf"^Stopping after \d fetch(es)? in flight{re.escape(said)}$", process.said()[1], re.MULTILINE)
    assert json.loads((folder / "crawl.json").read_text())["reason"] == "shutdown"
    assert (folder / "report.html").exists()


def test_a_second_signal_ends_the_crawl_at_once_with_3_and_a_word(tmp_path: Path) -> None:
    with signalled(tmp_path, signal.SIGINT, seconds=20.0) as process:
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.wait(60) == 3
        assert time.monotonic() - began < 1.5
    assert process.said()[1].splitlines()[-1].startswith("Stopped at once, without a report.")
    assert "Traceback" not in process.said()[1] and not (tmp_path / "crawl" / "finished.json").exists()


@contextmanager
def signalled(tmp_path: Path, *sent: signal.Signals, seconds: float = 4.0) -> Iterator[Started]:
    """A crawl whose fetches take ``seconds`` each, and which received signals while some were in progress."""
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    web = host_farm(20, 10)
    for url in web.urls():
        if "portal" not in url:
            web.replies[url] = replace(web.replies[url], seconds=seconds)
    with running(web, latency=True) as server:
        arguments = ("crawl", "topical", "-a", f"topic={topic}")
        with start(*arguments, port=server.port, **QUICK, CRAWL_DIR=folder, CONCURRENT_REQUESTS=4) as process:
            while not (folder / "history.jsonl").exists() or not history(folder):
                time.sleep(0.01)
            time.sleep(0.5)
            for number in sent:
                process.send_signal(number)
            yield process


def test_whoever_reads_a_part_of_the_items_ends_the_crawl_with_one_message(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    with running(host_farm(20, 20)) as server:
        arguments = command(
            "crawl", "topical", "-a", f"topic={topic}", "-o", "-:jsonl", **{**QUICK, "CRAWL_DIR": folder}
        )
        pipe = subprocess.PIPE
        with subprocess.Popen(
            arguments, cwd=ROOT, env=environment(server.port), stdout=pipe, stderr=pipe, text=True
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            assert json.loads(process.stdout.readline())["url"] == "http://portal.example/"
            process.stdout.close()
            said = process.stderr.read()
            assert process.wait(60) == 3, said
    messages = said.partition("Crawl ended (output_failed)")[0]
    assert messages.count("\n") == 1 and "Standard output is closed" in messages, said
    assert 1 < len(stored(folder)) < 401 and (folder / "report.html").exists()
    assert not (folder / "finished.json").exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"CRAWL_MAX_PAGES": 30}, "page budget"),
        ({"CRAWL_MAX_SECONDS": 1.5, "POLITENESS_MIN_DELAY": 0.3}, "time budget"),
        ({"CRAWL_MIN_HARVEST": 0.9, "CRAWL_HARVEST_WINDOW": 50}, "saturated"),
    ],
)
def test_a_crawl_that_has_enough_says_why(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/", keywords="xylophone"), tmp_path / "crawl"
    with running(host_farm(20, 20)) as server:
        done = crawl(topic, folder, port=server.port, CONCURRENT_REQUESTS=1, **settings)
    assert done.returncode == 0, done.stderr
    found = marker(folder)
    assert found["reason"] == json.loads((folder / "crawl.json").read_text())["reason"] == reason
    assert 0 < found["pages"] < 400 and found["waiting"] > 0


def test_wrong_input_exits_with_2_and_leaves_a_finished_crawl_finished(tmp_path: Path) -> None:
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    with running(host_farm(2, 2)) as server:
        assert crawl(topic, folder, port=server.port).returncode == 0
        before = marker(folder)
        assert crawl(topic, folder, port=server.port, CRAWL_MIN_HARVEST=2).returncode == 2
    assert marker(folder) == before


def test_a_record_that_was_damaged_stops_the_crawl_with_advice_that_helps(tmp_path: Path) -> None:
    """A crawl used to hang with a traceback: Scrapy only logs exceptions of its scheduler."""
    folder, topic = tmp_path / "crawl", topic_file(tmp_path, "http://portal.example/")
    with running(host_farm(10, 10)) as server:
        settings = {"port": server.port, "FRONTIER": "disk"}
        assert crawl(topic, folder, CRAWL_MAX_PAGES=20, **settings).returncode == 0
        records = folder / "frontier" / "urls.jsonl.zst"
        records.write_bytes(bytes(byte ^ 0x10 for byte in records.read_bytes()))
        done = crawl(topic, folder, timeout=120, **settings)
        assert done.returncode == 3, done.stderr
        [told] = [line for line in done.stderr.splitlines() if "ERROR" in line]
        assert "urls.jsonl.zst, byte" in told and "makes it again" in told and "run the same command to resume" in told
        assert "Traceback" not in done.stderr
        shutil.rmtree(folder / "frontier")
        assert crawl(topic, folder, **settings).returncode == 0
    assert len(stored(folder)) == len(history(folder)) == 101


def test_a_fault_of_the_program_ends_a_crawl_with_1_a_traceback_and_advice(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(
        "from spiders.topical import TopicalSpider\n\n\n"
        "class Faulty(TopicalSpider):\n"
        "    name = 'faulty'\n\n"
        "    def page_request(self, url):\n"
        "        if len(self.crawl.folder.history) == 3:\n"
        "            raise KeyError(url.url)\n"
        "        return super().page_request(url)\n"
    )
    topic, folder = topic_file(tmp_path, "http://portal.example/"), tmp_path / "crawl"
    settings = {**QUICK, "CRAWL_DIR": folder, "CONCURRENT_REQUESTS": 1, "SPIDER_MODULES": "faulty"}
    with running(host_farm(20, 2)) as server:
        done = subprocess.run(
            command("crawl", "faulty", "-a", f"topic={topic}", **settings),
            cwd=ROOT,
            env={**environment(server.port), "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert len(re.findall("^Traceback", done.stderr, re.MULTILINE)) == 1, done.stderr
        assert "The crawl stops; report the error above, and run the same command to resume." in done.stderr
        assert json.loads((folder / "crawl.json").read_text())["reason"] == "failed"
        assert len(history(folder)) == 3 and not (folder / "finished.json").exists()
        resumed = crawl(topic, folder, port=server.port, ordering="adaptive")
    assert resumed.returncode == 0, resumed.stderr
    urls = [line["url"] for line in history(folder)]
    assert len(urls) == len(set(urls)) == 41
