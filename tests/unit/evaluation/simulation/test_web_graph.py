"""The stored part of a web as a graph: finite even if the web is not."""

from __future__ import annotations

from collections.abc import Callable

from support.pages import ANALYZER
from support.webs import HTML, DictWeb, html, page

from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader, make_traps
from crawlproject.evaluation.simulation.web_graph import graph_of, least_pages
from crawlproject.orderings.base import Graph, PassageLinks, RedirectLinks
from crawlproject.orderings.omniscient import reachable
from crawlproject.records import Reply
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.page_cache import PageCache

HOME = "http://a.example/"


class EndlessWeb(DictWeb):
    """Adds an endless calendar behind the stored pages."""

    def get(self, url: str) -> Reply:
        head, _, day = url.partition("/day/")
        if day.isdecimal():
            return Reply(url, 200, HTML, html(f"{head}/day/{int(day) + 1}", HOME, text="a day"))
        return super().get(url)


def graph(web: DictWeb, admit: Callable[[str], bool] = lambda url: True) -> Graph:
    options = read_options({})
    canonicalize = make_canonicalizer(options)
    return graph_of(PageCache(web, make_reader(options, ANALYZER, canonicalize), options), canonicalize, admit)


def moved(url: str, to: str) -> tuple[str, Reply]:
    return url, Reply(url, 301, {"location": to})


def test_pages_lead_to_their_links_once_and_redirects_to_their_target() -> None:
    web = DictWeb(
        dict(
            [
                page(HOME, "/b", "http://b.example/", "/b#part", "/gone", HOME),
                moved("http://a.example/b", "b/c?utm_source=x"),
                page("http://a.example/b/c"),
                page("http://b.example/"),
            ]
        )
    )
    leads_to = graph(web)
    assert leads_to(HOME) == ("http://a.example/b", "http://b.example/")
    assert leads_to("http://a.example/b") == ("http://a.example/b/c",)
    assert leads_to("http://a.example/b/c") == ()
    assert leads_to("http://a.example/gone") is None


def test_a_redirect_to_nowhere_leads_nowhere() -> None:
    entries = [moved(f"{HOME}{n}", to) for n, to in enumerate(["mailto:x@a.example", "http://[", "/gone"])]
    leads_to = graph(DictWeb(dict(entries)))
    assert [leads_to(url) for url, _ in entries] == [(), (), ()]


def test_what_is_not_admitted_is_not_led_to() -> None:
    traps = make_traps(read_options({}))
    web = DictWeb(dict([page(HOME, "/a/a/a/", "/b"), page("http://a.example/a/a/a/"), page("http://a.example/b")]))
    assert graph(web, lambda url: traps.refusal(url) is None)(HOME) == ("http://a.example/b",)


def test_reachable_pages_come_nearest_first() -> None:
    far = {f"{HOME}{n}": [f"{HOME}{n + 1}", HOME] for n in range(5)}
    web = DictWeb(dict([page(HOME, "/0", "/4", "/gone"), *(page(url, *links) for url, links in far.items())]))
    assert list(reachable(graph(web), [HOME, HOME])) == [HOME, *(f"{HOME}{n}" for n in (0, 4, 1, 2, 3))]
    assert list(reachable(graph(web), ["http://elsewhere.example/"])) == []


def test_a_web_without_end_has_an_end_for_the_graph() -> None:
    web = EndlessWeb(dict([page(HOME, "/day/1", "/real"), page("http://a.example/real", HOME)]))
    leads_to = graph(web)
    assert list(reachable(leads_to, [HOME])) == [HOME, "http://a.example/real"]
    assert set(reachable(leads_to, ["http://a.example/day/7"])) == {
        "http://a.example/day/7",
        HOME,
        "http://a.example/real",
    }


def test_what_is_not_kept_as_a_page_is_a_passage() -> None:
    web = DictWeb(
        dict(
            [page(HOME, "/hidden", "/moved", "/refresh", "/kept"), moved(f"{HOME}moved", "/kept"), page(f"{HOME}kept")]
        )
    )
    for name, head in (
        ("hidden", '<meta name="robots" content="noindex">'),
        ("refresh", '<meta http-equiv="refresh" content="0; url=/kept">'),
    ):
        web.replies[HOME + name] = Reply(HOME + name, 200, HTML, f'{head}<p>reef <a href="/kept">kept</a>'.encode())
    leads_to = graph(web)
    kinds = {name: type(leads_to(HOME + name)) for name in ("", "hidden", "moved", "refresh", "kept")}
    assert kinds == {"": tuple, "hidden": PassageLinks, "moved": RedirectLinks, "refresh": PassageLinks, "kept": tuple}
    assert leads_to(f"{HOME}hidden") == leads_to(f"{HOME}refresh") == (f"{HOME}kept",)
    # Two fetched pages find the target on either path; the destination of the redirect is the target.
    assert least_pages(leads_to, [HOME], [f"{HOME}kept"]) == least_pages(leads_to, [HOME], [f"{HOME}moved"]) == [2]
    assert least_pages(leads_to, [f"{HOME}hidden"], [f"{HOME}kept", f"{HOME}hidden"]) == [1], (
        "what is hidden is never found"
    )
