"""The crawlers of the link graph experiment (paper 002 Figure 1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.similarity_ordering import TextWeb, read
from benchmarks.virtual_crawler import Backlinks, Drawn, HotQueue, Nothing, Web, crawl

STAR = [(0, node) for node in range(1, 101)]


def web(edges: list[tuple[int, int]]) -> Web:
    sources, targets = np.array(edges, np.int32).T
    return Web(sources, targets, 0)


def test_the_random_crawler_draws_old_and_new_nodes_alike() -> None:
    """Each of 100 nodes links to one other node: after 50 pages, all nodes in the queue are equally likely to be next."""
    graph = web([*STAR, *((node, 100 + node) for node in range(1, 101))])
    far, expected = 0, 0.0
    trials = 400
    for seed in range(trials):
        order = crawl(graph, Drawn(np.random.default_rng(seed).exponential(size=len(graph)).tolist()))
        near = set(graph[0])
        fetched_near = sum(node in near for node in order[:51])
        fetched_far = 50 - fetched_near
        waiting_far = fetched_near - fetched_far
        expected += waiting_far / (100 - fetched_near + waiting_far)
        far += order[51] not in near
    assert far / trials == pytest.approx(expected / trials, abs=0.09)


def test_without_an_estimate_the_crawl_is_breadth_first() -> None:
    graph = web([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5)])
    assert crawl(graph, Nothing()) == [0, 1, 2, 3, 4, 5]


def test_the_hot_queue_of_figure_4_goes_first() -> None:
    """2 and 4 are found by hot links; 3 by a cold one, and it keeps its queue when a hot link leads to it, too."""
    graph = web([(0, 1), (0, 2), (0, 3), (2, 4), (4, 3)])
    assert crawl(graph, HotQueue(Nothing(), {(0, 2), (2, 4), (4, 3)})) == [0, 2, 4, 1, 3]


def test_figure_5_stays_near_hot_pages() -> None:
    """Page 2 is hot: 4 is one link away from it, 6 two, 8 three."""
    graph = web([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (6, 8), (5, 7)])
    numbers = {int(node): number for number, node in enumerate(graph.nodes)}
    order = [int(graph.nodes[node]) for node in crawl(graph, HotQueue(Nothing(), (), {numbers[2]}))]
    assert order == [0, 1, 2, 4, 6, 3, 8, 5, 7]


def test_both_queues_are_ordered() -> None:
    """By backlinks: among the cold pages, 3 has two links when it is chosen, and 2 has one; 4 is hot and precedes both."""
    graph = web([(0, 1), (0, 2), (0, 3), (1, 3), (1, 4)])
    assert crawl(graph, HotQueue(Backlinks(len(graph)), {(1, 4)})) == [0, 1, 4, 3, 2]


def test_an_archived_web_as_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pages = {
        "a.example/index.html": '<a href="/one">my computer</a> <a href="http://b.example/">b</a>',
        "a.example/one": "<title>A computer</title><p>x",
        "b.example/index.html": "<p>" + "a computer. " * 10 + '<a href="http://a.example/">a</a>',
    }
    for name, body in pages.items():
        path = tmp_path / "web" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html><body>{body}" if "title" not in body else body)
    text = read(str(tmp_path / "web"), "computer")
    assert isinstance(text, TextWeb)
    by_name = {text.urls[number] for number in text.hot_pages}
    assert by_name == {"http://a.example/one", "http://b.example/"}
    assert [(text.urls[a], text.urls[b]) for a, b in text.hot_links] == [("http://a.example/", "http://a.example/one")]
    whole, hot, links = text.part("http://a.example/")
    assert len(whole) == 3 and len(hot) == 2 and len(links) == 1
    site, hot, _ = text.part("http://a.example/", "a.example")
    assert len(site) == 2 and len(hot) == 1
    with pytest.raises(SystemExit, match="expected a page with links"):
        text.part("http://a.example/one")
