"""The part that queries search forms."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from support.livecrawl import crawl_on
from support.webs import HTML, DictWeb, page

from crawlproject.assembly import assemble
from crawlproject.configuration import read_options
from crawlproject.parts.forms import part
from crawlproject.records import Reply, Topic

HOME = "http://a.example/"


def test_pages_with_a_known_form_are_not_remembered(tmp_path: Path) -> None:
    pages = [f"{HOME}{number}" for number in range(150)]
    form = b"<title>Coral reef</title><form action=/find><input type=search name=q></form><p>coral reef</p>"
    web = DictWeb(dict([page(HOME, *pages, text="coral"), *((url, Reply(url, 200, HTML, form)) for url in pages)]))
    settings = {"CRAWL_FORMS": 1, "PAGE_DUPLICATES": False, "POLITENESS_MIN_DELAY": 0, "ORDERING": "breadth_first"}
    options = read_options(settings)
    crawl = assemble(Topic("reefs", ("coral reef",), (HOME,)), options, clock=lambda: 1.0, folder=tmp_path)
    crawl_on(crawl, web, 20)
    tracemalloc.start()
    crawl_on(crawl, web, 120, begin=2000.0)
    kept = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, str(part.__file__))])
    tracemalloc.stop()
    crawl.close("done", 3000.0)
    assert crawl.folder.history.pages > 100
    assert sum(trace.size for trace in kept.traces) < 1_000
