"""Probes over real sockets: their findings, the consequences, and politeness as usual."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.crawling import QUICK, crawl, history, kill_after_growth, scrapy, start, stored, topic_file
from support.redisserver import PROGRAM, redis_server
from support.twofaced import BROWSER, CLOAKS, HONEST, PORTAL, SENDS, SOFT, TwoFacedWeb
from support.webs import by_host, gaps, robots

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply

DELAY = 0.05
PROBING = {"CRAWL_CLOAKING_PROBE": 1, "CRAWL_CLOAKING_AGENT": BROWSER, "CRAWL_SOFT_404_PROBE": 2}


def findings(folder: Path) -> list[dict[str, Any]]:
    path = folder / "probes.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def verdicts(folder: Path) -> set[tuple[str, str, str]]:
    """The verdicts as page or host, last step, and finding."""
    return {
        (line["page"] if line["step"] != "missing" else line["url"].rpartition("/")[0], line["step"], line["verdict"])
        for line in findings(folder)
        if line["verdict"]
    }


def judge(folder: Path, web: TwoFacedWeb) -> None:
    """Check the findings that are expected in any order of fetches, with and without kills."""
    found = verdicts(folder)
    assert {url for url, _, verdict in found if verdict == "cloaked"} <= set(web.there[CLOAKS])
    assert len([url for url, _, verdict in found if verdict == "cloaked"]) == len(web.there[CLOAKS])
    assert {(HONEST, "missing", "honest"), (SOFT, "missing", "soft_404"), (SENDS, "missing", "soft_404")} <= found
    assert {(url, "browser", "honest") for url in web.there[HONEST]} <= found
    everything = {PORTAL, f"{SENDS}/", *(url for urls in web.there.values() for url in urls)}
    assert everything <= stored(folder)
    lines = {line["url"]: line for line in history(folder)}
    assert len(lines) == len(history(folder))
    assert sum(line["error"] == "soft_404" for url, line in lines.items() if url.startswith(SOFT)) >= 1
    cloaked = [line for url, line in lines.items() if url.startswith(CLOAKS) and line["signs"].get("cloaked")]
    assert cloaked and all(line["spam"] >= line["signs"]["cloaked"] - 0.001 for line in cloaked)
    assert not [line for url, line in lines.items() if not url.startswith(CLOAKS) and line["signs"].get("cloaked")]


@pytest.mark.slow
def test_what_is_found_and_what_follows(tmp_path: Path) -> None:
    web = TwoFacedWeb()
    web.replies |= dict([robots(HONEST, "User-agent: *\nDisallow: /7\n\nUser-agent: Browser\nDisallow:\n")])
    web.there[HONEST].remove(f"{HONEST}/7.html")
    folder = tmp_path / "crawl"
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        done = crawl(
            topic_file(tmp_path, PORTAL), folder, port=server.port, POLITENESS_MIN_DELAY=DELAY, CRAWL_WARC=1, **PROBING
        )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    judge(folder, web)
    asked = list(read_log(tmp_path / "log"))
    for host in by_host(asked).values():
        assert all(later["start"] >= earlier["start"] + DELAY for earlier, later in pairwise(host)), "no pause"
        assert min(gaps(host), default=DELAY) >= 0.5 * DELAY, "a busy server notes the end late"
    disguised = Counter(access["url"] for access in asked if access["agent"] == BROWSER)
    assert disguised and not [url for url in disguised if "robots.txt" in url or url == f"{HONEST}/7.html"]
    assert max(disguised.values()) <= 2
    stats = json.loads((folder / "crawl.json").read_text())["stats"]
    assert stats["probes/cloaking/cloaked"] == len(web.there[CLOAKS])
    assert stats["probes/fetches"] == len(findings(folder))
    assert stats["history/pages"] == len(stored(folder))
    report = (folder / "report.html").read_text()
    assert "Probes" in report and "cloaks.example" in report
    told = scrapy("why", folder, web.there[CLOAKS][0]).stdout
    assert "Probed: cloaked. 100% of its text is shown to the crawler only, not to a browser." in told
    assert "Probes of cloaks.example found 9 cloaked and 0 honest pages" in told
    assert "Probed: a browser is shown the same page." in scrapy("why", folder, web.there[HONEST][0]).stdout
    assert "which does not exist, with a page" in scrapy("why", folder, web.gone[SOFT][0]).stdout
    archived = [json.loads(line)["url"] for line in (folder / "warc/records.jsonl").read_text().splitlines()]
    assert set(Counter(archived).values()) == {1}, "a probe is no part of the archive"


class ByAddress(TwoFacedWeb):
    """The web as it appears from addresses other than the crawler's, whatever the user agent."""

    def get_as(self, url: str, agent: str) -> Reply:
        return super().get_as(url, BROWSER)


