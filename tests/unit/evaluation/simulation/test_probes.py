"""Probes in a rehearsal: the same as in a live crawl, on a virtual clock, and worth their fetches."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from support.twofaced import BROWSER, CLOAKS, HONEST, PORTAL, SENDS, SOFT, TwoFacedWeb

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.topic import topic_of
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.parts.probes.probe_log import read_findings
from crawlproject.records import Topic
from crawlproject.storage.append_log import read_lines
from crawlproject.urls.hosts import host_of
from crawlproject.webs.base import Web

PROBING = {"CRAWL_CLOAKING_PROBE": 1, "CRAWL_CLOAKING_AGENT": BROWSER, "CRAWL_SOFT_404_PROBE": 2}


def rehearsed(web: Web, out: Path, pages: int = 1000, **settings: object):
    topic = Topic("reef", ("coral reef",), (PORTAL,))
    stage = Runner(web, lambda _: settings, pages=pages, agent="tests")
    ((_, folder, crawl),) = stage.rehearse(topic, ["best_first"], out)
    return folder, crawl


def test_a_rehearsal_finds_what_a_crawl_finds(tmp_path: Path) -> None:
    web = TwoFacedWeb()
    folder, crawl = rehearsed(web, tmp_path, POLITENESS_MIN_DELAY=1.0, **PROBING)
    findings = list(read_findings(folder))
    assert {f.page for f in findings if f.verdict == "cloaked"} == set(web.there[CLOAKS])
    assert {f.page for f in findings if (f.step, f.verdict) == ("browser", "honest")} >= set(web.there[HONEST])
    asked = {host_of(f.url): f.verdict for f in findings if f.step == "missing"}
    assert asked["soft.example"] == asked["sends.example"] == "soft_404" and asked["honest.example"] == "honest"
    lines = {line["url"]: line for line in read_lines(folder / "history.jsonl")}
    assert all(lines[url]["error"] == "soft_404" for url in web.gone[SOFT])
    gone = [lines[url] for url in web.gone[SENDS]]
    assert [bool(line["redirect"]) for line in gone].count(True) <= 1, "the first one leads to the front page"
    assert all(line["redirect"] or line["error"] == "soft_404" for line in gone)
    assert all(lines[url]["md5"] for origin in web.there for url in web.there[origin]) and lines[f"{SENDS}/"]["md5"]
    assert crawl.stats.counters()["probes/fetches"] == len(findings)
    assert crawl.stats.pages == len([line for line in lines.values() if line["md5"]]), "probes are no pages"


def test_pauses_are_kept_between_pages_and_probes(tmp_path: Path) -> None:
    folder, _ = rehearsed(TwoFacedWeb(), tmp_path, POLITENESS_MIN_DELAY=3.0, FRONTIER_BATCH_SIZE=2, **PROBING)
    fetches = [(line["url"], line["at"], line["seconds"]) for line in read_lines(folder / "history.jsonl")]
    fetches += [(finding.url, finding.at, finding.seconds) for finding in read_findings(folder)]
    visits = defaultdict(list)
    for url, at, seconds in sorted(fetches, key=lambda fetch: fetch[1]):
        visits[host_of(url)].append((at - seconds, at))
    assert len(visits["cloaks.example"]) > 20
    for host in visits.values():
        assert all(start >= end + 3.0 - 1e-9 for (_, end), (start, _) in pairwise(host))


def test_a_budget_of_pages_is_one_of_pages(tmp_path: Path) -> None:
    _, crawl = rehearsed(TwoFacedWeb(), tmp_path, pages=12, POLITENESS_MIN_DELAY=0, **PROBING)
    assert crawl.stats.pages == 12 and crawl.stats.counters()["probes/fetches"] > 0


def test_a_rehearsal_that_was_interrupted_begins_with_no_findings(tmp_path: Path) -> None:
    folder, _ = rehearsed(TwoFacedWeb(), tmp_path, POLITENESS_MIN_DELAY=0, **PROBING)
    before = (folder / "probes.jsonl").read_bytes()
    manifest = json.loads((folder / "crawl.json").read_text())
    (folder / "crawl.json").write_text(json.dumps({**manifest, "reason": ""}))
    rehearsed(TwoFacedWeb(), tmp_path, POLITENESS_MIN_DELAY=0, **PROBING)
    assert (folder / "probes.jsonl").read_bytes() == before


def bad_pages(out: Path, kind: str, **settings: object) -> int:
    """Pages of bad hosts among the first 300."""
    web = HostileWeb(good=40, kinds=[kind])
    stage = Runner(
        web, lambda _: {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, **settings}, pages=300, agent="tests"
    )
    ((_, folder, _),) = stage.rehearse(topic_of(web), ["dom"], out)
    stored = [line["url"] for line in read_lines(folder / "history.jsonl") if line["md5"]]
    assert len(stored) == 300
    return sum(bool(web.kind_of(host_of(url))) for url in stored)


def test_probes_spare_a_crawl_pages_of_sites_that_cloak(tmp_path: Path) -> None:
    """Sites that only probes distinguish from good ones."""
    helpless = bad_pages(tmp_path / "off", "cloaked")
    assert bad_pages(tmp_path / "on", "cloaked", CRAWL_CLOAKING_PROBE=1) < 0.6 * helpless
