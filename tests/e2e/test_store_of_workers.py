"""Workers of one crawl with a common store: workers are killed, the store fails, and the store still reads as one crawl."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from support.crawling import history, scrapy
from support.crew import Crew, lines, wait_for
from support.redisserver import LASTING, PROGRAM, RedisServer, redis_server
from support.s3server import BUCKET, BreakingProxy, S3Server

from crawlproject import open_crawl
from crawlproject.opening import crawl_folder
from crawlproject.options import WORKERS
from crawlproject.urls.hosts import page_path

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no redis-server on this machine; `make test` installs one")
TOPIC = Path("topics/demo.toml").resolve()
SLOW = {
    "VIRTUAL_WEB": "sample",
    "CRAWL_MAX_PAGES": 100,
    "DOWNLOAD_DELAY": 0.5,
    "CONCURRENT_REQUESTS": 4,
    "CRAWL_WARC": 1,
}
PLACE = f"s3://{BUCKET}/crawl"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis", *LASTING) as server:
        yield server


def read_once(place: str) -> dict[str, bytes]:
    """The pages and bodies that a reader of the store sees; check that each is there once, with its item and its file."""
    crawl = open_crawl(place)
    urls = [visit.url for visit in crawl.visits() if visit.md5]
    assert max(Counter(urls).values(), default=1) == 1
    assert sorted(page.url for page in crawl.pages(duplicates=True)) == sorted(urls)
    return {url: crawl.body(url) for url in urls}


def test_a_worker_is_killed_while_it_sends_and_the_store_goes_away(
    tmp_path: Path, redis: RedisServer, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    with BreakingProxy(int(s3.url.rpartition(":")[2])).running() as proxy:
        crew = Crew(folder, TOPIC, redis, 0, **SLOW, CRAWL_MIRROR=PLACE)

        def killed(data: bytes) -> bool:
            if b"/workers/a/segments/000001" not in data or not data.startswith(b"PUT"):
                return b"/workers/b/pages/" in data  # the store refuses the pages of worker b
            crew.processes["a"].kill()
            return True

        proxy.breaks = killed
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        for name in ("a", "b"):
            crew.start(name)
        wait_for(lambda: crew.processes["a"].poll() is not None)
        monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
        there = s3.keys(f"{BUCKET}/crawl/{WORKERS}/a")
        assert "pages/000001.gz" in there and "segments/000001.json" not in there, "killed in between"
        assert lines(folder / "workers/a/history.jsonl") > 0 and read_once(PLACE) == {}
        proxy.breaks = lambda data: False
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        crew.processes["a"].communicate()
        crew.start("a")
        crew.wait()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    there = read_once(PLACE)
    assert {*there} == {*crew.stored()} and len(there) >= 100
    assert scrapy("report", folder).returncode == 0
    view = crawl_folder(PLACE)
    for name in ("history.jsonl", "items.jsonl", "links.jsonl", "refused.json"):
        assert (view / name).read_bytes() == (folder / name).read_bytes(), name
    for line in filter(itemgetter("md5"), history(folder)):
        assert there[line["url"]] == (folder / "pages" / page_path(line["md5"])).read_bytes()

    told = scrapy("report", PLACE)
    assert told.returncode == 0 and told.stdout.strip() == str(view / "report.html"), told.stderr
    reports = [json.loads((each / "report.json").read_text()) for each in (view, folder)]
    assert reports[0] == reports[1]
    why = [scrapy("why", place, line["url"]).stdout for place in (PLACE, folder)]
    assert why[0] == why[1] and "Fetched" in why[0]
    assert scrapy("index", PLACE).returncode == 0
    assert "1 to " in scrapy("search", PLACE, "reef").stdout
    assert scrapy("changes", PLACE).returncode == 0
    told = [scrapy("export", place, "--to", "warc", tmp_path / "out.warc.gz").stdout for place in (PLACE, folder)]
    assert told[0] == told[1] and "responses" in told[0], "archives of both workers"
    assert scrapy("export", PLACE, "--to", "parquet", f"s3://{BUCKET}/tables/").returncode == 0
    (tmp_path / "part").write_bytes(s3.files().cat_file(f"{BUCKET}/tables/part-00000.parquet"))
    assert set(parquet.read_table(tmp_path / "part")["url"].to_pylist()) == {*there}