def test_who_cloaks_by_address_is_found_from_another_one(tmp_path: Path) -> None:
    """The agent of the probes is one that ``TwoFacedWeb`` does not take for a browser."""
    probing = {"CRAWL_CLOAKING_PROBE": 1, "CRAWL_CLOAKING_AGENT": "Somebody/1.0", "POLITENESS_MIN_DELAY": DELAY}
    found = []
    with running(TwoFacedWeb(3)) as server, AccessLog(tmp_path / "log") as log, running(ByAddress(3), log=log) as other:
        for name, proxy in (("same", ""), ("other", f"http://me:secret@127.0.0.1:{other.port}")):
            folder = tmp_path / name
            crawl(topic_file(tmp_path, PORTAL), folder, port=server.port, CRAWL_CLOAKING_PROXY=proxy, **probing)
            found.append({url.rpartition("/")[0] for url, _, verdict in verdicts(folder) if verdict == "cloaked"})
    assert found == [set(), {CLOAKS}]
    assert {access["agent"] for access in read_log(tmp_path / "log")} == {"Somebody/1.0"}, "nothing else goes this way"
    assert "secret" not in (tmp_path / "other" / "crawl.json").read_text()


def test_nothing_is_looked_at_twice_unless_asked_for(tmp_path: Path) -> None:
    with AccessLog(tmp_path / "log") as log, running(TwoFacedWeb(3), log=log) as server:
        crawl(topic_file(tmp_path, PORTAL), tmp_path / "crawl", port=server.port)
    fetched = Counter(access["url"] for access in read_log(tmp_path / "log"))
    assert set(fetched.values()) == {1} and not (tmp_path / "crawl/probes.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("frontier", ["memory", "disk"])
def test_a_killed_crawl_resumes_with_its_probes(tmp_path: Path, frontier: str) -> None:
    web = TwoFacedWeb()
    folder = tmp_path / "crawl"
    topic = topic_file(tmp_path, PORTAL)
    settings = {
        "CRAWL_DIR": folder,
        "FRONTIER": frontier,
        "POLITENESS_MIN_DELAY": 0.02,
        "CRAWL_SITE_BUDGET": 0,
        **PROBING,
    }
    with running(web) as server:
        for lines in (6, 8, 10):
            kill_after_growth(folder, lines, {**QUICK, **settings}, server.port, topic)
        done = crawl(topic, folder, port=server.port, ordering="adaptive", **settings)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    judge(folder, web)
    ended = Counter((line["url"], line["step"]) for line in findings(folder) if line["verdict"])
    assert set(ended.values()) == {1}, "each step has one verdict"


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
def test_workers_share_their_probes(tmp_path: Path) -> None:
    """Any worker that takes a probe can continue it, since the record holds the state."""
    web = TwoFacedWeb()
    topic = topic_file(tmp_path, PORTAL)
    folder = tmp_path / "crawl"
    log_file = tmp_path / "log"
    with redis_server(tmp_path / "redis") as redis, AccessLog(log_file) as log, running(web, log=log) as server:
        shared = {"CRAWL_DIR": folder, "FRONTIER": "redis", "REDIS_URL": redis.url, "POLITENESS_MIN_DELAY": DELAY}
        shared["CRAWL_SITE_BUDGET"] = 0  # workers do not raise budgets when nothing is left
        crawling = ("crawl", "topical", "-a", f"topic={topic}")
        workers = [
            start(*crawling, port=server.port, CRAWL_WORKER=name, **{**QUICK, **shared, **PROBING})
            for name in ("a", "b")
        ]
        said = "".join(worker.communicate(timeout=900)[1] for worker in workers)
    assert [worker.returncode for worker in workers] == [0, 0] and "Traceback" not in said, said
    by_worker = [findings(folder / "workers" / name) for name in ("a", "b")]
    ended = Counter((line["url"], line["step"]) for lines in by_worker for line in lines if line["verdict"])
    assert all(by_worker) and set(ended.values()) == {1}
    cloaked = {line["page"] for lines in by_worker for line in lines if line["verdict"] == "cloaked"}
    assert cloaked == set(web.there[CLOAKS])
    for host in by_host(read_log(log_file)).values():
        assert all(later["start"] >= earlier["start"] + DELAY for earlier, later in pairwise(host)), "no pause"
    assert scrapy("report", folder).returncode == 0
    assert len(findings(folder)) == sum(map(len, by_worker)), "merged"
