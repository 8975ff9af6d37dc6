"""Sitemaps and feeds tell a round of revisits which pages have changed; a host with false dates is not believed."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from support.crawling import QUICK, crawl, scrapy, topic_file
from support.webs import DictWeb, page, robots

from crawlproject.http.virtual_web_server import running
from crawlproject.records import Reply
from crawlproject.storage.read import read_visits

HOSTS = ("honest.example", "liar.example")
PAGES = [f"http://{host}/{number}" for host in HOSTS for number in range(30)]
CHANGED = {"http://honest.example/3", "http://honest.example/17", "http://liar.example/8"}


def sitemap(host: str, dates: dict[str, float]) -> Reply:
    items = "".join(
        f"<url><loc>{url}</loc><lastmod>{datetime.fromtimestamp(at, UTC).isoformat()}</lastmod></url>"
        for url, at in dates.items()
        if host in url
    )
    return Reply("", 200, {"content-type": "text/xml"}, f"<urlset>{items}</urlset>".encode())


def test_a_round_visits_what_has_changed(tmp_path: Path) -> None:
    began = time.time()
    web = DictWeb(dict(page(url, text=f"coral reef {url[-2:]}") for url in PAGES))
    for host in HOSTS:
        web.replies |= dict([page(f"http://{host}/", text="coral"), robots(f"http://{host}", "Sitemap: /map.xml\n")])
        web.replies[f"http://{host}/map.xml"] = sitemap(host, dict.fromkeys(PAGES, began - 86_400.0))
    topic, folder = topic_file(tmp_path, *(f"http://{host}/" for host in HOSTS)), tmp_path / "crawl"
    with running(web) as server:
        done = crawl(topic, folder, port=server.port, FRONTIER="memory", CRAWL_SITEMAPS=1, PAGE_DUPLICATES="False")
        assert done.returncode == 0, done.stderr
        assert sum(bool(visit.md5) for visit in read_visits(folder)) == 62
        for url in CHANGED:
            web.replies |= dict([page(url, text="coral reef, bleached since")])
        now = time.time()
        new = "http://honest.example/new"
        web.replies |= dict([page(new, text="coral reef")])
        truth = {url: now if url in CHANGED else began - 86_400.0 for url in PAGES} | {new: now}
        web.replies["http://honest.example/map.xml"] = sitemap("honest.example", truth)
        web.replies["http://liar.example/map.xml"] = sitemap("liar.example", dict.fromkeys(PAGES, now))
        done = scrapy("revisit", folder, "--pages", 12, port=server.port, **{**QUICK, "CRAWL_REVISIT_MIN": 1})
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    visits = [visit for visit in read_visits(folder) if visit.number > 1]
    assert {visit.url for visit in visits if visit.change == "changed"} >= {url for url in CHANGED if "honest" in url}
    assert f'["wait","{new}"' in (folder / "frontier" / "journal.jsonl").read_text(), "a listing names new pages"
    hinted = [visit for visit in visits if "hinted" in visit.signs]
    assert sum("liar" in visit.url for visit in hinted) < 12, "one page of thirty had changed"
    assert {visit.url for visit in hinted if "honest" in visit.url} == {url for url in CHANGED if "honest" in url}
