"""Hubs among fetched pages."""

from __future__ import annotations

from crawlproject.orderings.focused import Distiller
from crawlproject.urls.hosts import host_of


def add(distiller: Distiller, url: str, relevance: float, *targets: str) -> None:
    distiller.add(url, targets, host=host_of(url), relevance=relevance)


def test_the_distiller_finds_the_page_that_links_to_relevant_pages_of_other_hosts() -> None:
    distiller = Distiller()
    distiller.add(
        "http://hub.example/",
        ["http://a.example/", "http://b.example/", "http://new.example/"],
        host="hub.example",
        relevance=0.5,
    )
    distiller.add(
        "http://half.example/", ["http://a.example/", "http://half.example/in"], host="half.example", relevance=0.5
    )
    add(distiller, "http://half.example/in", 1.0, "http://half.example/")
    add(distiller, "http://a.example/", 1.0)
    distiller.merge("http://b.example/", "http://b.example/home")
    add(distiller, "http://b.example/home", 1.0)
    (first, targets), (second, _) = distiller.best_hubs(5)
    assert first == 1.0 and second < 1.0
    assert "http://new.example/" in targets
    assert [score for score, _ in distiller.best_hubs(1)] == [1.0]
