"""The precedence of the settings of a topic, of the project, and of a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from crawlproject import settings as project
from crawlproject.options import Options
from crawlproject.records import SPARE, WASTE
from spiders.topical import TopicalSpider

TOPIC = 'name = "t"\nkeywords = ["coral"]\nseeds = ["http://a.example/"]\n[crawl]\nCRAWL_MAX_PAGES = 200\nTRAP_MAX_DEPTH = 9\n'


def options(settings: Settings, folder: Path) -> Options:
    settings.set("CRAWL_DIR", str(folder))
    crawler = Crawler(TopicalSpider, settings)
    crawl = TopicalSpider.from_crawler(crawler, topic=TOPIC).crawl
    crawl.close("shutdown", 0.0, {})
    return crawl.options


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawlproject.settings")


def test_the_topic_overrides_the_project(tmp_path: Path) -> None:
    found = options(get_project_settings(), tmp_path)
    assert (found.crawl_max_pages, found.trap_max_depth) == (200, 9)


def test_what_a_script_sets_overrides_the_topic(tmp_path: Path) -> None:
    settings = get_project_settings()
    settings.set("CRAWL_MAX_PAGES", 7)
    found = options(settings, tmp_path)
    assert (found.crawl_max_pages, found.trap_max_depth) == (7, 9)


def test_what_a_script_without_a_project_sets_overrides_the_topic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE")
    ours = {
        name: getattr(project, name) for name in ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SCHEDULER")
    }
    found = options(Settings({**ours, "CRAWL_MAX_PAGES": 7}), tmp_path)
    assert (found.crawl_max_pages, found.trap_max_depth) == (7, 9)


@pytest.mark.parametrize("name", ["CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_ITEMCOUNT"])
def test_limits_of_scrapy_are_a_budget_of_pages_too(tmp_path: Path, name: str) -> None:
    topic = 'name = "t"\nkeywords = ["coral"]\nseeds = ["http://a.example/"]\n'
    ceilings = {}
    for limit in (0, 50):
        settings = get_project_settings()
        settings.setdict({"CRAWL_DIR": str(tmp_path / str(limit)), name: limit})
        crawl = TopicalSpider.from_crawler(Crawler(TopicalSpider, settings), topic=topic).crawl
        ceilings[limit] = crawl.admission.scarcity.ceiling()
        crawl.close("shutdown", 0.0, {})
    assert ceilings == {0: WASTE, 50: SPARE}, "there are pages to save"
