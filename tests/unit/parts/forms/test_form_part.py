"""The part that queries search forms."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from support.livecrawl import crawl_on
from support.timedcrawl import DAY, TimedCrawl
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


class Library:
    """A site whose result pages change with each visit, and link to the same results in other orders."""

    visits = 0

    def get(self, url: str) -> Reply:
        self.visits += 1
        if url == HOME:
            body = "<p>The coral reef library</p><form action=/find><input type=search name=q></form>"
        elif "/item/" in url:
            body = f"<p>The coral reef {url}</p>"
        else:
            asked = url.partition("q=")[2].partition("&")[0]
            listed = [] if asked not in ("coral", "reef") else [f"/item/{number}" for number in range(9)]
            links = [*listed, *(f"/find?q={asked}&amp;sort={order}" for order in ("title", "date") if listed)]
            body = f"<p>{'new ' * self.visits}</p>" + "".join(
                f"<p><a href='{link}'>Coral reef</a></p>" for link in links
            )
        return Reply(url, 200, HTML, f"<title>Coral reef</title>{body}".encode())


def test_other_views_of_a_result_page_are_not_followed_when_it_is_visited_again(tmp_path: Path) -> None:
    settings = {"CRAWL_FORMS": 4, "CRAWL_REVISIT": "adaptive", "CRAWL_REVISIT_MIN": 600, "CRAWL_RATE": 2000}
    crawl = TimedCrawl(Topic("reefs", ("coral reef",), (HOME,)), tmp_path, Library(), **settings)
    crawl.run(DAY / 4).close()
    asked = [url for _, url, _, _ in crawl.asked]
    assert asked.count(f"{HOME}find?q=coral") > 1
    assert not [url for url in asked if "sort=" in url]
