"""Which pages of a crawl are on its map."""

import json

import pytest

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.reports.map_data import read_map

A, B, C = "http://a.example/", "http://b.example/", "http://www.c.example/"


@pytest.fixture
def folder_of(write_crawl, page, tmp_path):
    """``folder_of({url: (relevance, parent)}, {source: [targets]})``"""

    def make(pages, links):
        visits = [
            page(url, relevance=relevance, parent=parent, depth=0 if parent is None else 1)
            for url, (relevance, parent) in pages.items()
        ]
        folder = write_crawl(tmp_path / "crawl", visits)
        lines = [
            json.dumps({"source": s, "target": t, "anchor": "", "context_score": 0.0}, separators=(",", ":")) + "\n"
            for s, targets in links.items()
            for t in targets
        ]
        (folder / "links.jsonl").write_text("".join(lines))
        return folder

    return make


def test_all_pages_of_a_small_crawl_with_the_links_among_them(folder_of):
    pages = {A: (0.1, None), A + "1": (0.5, A), B: (0.0, A), C: (0.9, B)}
    links = {A: [A + "1", B, "http://never.example/"], A + "1": [B, A], B: [C, A + "1"], C: [C]}
    found = read_map(folder_of(pages, links))
    assert [node.url for node in found.nodes] == [A, A + "1", B, C]
    assert [node.parent for node in found.nodes] == [-1, 0, 0, 2]
    assert [node.seed for node in found.nodes] == [True, False, False, False]
    assert found.edges == ((1, 2),)  # once, and without those from a parent
    assert found.sites == ("a.example", "b.example", "www.c.example")
    assert (found.pages, found.left_out) == (4, 0)


def test_the_most_relevant_pages_come_with_their_paths(folder_of):
    pages = {A: (0.0, None), B: (0.0, A), C: (0.9, B), **{f"{A}{n}": (0.5, A) for n in range(9)}}
    found = read_map(folder_of(pages, {}), limit=4)
    assert [node.url for node in found.nodes] == [A, B, C, A + "0"]
    assert found.pages == 12


def test_a_path_that_is_too_long_leaves_its_room_to_others(folder_of):
    pages = {A: (0.0, None), B: (0.3, None), f"{A}1": (0.0, A), f"{A}2": (0.0, f"{A}1"), f"{A}3": (0.9, f"{A}2")}
    found = read_map(folder_of(pages, {}), limit=3)
    assert B in [node.url for node in found.nodes] and len(found.nodes) <= 3


def test_around_a_site(folder_of):
    pages = {A: (0.0, None), B: (0.8, A), C: (0.9, A), C + "1": (0.1, C), "http://far.example/": (1.0, A)}
    found = read_map(folder_of(pages, {A: [B, C], B: [C + "1"], C: [C + "1", B]}), site="C.example")
    assert {node.url for node in found.nodes} == {A, B, C, C + "1"}  # the path, the site, and the pages that link to it
    with pytest.raises(BadInput, match=r"other\.example"):
        read_map(folder_of(pages, {}), site="other.example")


def test_links_within_sites_are_left_out_first(folder_of, monkeypatch):
    monkeypatch.setattr("crawlproject.reports.map_data.EDGES_PER_NODE", 0.25)
    pages = dict.fromkeys((A, A + "1", A + "2", B), (0.1, None))
    found = read_map(folder_of(pages, {A: [A + "1", A + "2"], A + "2": [B]}))
    assert [{found.nodes[a].url, found.nodes[b].url} for a, b in found.edges] == [{A + "2", B}]
    assert found.left_out == 2


def test_no_pages_no_links_and_damage(folder_of, tmp_path):
    assert read_map(folder_of({}, {})).nodes == ()
    folder = folder_of({A: (0.1, None)}, {})
    (folder / "links.jsonl").write_text('{"source":"http://a.example/"}\n')
    with pytest.raises(BadCrawlDir, match="line 1"):
        read_map(folder)
    (folder / "links.jsonl").write_text(f'{{"source":"{A}","target":"{A}')  # torn by a kill
    assert read_map(folder).edges == ()
    with pytest.raises(BadCrawlDir):
        read_map(tmp_path / "nothing")
