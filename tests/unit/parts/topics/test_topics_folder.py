"""The folder of topics while a crawl runs: which files join, and which leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from scrapy.crawler import Crawler
from support.parts import topics_of

from crawlproject.adapters.running import attach
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.core.crawl import Crawl
from crawlproject.parts.topics.adapter import TopicsFolder
from crawlproject.topic.folder import load_topics


def write(folder: Path, name: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(f'keywords = ["{name}"]\nseeds = ["http://{name}.example/"]\n')
    return path


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    folder = tmp_path / "topics"
    folder.mkdir()
    write(folder, "reefs")
    return folder


@pytest.fixture
def crawl(tmp_path: Path, topics: Path) -> Iterator[Crawl]:
    crawl = assemble(load_topics(topics), read_options({}), clock=lambda: 1.0, folder=tmp_path / "crawl")
    yield crawl
    crawl.close("finished", 2.0)


def watched(topics: Path, crawl: Crawl) -> TopicsFolder:
    part = topics_of(crawl)
    assert part is not None
    crawler = cast(Crawler, SimpleNamespace())
    attach(crawler, crawl)
    return TopicsFolder(crawler, topics, part)


def members(crawl: Crawl) -> list[str]:
    return [member.name for member in crawl.topic.members]


def test_a_file_that_comes_back_unchanged_joins_again(tmp_path: Path, topics: Path, crawl: Crawl) -> None:
    folder = watched(topics, crawl)
    bread = write(topics, "bread")
    folder.look()
    bread.rename(tmp_path / "away.toml")
    folder.look()
    assert members(crawl) == ["reefs"]
    (tmp_path / "away.toml").rename(bread)
    folder.look()
    assert members(crawl) == ["reefs", "bread"]


def test_the_last_topic_leaves_once_another_has_joined(
    topics: Path, crawl: Crawl, caplog: pytest.LogCaptureFixture
) -> None:
    folder = watched(topics, crawl)
    (topics / "reefs.toml").unlink()
    for _ in range(3):
        folder.look()
    assert members(crawl) == ["reefs"] and len(caplog.records) == 1
    write(topics, "bread")
    folder.look()
    assert members(crawl) == ["bread"]


def test_the_file_of_the_last_topic_may_come_back(topics: Path, crawl: Crawl, caplog: pytest.LogCaptureFixture) -> None:
    folder = watched(topics, crawl)
    (topics / "reefs.toml").unlink()
    folder.look()
    write(topics, "reefs")
    write(topics, "bread")
    folder.look()
    assert members(crawl) == ["reefs", "bread"] and len(caplog.records) == 1
    (topics / "reefs.toml").unlink()
    folder.look()
    assert members(crawl) == ["bread"]
