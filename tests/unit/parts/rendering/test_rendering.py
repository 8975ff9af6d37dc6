"""The choice of pages to render in a browser."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from time import process_time

import pytest
from support.crawling import ROOT
from support.pages import a_link, a_page

from crawlproject.parts.rendering.part import MORE_TERMS, Rendering, gained, without_headings
from crawlproject.records import NEEDS_BROWSER, RENDERED, FetchEvent, Page, Visit

SHELL = Page("http://a.example/1", signs={NEEDS_BROWSER: 1.0})
TEXT = Page("http://a.example/2")


def visited(policy: Rendering, url: str, *, brought: bool, rendered: bool = True) -> None:
    signs = {RENDERED: 4.0} if rendered else {}
    policy.learn(FetchEvent(Visit(url, 200, 1.0, error="" if brought else NEEDS_BROWSER, signs=signs)))


def test_nothing_of_a_browser_is_imported_unless_it_is_wanted() -> None:
    code = (
        "import sys, spiders.topical; from scrapy.utils.misc import load_object; from crawlproject import settings;"
        "print([load_object(path).__name__ for path in settings.ITEM_PIPELINES]);"
        "print([name for name in sys.modules if '.rendering.browser.' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    pipelines, browser = done.stdout.splitlines()
    assert "RenderPipeline" in pipelines, "a crawl has it, and it is not configured unless it is wanted"
    assert browser == "[]"


def test_the_mode_says_which_pages() -> None:
    assert [Rendering(mode).wants(page) for mode in ("never", "needed", "always") for page in (SHELL, TEXT)] == [
        False, False, True, False, True, True,
    ]  # fmt: skip


def test_a_probe_that_brought_nothing_is_the_last_of_its_host() -> None:
    policy = Rendering("needed")
    visited(policy, "http://a.example/0", brought=False)
    assert not policy.wants(SHELL)
    assert policy.wants(replace(SHELL, url="http://b.example/1")), "another host"


def test_a_host_that_was_worth_it_may_fail_now_and_then() -> None:
    policy = Rendering("needed")
    visited(policy, SHELL.url, brought=True)
    for _ in range(3):
        visited(policy, SHELL.url, brought=False)
        assert policy.wants(SHELL)
    visited(policy, SHELL.url, brought=False)
    assert not policy.wants(SHELL)


def test_pages_that_were_not_rendered_say_nothing() -> None:
    policy = Rendering("needed")
    visited(policy, SHELL.url, brought=False, rendered=False)
    assert policy.wants(SHELL)


@pytest.mark.parametrize(
    ("more", "links", "expected"), [(MORE_TERMS, 0, True), (MORE_TERMS - 1, 0, False), (0, 1, True)]
)
def test_what_counts_as_gained(more: int, links: int, expected: bool) -> None:
    plain = replace(a_page(SHELL.url), terms=("reef",))
    rendered = replace(
        plain, terms=("reef",) * (1 + more), links=tuple(a_link("http://a.example/new") for _ in range(links))
    )
    assert gained(plain, rendered) is expected


def test_headings_without_end_take_no_time() -> None:
    began = process_time()
    assert without_headings(a_page(), f"<!-- {'<h1 ' * 200_000}-->") == a_page().links
    assert process_time() - began < 5.0


def test_a_link_to_a_heading_of_the_page_leads_to_no_other_page() -> None:
    html = '<h1 id="plugins"><a href="?id=plugins">Plugins</a></h1><h2 class="x" id="wie-geht-es">Wie</h2><p id="more">'
    urls = ["?id=plugins", "?id=wie-geht-es", "?id=more", "?id=other", "?id=plugins&page=2", "", "/other?id=plugins"]
    page = a_page("http://a.example/guide?lang=de", links=[a_link(f"http://a.example/guide{url}") for url in urls])
    assert [link.url.removeprefix("http://a.example/guide") for link in without_headings(page, html)] == [
        "?id=more", "?id=other", "?id=plugins&page=2", "", "/other?id=plugins",
    ]  # fmt: skip
    assert without_headings(replace(page, links=(a_link("http://a.example/guide?id=plugins&lang=de"),)), html) == ()
    assert without_headings(page, "") == page.links
