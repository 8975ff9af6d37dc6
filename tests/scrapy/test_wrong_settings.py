"""Wrong values of Scrapy's own settings: one message that names the setting, and no crawl folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings
from support.crawling import QUICK, scrapy, topic_file

from crawlproject import settings as project
from crawlproject.adapters.extensions.progress import Progress
from crawlproject.adapters.scrapy_settings import (
    refuse_replaced_components,
    refuse_wrong_components,
    refuse_wrong_values,
)
from crawlproject.errors import BadSetting, MissingExtra

PROGRESS = "crawlproject.adapters.extensions.progress.Progress"


@pytest.mark.parametrize(
    ("options", "named", "wish"),
    [
        (["-s", "CONCURRENT_REQUESTS=many"], "CONCURRENT_REQUESTS", "a whole number"),
        (["-s", "DOWNLOAD_TIMEOUT=abc"], "DOWNLOAD_TIMEOUT", "a number"),
        (["-s", 'ITEM_PIPELINES={"nosuch.X": 1}'], "ITEM_PIPELINES", "nosuch.X"),
        (["-s", 'ITEM_PIPELINES={"pipelines.steps.PagesPipeline": 300}'], "ITEM_PIPELINES", "ADDONS"),
        (
            ["-s", 'DOWNLOADER_MIDDLEWARES={"middlewares.traps.TrapMiddleware": 1}'],
            "DOWNLOADER_MIDDLEWARES",
            "Canonicalize",
        ),
        (["-s", "EXTENSIONS={}"], "EXTENSIONS", "PlainLog"),
        (["-s", "SCHEDULER=scrapy.core.scheduler.Scheduler"], "SCHEDULER", "FrontierScheduler"),
        (["-s", "TWISTED_REACTOR=twisted.internet.selectreactor.SelectReactor"], "TWISTED_REACTOR", "Asyncio"),
        (["-s", "USER_AGENT=me\nand you"], "USER_AGENT", "one line"),
        (["-s", "LOG_STDOUT=maybe"], "LOG_STDOUT", "True or False"),
        (["-L", "DEBG"], "-L", "DEBUG"),
        (["--logfile", "/dev/null/log"], "--logfile", "/dev/null/log"),
    ],
)
def test_a_wrong_value_is_one_message(tmp_path: Path, options: list[str], named: str, wish: str) -> None:
    chosen = {**QUICK, "CRAWL_DIR": tmp_path / "crawl"}
    if named == "-L":
        del chosen["LOG_LEVEL"]
    topic = topic_file(tmp_path, "http://a.example/")
    done = scrapy("crawl", "topical", "-a", f"topic={topic}", *options, **chosen)
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and said.startswith("scrapy:") and named in said and wish in said, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONCURRENT_REQUESTS", "2.5"),
        ("RETRY_HTTP_CODES", "500,abc"),
        ("COOKIES_ENABLED", "maybe"),
        ("CONCURRENT_REQUESTS", "-1"),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", "0"),
        ("CONCURRENT_ITEMS", "0"),
        ("DOWNLOAD_TIMEOUT", "-1"),
    ],
)
def test_a_value_is_what_scrapy_reads(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        refuse_wrong_values(Settings({name: value}))


def test_values_as_a_command_line_has_them() -> None:
    texts = {"DOWNLOAD_TIMEOUT": "2.5", "TELNETCONSOLE_ENABLED": "False", "RETRY_TIMES": "0"}
    refuse_wrong_values(
        Settings(
            {
                **texts,
                "RETRY_HTTP_CODES": "500,502",
                "RETRY_ENABLED": "1",
                "DOWNLOAD_DELAY": None,
                "CONCURRENT_REQUESTS": "0",
            }
        )
    )
    refuse_wrong_components(Settings({"EXTENSIONS": {"nosuch.X": None}, "REFERRER_POLICY": "no-referrer"}))


def test_who_names_all_of_ours_may_add_to_them_and_leave_one_out() -> None:
    ours = {name: getattr(project, name) for name in dir(project) if name.isupper()}
    added = {**ours["EXTENSIONS"], "scrapy.extensions.logstats.LogStats": 1, Progress: None}
    refuse_replaced_components(Settings({**ours, "EXTENSIONS": added}), ours)
    without = {path: place for path, place in added.items() if path not in (Progress, PROGRESS)}
    refuse_replaced_components(Settings({**ours, "EXTENSIONS": {**without, Progress: 1}}), ours)
    with pytest.raises(BadSetting, match=PROGRESS):
        refuse_replaced_components(Settings({**ours, "EXTENSIONS": without}), ours)


def test_a_component_that_cannot_be_imported() -> None:
    for settings in ({"EXTENSIONS": {"scrapy.NoSuch": 1}}, {"STATS_CLASS": "plain"}):
        with pytest.raises(BadSetting, match="cannot import"):
            refuse_wrong_components(Settings(settings))


def test_what_a_component_lacks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wanting.py").write_text("raise ModuleNotFoundError('none', name='tantivy')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtra, match="search"):
        refuse_wrong_components(Settings({"ITEM_PIPELINES": {"wanting.Pipeline": 1}}))
