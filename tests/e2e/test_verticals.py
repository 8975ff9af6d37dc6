"""Forums and lists in a real crawl: views are not fetched, units become items, and a user's template decides for its site."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
from support import warm
from support.crawling import QUICK, ROOT, command, crawl, environment, history, refusals, scrapy, topic_file

from benchmarks.vertical_web import CONTENT, WASTED, Site, write

SERIES = 40


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Site, Path]:
    """Crawl a forum with series; return the topic file, the site, and the crawl folder."""
    place = tmp_path_factory.mktemp("verticals")
    site = Site("forum", "a", 3)
    write([site], place / "web")
    topic = topic_file(place, f"http://{site.host}/")
    done = crawl(topic, place / "crawl", VIRTUAL_WEB=place / "web", CRAWL_SERIES=SERIES, CRAWL_MAX_SECONDS=20)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return topic, site, place / "crawl"


def test_views_are_refused_once_four_of_them_brought_nothing(crawled: tuple[Path, Site, Path]) -> None:
    _, site, folder = crawled
    kinds = [site.kind_of(line["url"]) for line in history(folder) if line["md5"]]
    assert kinds.count(CONTENT) == 30, "every page of every thread"
    assert kinds.count(WASTED) <= 25
    assert refusals(folder)["trap/redundant"] > 200
    signs = [line["signs"].get("shown_before") for line in history(folder) if site.kind_of(line["url"]) == CONTENT]
    assert set(signs) == {None}


def test_posts_become_items_that_share_the_md5_of_their_page(crawled: tuple[Path, Site, Path]) -> None:
    _, site, folder = crawled
    out = folder.parent / "units"
    for kind in ("jsonl", "csv", "parquet"):
        done = scrapy("export", folder, f"{out}.{kind}", "--to", kind, "--split-units", "--with-duplicates")
        assert done.returncode == 0 and "items" in done.stdout, done.stderr
    items = [json.loads(line) for line in Path(f"{out}.jsonl").read_text().splitlines()]
    posts = [item for item in items if site.kind_of(item["url"]) == CONTENT]
    assert (
        len(posts) == 150
        and {item["unit_kind"] for item in posts} == {"post"}
        and {item["page_kind"] for item in posts} == {"thread"}
    )
    by_page: dict[str, list[dict[str, object]]] = {}
    for item in posts:
        by_page.setdefault(item["url"], []).append(item)
    for url, own in by_page.items():
        assert [item["unit"] for item in own] == [1, 2, 3, 4, 5] and len({item["md5"] for item in own}) == 1
        assert all(key in item["text"] for key, item in zip(site.units[url], own, strict=True))
        assert all(item["author"] and item["published"] and item["unit_url"] for item in own)
    first = {item["series"] for item in posts}
    assert len(first) == 10 and all("start" not in url for url in first), "threads of three pages each"
    with Path(f"{out}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(f"{out}.parquet")
    columns = ["fetched_at" if name == "at" else name for name in items[0]]
    assert len(rows) == table.num_rows == len(items) and list(rows[0]) == table.column_names == columns


@pytest.mark.parametrize("options", [("--to", "graphml"), ("--to", "markdown"), ("--to", "jsonl", "--join-series")])
def test_what_units_cannot_be(crawled: tuple[Path, Site, Path], options: tuple[str, ...]) -> None:
    done = scrapy("export", crawled[2], crawled[2].parent / "none", "--split-units", *options)
    assert done.returncode == 2 and "--split-units" in done.stderr


OWN = """
from crawlproject.parts.verticals.site_template import GeneralTemplate, Layout, Unit


class Forum(GeneralTemplate):
    def layout(self, url, body, content_type=""):
        return Layout("thread", (Unit("post", "mine"), Unit("post", "also mine")))

    def skip(self, url):
        return "p=" in url or "view=" in url
"""


def test_an_own_template_says_units_and_what_to_skip(tmp_path: Path, crawled: tuple[Path, Site, Path]) -> None:
    topic, site, folder = crawled
    (tmp_path / "my_own_templates.py").write_text(OWN)

    def run(*arguments: object, template: str = "Forum", **settings: object) -> subprocess.CompletedProcess[str]:
        own = json.dumps({site.host: f"my_own_templates.{template}"})
        call = command(*arguments, **QUICK, CRAWL_SITE_TEMPLATES=own, **settings)
        return warm.run(call[3:], ROOT, environment() | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}, 120)

    web, into = folder.parent / "web", tmp_path / "crawl"
    crawling = ("crawl", "topical", "-a", f"topic={topic}")
    done = run(*crawling, VIRTUAL_WEB=web, CRAWL_DIR=into, TRAP_REDUNDANT="never", CRAWL_MAX_SECONDS=20)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert [line["url"] for line in history(into) if site.kind_of(line["url"]) == WASTED] == []
    done = run("export", into, tmp_path / "out", "--to", "jsonl", "--split-units")
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["text"] for line in (tmp_path / "out").read_text().splitlines()} == {"mine", "also mine"}
    done = run(*crawling, template="NoSuch", VIRTUAL_WEB=web, CRAWL_DIR=tmp_path / "other")
    assert done.returncode != 0 and "CRAWL_SITE_TEMPLATES" in done.stderr and "NoSuch" in done.stderr


def test_off_costs_no_import() -> None:
    code = (
        "import sys, crawlproject.assembly; "
        "print({m for m in sys.modules if m.startswith('crawlproject.parts.verticals.')})"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert said.strip() == "{'crawlproject.parts.verticals.options'}"
