"""A crawl among endless sites: they get few of its fetches, but are crawled when nothing else is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.hostile_web import HostileWeb
from benchmarks.hostile_web.topic import topic_of
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.storage.append_log import read_lines
from crawlproject.urls.hosts import host_of

IMPATIENT = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0}


def bad_share(folder: Path, kind: str, ordering: str = "dom", pages: int = 120, **settings: object) -> float:
    """The share of pages that a crawl stored from bad hosts."""
    web = HostileWeb(good=12, kinds=[kind])
    stage = Runner(web, lambda _: {**IMPATIENT, **settings}, pages=pages, agent="test")
    ((_, place, _),) = stage.rehearse(topic_of(web), [ordering], folder)
    stored = [line["url"] for line in read_lines(place / "history.jsonl") if line["md5"]]
    assert len(stored) == pages, "a crawl does not end because sites are over budget"
    return sum(bool(web.kind_of(host_of(url))) for url in stored) / pages


@pytest.mark.parametrize("kind", ["stuffed", "link_farm"])
def test_defences_cost_spammers_pages(tmp_path, kind):
    """The web is small and has few good pages, so that the crawl must contain much spam in the end."""
    defended = bad_share(tmp_path / "on", kind)
    helpless = bad_share(tmp_path / "off", kind, CRAWL_SITE_BUDGET=0)
    assert defended < 0.95 * helpless


def test_parked_domains_are_no_pages(tmp_path):
    assert bad_share(tmp_path, "parked") == 0.0


def test_a_crawl_of_nothing_but_sites_over_budget_continues(tmp_path):
    """60 pages of seven sites: far beyond the budgets of sites whose pages are all spam."""
    web = HostileWeb(good=4, share=0.5, kinds=["stuffed"])
    stage = Runner(web, lambda _: IMPATIENT, pages=60, agent="test")
    ((_, _, crawl),) = stage.rehearse(topic_of(web), ["dom"], tmp_path)
    assert crawl.stats.pages == 60


def test_link_farms_are_distinguished_from_good_sites_by_their_links(tmp_path):
    """Farms, the spam that they lead to, and good sites that are littered with links to both."""
    web = HostileWeb(good=40, kinds=["link_farm", "hidden_text", "stuffed"])
    stage = Runner(web, lambda _: {**IMPATIENT, "CRAWL_FRONT_PAGES": False}, pages=300, agent="test", concurrency=1)
    ((_, place, _),) = stage.rehearse(topic_of(web), ["dom"], tmp_path)
    pages = [line for line in read_lines(place / "history.jsonl") if line["md5"]]
    marked = [line for line in pages if line["signs"].get("clique", 0.0) >= 0.25]
    of_bad = [line for line in marked if web.kind_of(host_of(line["url"]))]
    assert len(of_bad) >= 0.98 * len(marked)
    farms = {host_of(line["url"]) for line in pages if web.kind_of(host_of(line["url"])) == "link_farm"}
    assert len(farms & {host_of(line["url"]) for line in marked}) > 0.5 * len(farms) > 5
    assert all(line["spam"] >= 0.2 for line in marked)
