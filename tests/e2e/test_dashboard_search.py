"""The dashboard's search over several crawls, in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from support.browser import DESKTOP, PHONE, browser, serving
from support.crawling import QUICK
from support.livecrawl import crawl_web

from crawlproject.records import Topic
from crawlproject.webs.sample import SampleWeb

pytestmark = pytest.mark.slow

BY_WORDS = [("w1", 31.0), ("both", 24.0), ("w3", 20.0)]  # BM25
BY_MEANING = [("m1", 0.99), ("m2", 0.97), ("both", 0.95), ("m4", 0.5)]  # fused ranks, at most 1


def test_crawls_with_scores_of_two_kinds_are_searched_as_equals(tmp_path: Path) -> None:
    for name in ("words", "vectors"):
        topic = Topic("reefs", ("coral reef",), ("http://www.lagoon-notes.example/",), settings={**QUICK})
        crawl_web(topic, SampleWeb(), tmp_path / "crawls" / name, CRAWL_MAX_PAGES=5)

    def answer(route: Any) -> None:
        [crawl] = parse_qs(urlsplit(route.request.url).query)["crawl"]
        pages = {"words": BY_WORDS, "vectors": BY_MEANING}[crawl]
        hits = [
            {
                "url": f"http://{name}.example/",
                "web": True,
                "title": name,
                "snippet": "",
                "score": score,
                "relevance": 0,
            }
            for name, score in pages
        ]
        route.fulfill(content_type="application/json", body=json.dumps({"total": len(hits), "hits": hits}))

    with browser() as chromium, serving(tmp_path, "dashboard", tmp_path / "crawls") as address:
        page = chromium.new_page(viewport=DESKTOP)
        page.route("**/api/search?**", answer)
        page.goto(f"{address}#words&vectors")
        page.wait_for_selector("#search-section:not([hidden])")
        page.fill("#search-query", "coral")
        page.click("#search button")
        page.wait_for_selector("#hits li")
        # Ordered by rank; of the two second hits, the one of both crawls comes first.
        assert page.locator("#hits .name").all_inner_texts() == ["w1", "m1", "both", "m2", "w3", "m4"]
        assert page.locator("#hits li", has_text="both").locator(".badge").count() == 2
        # Two crawls of one topic are distinguishable, and the hosts of a single crawl are not cut.
        assert page.locator(".run h2 .badge").all_inner_texts() == ["words", "vectors"]
        page.goto("about:blank")
        page.goto(f"{address}#words")
        for viewport in (DESKTOP, PHONE):
            page.set_viewport_size(viewport)
            page.wait_for_selector(".hosts td bdi")
            lines = page.eval_on_selector_all(
                ".hosts td:first-child bdi", "nodes => nodes.map(node => node.getBoundingClientRect().height)"
            )
            assert lines and 0 < max(lines) < 25  # pixels: a name is in one line
            assert page.evaluate(
                "(node => node.scrollWidth <= node.clientWidth)(document.querySelector('.hosts').parentNode)"
            )
