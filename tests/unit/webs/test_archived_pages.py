"""A web as an archive that orderings learn from."""

from __future__ import annotations

from support.webs import DictWeb, page, robots

from crawlproject.configuration import read_options
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Reply
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages

HOME, OLD, LOOP, PLAIN = (f"http://h.example/{name}" for name in ("", "old", "loop", "plain"))


def archive(web: DictWeb) -> ArchivedPages:
    options = read_options({})
    pages = read_pages(web, "en", options)
    judge = TopicJudge(["coral reef"], pages.reader.analyzer)
    return ArchivedPages(pages, JudgedPages(pages, judge), make_canonicalizer(options))


WEB = DictWeb(
    dict(
        [
            page(HOME, OLD, text="coral reef"),
            page("http://H.example:80/plain#part", text="the same page, spelled in another way"),
            page(PLAIN, text="steam engine"),
            robots("http://h.example", "User-agent: *"),
            (OLD, Reply(OLD, 301, {"location": "/"})),
            (LOOP, Reply(LOOP, 302, {"location": "/loop?"})),
        ]
    )
)


def test_urls_are_canonical_and_in_order() -> None:
    assert list(archive(WEB).urls()) == [HOME, LOOP, OLD, PLAIN]


def test_pages_are_judged_for_the_topic() -> None:
    found = archive(WEB).page(PLAIN)
    assert found is not None and found.relevance == 0


def test_a_redirect_leads_to_its_page() -> None:
    found = archive(WEB).page(OLD)
    assert found is not None and found.url == HOME and found.relevance > 0.5


def test_links_of_pages_only() -> None:
    assert archive(WEB).links(HOME) == [OLD]
    assert archive(WEB).links(OLD) is None


def test_what_is_no_page() -> None:
    held = archive(WEB)
    assert held.page(LOOP) is None
    assert held.page("http://h.example/other") is None
