"""A stock Scrapy project: the output of ``scrapy startproject`` with two spiders and a CrawlSpider.

Scrapy before 2.14 passes ``spider`` to every method of its pipelines and middlewares.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import warm
from support.crawling import ROOT, environment

LINE = 'ADDONS = {"crawlproject.addon.FrontierAddon": 100}'

ITEMS = """
import scrapy
from dataclasses import dataclass

class Product(scrapy.Item):
    url = scrapy.Field()
    title = scrapy.Field()
    stock = scrapy.Field()
    seen_by = scrapy.Field()

@dataclass
class Order:
    url: str
    customer: str
    number: int = 0
    title: str = ""
    seen_by: str = ""
"""

PIPELINES = """
import asyncio, json
from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

class Stamp:
    async def process_item(self, item, spider=None):
        await asyncio.sleep(0.005)
        if ItemAdapter(item)["title"].endswith(" 7"):
            raise DropItem("sevens are not wanted")
        ItemAdapter(item)["seen_by"] = type(self).__name__
        return item

class Write:
    def __init__(self, path):
        self.file = open(path, "a")

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings["ITEMS_FILE"])

    def process_item(self, item, spider=None):
        self.file.write(json.dumps(ItemAdapter(item).asdict(), sort_keys=True) + "\\n")
        self.file.flush()
        return item
"""

MARK = """
class MarkMiddleware:
    def process_request(self, request, spider=None):
        request.headers["X-Mark"] = "theirs"
"""

ORDERS = """
import scrapy
from scrapy import FormRequest, Request
from shop.items import Order

class OrdersSpider(scrapy.Spider):
    name = "orders"

    async def start(self):
        for customer in ("ann", "bob"):
            yield Request(f"http://shop.example/login?as={customer}", self.log_in,
                          meta={"cookiejar": customer}, cb_kwargs={"customer": customer})

    def log_in(self, response, customer):
        jar = response.meta["cookiejar"]
        yield FormRequest("http://shop.example/login", formdata={"user": customer}, callback=self.account,
                          meta={"cookiejar": jar}, cb_kwargs={"customer": customer}, dont_filter=True, priority=10)

    def account(self, response, customer):
        assert response.css("h1::text").get() == customer
        for number, link in enumerate(response.css("a.order")):
            order = Order(response.urljoin(link.attrib["href"]), customer, number)
            yield response.follow(link, self.order, meta=response.meta, cb_kwargs={"order": order}, dont_filter=True)

    async def order(self, response, order):
        order.title = response.css("h1::text").get()
        yield order
"""

CATALOGUE = """
import scrapy
from scrapy import FormRequest, Request
from shop.items import Product

class CatalogueSpider(scrapy.Spider):
    name = "catalogue"
    allowed_domains = ["shop.example", *(f"shelf{n}.example" for n in range(4))]

    async def start(self):
        yield Request("http://shop.example/", self.parse, errback=self.failed)

    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.product, errback=self.failed, meta=response.meta)

    def product(self, response):
        title = response.css("h1::text").get()
        if title is None:
            yield from response.follow_all(css="a", callback=self.product)
            return
        product = Product(url=response.url, title=title)
        url = response.urljoin("/stock")
        yield FormRequest(url, formdata={"of": title}, callback=self.stock, cb_kwargs={"product": product})
        yield from response.follow_all(css="a", callback=self.product)

    def stock(self, response, product):
        product["stock"] = response.css("b::text").get()
        yield product

    def failed(self, failure):
        yield Product(url=failure.request.url, title=type(failure.value).__name__)
"""

SITE = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from shop.items import Product

class SiteSpider(CrawlSpider):
    name = "site"
    allowed_domains = ["shelf1.example", "shelf2.example"]
    start_urls = ["http://shelf1.example/", "http://shelf2.example/"]
    rules = (Rule(LinkExtractor(allow=r"/p/"), callback="parse_item", follow=True),)

    def parse_item(self, response):
        yield Product(url=response.url, title=response.css("h1::text").get())
"""


def start_project(folder: Path) -> Path:
    """Create the project, with the one line added to its settings; return its folder."""
    subprocess.run(
        [sys.executable, "-m", "scrapy", "startproject", "shop", str(folder / "shop")],
        cwd=folder,
        env=_environ(None),
        check=True,
        capture_output=True,
    )
    module = folder / "shop" / "shop"
    (module / "items.py").write_text(ITEMS)
    (module / "pipelines.py").write_text(PIPELINES)
    (module / "mark.py").write_text(MARK)
    for name, text in (("orders", ORDERS), ("catalogue", CATALOGUE), ("site", SITE)):
        (module / "spiders" / f"{name}.py").write_text(text)
    settings = (module / "settings.py").read_text()
    assert "\nADDONS = {}\n" in settings and "\nDOWNLOAD_DELAY = 1\n" in settings, "the template has changed"
    settings = settings.replace("ADDONS = {}", LINE).replace("DOWNLOAD_DELAY = 1", "DOWNLOAD_DELAY = 0.02")
    settings += (
        'ITEM_PIPELINES = {"shop.pipelines.Stamp": 100, "shop.pipelines.Write": 200}\n'
        'DOWNLOADER_MIDDLEWARES = {"shop.middlewares.ShopDownloaderMiddleware": 543, "shop.mark.MarkMiddleware": 544}\n'
    )
    (module / "settings.py").write_text(settings)
    return folder / "shop"


def crawl_command(spider: str, items: Path, **settings: object) -> list[str]:
    chosen = {"ITEMS_FILE": items, "LOG_LEVEL": "INFO", **settings}
    pairs = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", "crawl", spider, *pairs]


def crawl(
    project: Path, spider: str, port: int, items: Path, limit: int = 0, **settings: object
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy crawl`` in the project to its end; with ``limit`` no file can grow beyond that many bytes."""
    if not limit:
        return warm.run(crawl_command(spider, items, **settings)[3:], project, _environ(port), 900)
    return subprocess.run(
        crawl_command(spider, items, **settings),
        cwd=project,
        env=_environ(port),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


def start_crawl(project: Path, spider: str, port: int, items: Path, **settings: object) -> warm.Started:
    """Like ``crawl``, but do not wait for the end."""
    return warm.Started(crawl_command(spider, items, **settings)[3:], project, _environ(port))


def read_items(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _environ(port: int | None) -> dict[str, str]:
    """The environment in which ``crawlproject`` can be imported as if installed; nothing else refers to it."""
    kept = {name: value for name, value in environment(port).items() if not re.match("SCRAPY", name)}
    return {**kept, "PYTHONPATH": str(ROOT)}
