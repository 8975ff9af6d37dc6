"""The scheduler with spiders of other projects: callbacks, POST, priorities, CrawlSpider, retries, redirects, CLOSESPIDER."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawling import QUICK, ROOT, environment, scrapy
from support.webs import HTML, DictWeb, page

from crawlproject.http.virtual_web_server import AccessLog, read_log, running
from crawlproject.records import Reply

RUN = """
import json, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.project import get_project_settings

seen = []
{spider}
settings = get_project_settings()
settings.setdict({{"LOG_LEVEL": "ERROR", "POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "ITEM_PIPELINES": {{}},
                   **json.loads(sys.argv[1])}}, priority="cmdline")
process = AsyncCrawlerProcess(settings)
crawler = process.create_crawler(Theirs)
dropped = []
def note(request): dropped.append(request.url)
crawler.signals.connect(note, scrapy.signals.request_dropped)
process.crawl(crawler)
process.start()
stats = {{key: value for key, value in crawler.stats.get_stats().items() if isinstance(value, (int, str))}}
print(json.dumps({{"seen": seen, "dropped": dropped, "stats": stats}}))
"""


def run(spider: str, port: int, **settings: object) -> dict:
    code = RUN.format(spider=spider)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(settings)],
        cwd=ROOT,
        env=environment(port),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def web() -> DictWeb:
    entries = dict(
        [
            page("http://a.example/", "http://a.example/one", "http://a.example/two", "http://b.example/"),
            page("http://a.example/one", "http://a.example/two"),
            page("http://a.example/two"),
            page("http://b.example/"),
        ]
    )
    entries["http://a.example/old"] = Reply("", 302, {"location": "http://a.example/one", **HTML}, b"")
    entries["http://a.example/down"] = Reply("", 503, HTML, b"")
    return DictWeb(entries)


CALLBACKS = """
class Theirs(scrapy.Spider):
    name = "theirs"
    async def start(self):
        yield scrapy.Request("http://a.example/", meta={"deep": {"tuple": (1, 2)}}, cb_kwargs={"word": "x"})
    def parse(self, response, word):
        seen.append(["parse", response.url, word, response.meta["deep"]["tuple"]])
        yield scrapy.Request("http://a.example/one", self.second, headers={"X-Mark": "7"}, priority=-5)
        yield scrapy.Request("http://a.example/two", self.second, priority=5)
        yield scrapy.Request("http://a.example/", self.second)
        yield scrapy.Request("http://a.example/", self.second, dont_filter=True)
        yield scrapy.FormRequest("http://a.example/", formdata={"q": "coral"}, callback=self.posted)
        yield scrapy.Request("http://b.example/", self.second, meta={"object": object()})
    def second(self, response):
        seen.append(["second", response.url, response.request.headers.get("X-Mark", b"").decode()])
    def posted(self, response):
        seen.append(["posted", response.request.method, response.request.body.decode(), response.status])
"""


def test_callbacks_headers_bodies_and_priorities_survive(tmp_path: Path, web: DictWeb) -> None:
    with running(web) as server:
        found = run(CALLBACKS, server.port, CONCURRENT_REQUESTS=1, FRONTIER_BATCH_SIZE=1, JOBDIR=str(tmp_path))
    seen = found["seen"]
    assert seen[0] == ["parse", "http://a.example/", "x", [1, 2]]
    assert ["second", "http://a.example/one", "7"] in seen
    assert ["second", "http://b.example/", ""] in seen, "an object in meta keeps the request in memory only"
    assert ["posted", "POST", "q=coral", 405] in seen
    assert seen.count(["second", "http://a.example/", ""]) == 1, "dont_filter is fetched again, the other is known"
    assert found["dropped"] == ["http://a.example/"]
    order = [entry[1] for entry in seen]
    assert order.index("http://a.example/two") < order.index("http://a.example/one"), "priority decides"
    assert found["stats"]["scheduler/unserializable"] == 1
    assert found["stats"]["finish_reason"] == "finished"


RULES = """
class Theirs(CrawlSpider):
    name = "theirs"
    start_urls = ["http://a.example/"]
    allowed_domains = ["a.example"]
    rules = [Rule(LinkExtractor(), callback="found", follow=True)]
    def found(self, response):
        seen.append(response.url)
"""


def test_a_crawlspider_stays_on_its_domain(web: DictWeb) -> None:
    with running(web) as server:
        found = run(RULES, server.port)
    assert sorted(found["seen"]) == ["http://a.example/one", "http://a.example/two"]


RETRIES = """
class Theirs(scrapy.Spider):
    name = "theirs"
    start_urls = ["http://a.example/old", "http://a.example/down", "http://a.example/two?utm_source=x"]
    def parse(self, response):
        seen.append([response.url, response.status, response.meta.get("retry_times", 0)])
"""


def test_redirects_and_retries_work_as_in_scrapy(tmp_path: Path, web: DictWeb) -> None:
    with AccessLog(tmp_path / "log") as log, running(web, log=log) as server:
        found = run(RETRIES, server.port, RETRY_TIMES=2)
    assert sorted(found["seen"]) == [
        ["http://a.example/down", 503, 2],
        ["http://a.example/one", 200, 0],
        ["http://a.example/two", 200, 0],
    ]
    assert [a["url"] for a in read_log(tmp_path / "log")].count("http://a.example/down") == 3


ENDLESS = """
class Theirs(scrapy.Spider):
    name = "theirs"
    start_urls = ["http://a.example/"]
    def parse(self, response):
        seen.append(response.url)
        yield scrapy.Request("http://a.example/", dont_filter=True)
"""


def test_closespider_works(web: DictWeb) -> None:
    with running(web) as server:
        found = run(ENDLESS, server.port, CLOSESPIDER_PAGECOUNT=4, CONCURRENT_REQUESTS=1)
    assert found["stats"]["finish_reason"] == "closespider_pagecount"
    assert 3 <= len(found["seen"]) <= 5, "robots.txt is one of the 4 responses, as in Scrapy"


def test_requests_wait_in_jobdir_over_a_stop(tmp_path: Path, web: DictWeb) -> None:
    spider = CALLBACKS.replace("http://b.example/", "http://a.example/three")
    with running(web) as server:
        first = run(spider, server.port, JOBDIR=str(tmp_path), CLOSESPIDER_PAGECOUNT=2, CONCURRENT_REQUESTS=1)
        second = run(spider, server.port, JOBDIR=str(tmp_path), CONCURRENT_REQUESTS=1)
    urls = [entry[1] for entry in first["seen"] + second["seen"]]
    assert first["stats"]["finish_reason"] == "closespider_pagecount"
    assert {"http://a.example/one", "http://a.example/two", "POST"} <= set(urls)


def test_scrapy_shell_fetches(web: DictWeb) -> None:
    """The shell makes its engine before the event loop runs."""
    with running(web) as server:
        code = "print(response.status, response.url)"
        done = scrapy("shell", "http://a.example/one", "-c", code, port=server.port, **QUICK)
    assert "200 http://a.example/one" in done.stdout, done.stderr
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("fetch",), ("shell", "-c", "print(response)")])
def test_commands_of_scrapy_say_why_a_url_is_refused(command: tuple[str, ...]) -> None:
    done = scrapy(command[0], "http://127.0.0.1:9/", *command[1:])
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "Refused (safety/port): http://127.0.0.1:9/: a port that web servers do not use" in done.stderr
