"""The report on the search forms of a crawl."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.livecrawl import crawl_web
from support.webs import HTML

from crawlproject.parts.forms.report import read_sources
from crawlproject.records import Reply, Topic

HOME = "http://a.example/"
ITEMS = {"coral": range(10), "reef": range(5, 15), "reefs": range(10), "fish": range(10, 20), "sponges": range(20, 30)}
BESIDE = "".join(f"<p><a href=/tip{number}>A tip</a></p>" for number in range(3))  # on every result page
MENU = "".join(f"<option>{kind}</option>" for kind in ("reefs", "fish", "sponges"))
BOX, CHOICE = "<input type=search name=q>", f"<select name=q><option value=''>All</option>{MENU}</select>"


class Library:
    """A site with a search form; ``form`` is its markup."""

    def __init__(self, form: str) -> None:
        self.form = form

    def get(self, url: str) -> Reply:
        place = urlsplit(url)
        if place.path == "/":
            return self.page(f"{self.form}<p>The coral reef library</p>")
        if place.path.startswith("/item/"):
            return self.page(f"<p>The coral reef {place.path}</p>")
        if place.path != "/find":
            return Reply(url, 404, HTML, b"")
        found = ITEMS.get(parse_qs(place.query).get("q", [""])[0], range(0))
        return self.page(BESIDE + "".join(f"<p><a href=/item/{number}>Reef {number}</a></p>" for number in found))

    @staticmethod
    def page(body: str) -> Reply:
        return Reply(HOME, 200, HTML, f"<title>Coral reef</title>{body}".encode())


def crawl_library(folder: Path, form: str) -> None:
    topic, budgets = Topic("reefs", ("coral reef",), (HOME,)), {"CRAWL_FORMS": 8, "CRAWL_MAX_PAGES": 60}
    crawl_web(topic, Library(form), folder, **budgets, ORDERING="dom", POLITENESS_MIN_DELAY=0)


@pytest.mark.parametrize(
    ("action", "field", "items"),
    [
        ("/find", BOX, 15),
        ("/find?lang=en", BOX, 15),  # a GET replaces the query
        ("HTTP://A.example:80/find", BOX, 15),
        ("/find", CHOICE, 30),
    ],
)
def test_links_on_every_result_page_are_no_items(tmp_path: Path, action: str, field: str, items: int) -> None:
    form = f"<form action='{action}'>{field}<select name=sort><option>up<option>down</select><button>Search</button></form>"
    crawl_library(tmp_path, form)
    (source,) = read_sources(tmp_path, 0.1)
    assert source.address == f"{HOME}find" and source.items == items


def test_items_that_a_later_visit_of_a_result_page_finds_are_added(tmp_path: Path) -> None:
    crawl_library(tmp_path, f"<form action=/find>{BOX}</form>")
    with (tmp_path / "links.jsonl").open("a") as log:
        link = {"source": f"{HOME}find?q=coral", "anchor": "Reef 99", "context_score": 0.1}
        log.write(json.dumps({**link, "target": f"{HOME}item/99"}) + "\n")
    (source,) = read_sources(tmp_path, 0.1)
    assert source.items == 16
