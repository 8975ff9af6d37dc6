"""scrapy-redis as its users expect it: a topical crawl pushes items to Redis, and our scheduler feeds its spiders."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from support import warm
from support.crawling import PATIENCE, QUICK, ROOT, command, environment, stored
from support.redisserver import PROGRAM, RedisServer, redis_server
from support.shop import HOSTS, PRODUCTS, open_shop
from support.stockproject import crawl, read_items, start_crawl, start_project

from crawlproject.storage.page_files import item_schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one"),
]

FED = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider
from shop.items import Product

class FedSpider(RedisSpider):
    name = "fed"

    def parse(self, response):
        yield Product(url=response.url, title=response.css("h1::text").get(), stock=response.meta.get("wanted"))

class FedSiteSpider(RedisCrawlSpider):
    name = "fed_site"
    redis_key = "shelves"
    rules = (Rule(LinkExtractor(allow=r"/p/"), callback="parse_item", follow=True),)

    def parse_item(self, response):
        yield Product(url=response.url, title=response.css("h1::text").get())
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as running_server:
        yield running_server


@pytest.fixture
def client(server: RedisServer) -> redis.Redis:
    client = redis.Redis(port=server.port, decode_responses=True)
    client.flushall()
    return client


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = start_project(tmp_path_factory.mktemp("theirs"))
    (folder / "shop" / "spiders" / "fed.py").write_text(FED)
    return folder


# ------------------------------------------------------------ items


def test_the_items_of_a_topical_crawl_are_pushed(tmp_path: Path, server: RedisServer, client: redis.Redis) -> None:
    code = (ROOT / "docs" / "hand-over.md").read_text().partition("# redis_items.py\n")[2].partition("```")[0]
    (tmp_path / "redis_items.py").write_text(code)
    settings = {**QUICK, "CRAWL_DIR": tmp_path / "crawl", "CRAWL_MAX_PAGES": 12, "VIRTUAL_WEB": "sample"}
    settings |= {"ADDONS": '{"redis_items.AddOn": 100}', "REDIS_URL": server.url}
    crawling = command("crawl", "topical", "-a", "topic=demo", **settings)
    done = warm.run(crawling[3:], ROOT, {**environment(), "PYTHONPATH": str(tmp_path)}, PATIENCE)
    assert done.returncode == 0, done.stderr
    items = [json.loads(line) for line in client.lrange("topical:items", 0, -1)]
    assert {item["url"] for item in items} == stored(tmp_path / "crawl")
    assert all(list(item) == list(item_schema()["properties"]) for item in items)


# ------------------------------------------------------------ spiders


def test_a_redis_spider_is_fed_while_it_runs(
    project: Path, tmp_path: Path, server: RedisServer, client: redis.Redis
) -> None:
    urls = [f"http://{host}/p/{number}" for host in HOSTS for number in range(3)]
    push = [json.dumps({"url": url, "meta": {"wanted": number}}) for number, url in enumerate(urls)]
    client.rpush("fed:feed", *push[:6])
    chosen = {"REDIS_URL": server.url, "REDIS_START_URLS_KEY": "%(name)s:feed", "MAX_IDLE_TIME_BEFORE_CLOSE": 3}
    with open_shop() as shop, start_crawl(project, "fed", shop.port, tmp_path / "items", **chosen) as process:
        end = time.monotonic() + 60
        while len(read_items(tmp_path / "items")) < 6:
            assert time.monotonic() < end, "what lay in Redis was not crawled"
            time.sleep(0.05)
        client.rpush("fed:feed", *push[6:])
        assert process.wait(90) == 0, "it closes when nothing is pushed any more"
    items = read_items(tmp_path / "items")
    assert sorted((item["url"], item["stock"]) for item in items) == sorted(zip(urls, range(12), strict=True))
    assert client.keys("*") == []


def test_workers_of_a_redis_crawl_spider_share_the_frontier(
    project: Path, tmp_path: Path, server: RedisServer, client: redis.Redis
) -> None:
    client.sadd("shelves", *(json.dumps({"url": f"http://{host}/"}) for host in HOSTS))
    chosen = {"REDIS_URL": server.url, "REDIS_START_URLS_AS_SET": True, "MAX_IDLE_TIME_BEFORE_CLOSE": 3}
    chosen["FRONTIER"] = "redis"
    with (
        open_shop(seconds=0.02) as shop,
        start_crawl(project, "fed_site", shop.port, tmp_path / "one", CRAWL_WORKER="one", **chosen) as one,
    ):
        two = crawl(project, "fed_site", shop.port, tmp_path / "two", CRAWL_WORKER="two", **chosen)
        assert one.wait(90) == 0
    assert two.returncode == 0 and "'log_count/ERROR'" not in two.stderr, two.stderr
    titles = [item["title"] for name in ("one", "two") for item in read_items(tmp_path / name)]
    wanted = {f"{host} {number}" for host in HOSTS for number in range(PRODUCTS)}
    assert sorted(titles) == sorted(title for title in wanted if not title.endswith(" 7")), "each page once"


# ------------------------------------------------------------ without Redis


def test_a_crawl_without_redis_imports_no_client_of_it(tmp_path: Path) -> None:
    code = """
import sys
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings
settings = get_project_settings()
chosen = {"VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 3, "CRAWL_DIR": sys.argv[1], "LOG_LEVEL": "ERROR"}
settings.setdict({**chosen, "POLITENESS_MIN_DELAY": 0}, priority="cmdline")
process = AsyncCrawlerProcess(settings)
process.crawl("topical", topic="demo")
process.start()
print(sorted({"redis", "scrapy_redis"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    assert stored(tmp_path)
