"""The context graph of a hand-made archive."""

from __future__ import annotations

import pytest
from support.pages import DictArchive, a_context, a_link, a_text_page

from crawlproject.errors import BadSetting
from crawlproject.orderings.context_graph import ContextGraph, merged_context_graph

COURSE, FACULTY, HOME = "http://uni.example/course", "http://uni.example/faculty", "http://uni.example/"
LAW = "http://law.example/"


def archive() -> DictArchive:
    """The paper's example: a department's home page leads to its faculty, the faculty to a course on the topic.

    Each page has its own words and a few of the topic, so that the vocabulary of layer 0 can distinguish them.
    """
    return DictArchive(
        a_text_page(COURSE, "numerical analysis interpolation interpolation professor", relevance=1.0),
        a_text_page(FACULTY, "professor numerical teaching", "http://uni.example/old"),
        a_text_page(HOME, "department analysis", FACULTY, COURSE + "x"),
        a_text_page(LAW, "court", LAW + "2"),
        redirects={"http://uni.example/old": COURSE},
    )


CONTEXT = {"seeds": [COURSE], "archive": archive()}


def test_layers_are_found_backwards_through_redirects() -> None:
    found = archive()
    layers = merged_context_graph(a_context(**CONTEXT), found, [found.pages[COURSE]], layers=4, layer_pages=9)
    assert [[page.url for page in layer] for layer in layers] == [[COURSE], [FACULTY], [HOME]]
    short = merged_context_graph(a_context(**CONTEXT), found, [found.pages[COURSE]], layers=1, layer_pages=9)
    assert len(short) == 2


def test_each_page_of_layer_0_has_a_graph_of_its_own() -> None:
    """000 section 3.4: "the pages from the same layer (number) from each graph are combined into a single layer". The index
    links to a, and to b by way of c: it is in both layers.
    """
    a, b, c, index = (f"http://{name}.example/" for name in ("a", "b", "c", "index"))
    found = DictArchive(
        a_text_page(a, "word"), a_text_page(b, "word"), a_text_page(c, "word", b), a_text_page(index, "word", a, c)
    )
    layers = merged_context_graph(a_context(), found, [found.pages[a], found.pages[b]], layers=4, layer_pages=9)
    assert [[page.url for page in layer] for layer in layers[1:]] == [[c, index], [index]]


def test_large_layers_are_drawn_from() -> None:
    pages = [a_text_page(f"http://p.example/{number}", "word", COURSE) for number in range(30)]
    found = DictArchive(archive().pages[COURSE], *pages)
    drawn = []
    for seed in (1, 1, 2):
        context = a_context(seed=seed)
        _, layer = merged_context_graph(context, found, [found.pages[COURSE]], layers=1, layer_pages=5)
        drawn.append([page.url for page in layer])
    assert len(drawn[0]) == 5 and drawn[0] == drawn[1] != drawn[2]


def test_nearer_layers_come_first_and_others_last() -> None:
    """Three layers make four bands of 0.25: a page of layer l scores between (3 - l) / 4 and (4 - l) / 4."""
    ordering = ContextGraph(a_context(**CONTEXT), confidence=0.4)
    found = archive().pages
    scores = {url: ordering.score(found[url], a_link()) for url in (COURSE, FACULTY, HOME, LAW)}
    assert 0.75 < scores[COURSE] <= 1.0
    assert 0.5 < scores[FACULTY] <= 0.75
    assert 0.25 < scores[HOME] <= 0.5
    assert scores[LAW] == pytest.approx((1 / 3) / 4)  # no word of the vocabulary: as likely in each of the three layers


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5])
def test_a_page_without_a_known_term_is_other_whatever_the_number_of_layers(layers: int) -> None:
    """000 section 3.4: its law-school page looks like no layer. As it did not: with up to four layers the priors, 1/4 and more,
    passed the confidence of 0.25, and the first of equal layers, the best, was taken: 0.85 with four.
    """
    chain = [f"http://uni.example/{number}" for number in range(layers)]
    pages = [a_text_page(url, f"step{n} numerical", ([COURSE, *chain])[n]) for n, url in enumerate(chain)]
    found = DictArchive(archive().pages[COURSE], *pages, a_text_page(LAW, "court", LAW + "2"))
    for confidence in (0.0, 0.25):
        ordering = ContextGraph(a_context(seeds=[COURSE], archive=found), layers=layers, confidence=confidence)
        scores = {url: ordering.score(found.pages[url], a_link()) for url in found.pages}
        assert scores[LAW] == pytest.approx(1 / (layers + 1) / (layers + 2)), "the last band"
        assert scores[COURSE] > scores[LAW]


def test_an_archive_is_needed_with_pages_that_link_to_the_topic() -> None:
    with pytest.raises(BadSetting, match=r"ordering context_graph: .*ORDERING_ARCHIVE"):
        ContextGraph(a_context(seeds=[COURSE]))
    with pytest.raises(BadSetting, match="finds no page in the archive that links to"):
        ContextGraph(a_context(seeds=[COURSE], archive=DictArchive(archive().pages[COURSE])))
    with pytest.raises(BadSetting, match="finds no page in the archive that links to"):
        ContextGraph(a_context(seeds=["http://elsewhere.example/"], archive=DictArchive()))
