"""The contract of every ordering, whatever it computes."""

from __future__ import annotations

import inspect
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import DictArchive, a_context, a_link, a_page, a_text_page

from crawlproject.errors import BadSetting
from crawlproject.orderings.base import BaseOrdering
from crawlproject.orderings.registry import ORDERINGS, make_ordering, parameters_of
from crawlproject.records import CrawlUrl, Page

CHAIN = {f"http://h{i}.example/": [f"http://h{i + 1}.example/"] for i in range(5)}


ARCHIVE = DictArchive(
    a_text_page("http://h0.example/", "coral reef", "http://h1.example/", relevance=1),
    a_text_page("http://h5.example/", "divers at the reef", "http://h0.example/", relevance=0.5),
    a_text_page("http://h6.example/", "steam engine", "http://h5.example/"),
    a_text_page("http://h7.example/", "boiler of an engine"),
)


def build(name: str, parameters: dict[str, object] | None = None) -> BaseOrdering:
    context = a_context(
        seeds=["http://h0.example/"],
        targets=["http://h4.example/"],
        graph=CHAIN.get,
        archive=ARCHIVE if name in ORDERINGS and ORDERINGS[name].needs_archive else None,
    )
    return make_ordering(name, context, parameters or {})


FEW = settings(max_examples=25)  # seven properties for each of two dozen orderings
unit = st.floats(0, 1, allow_nan=False)
hosts = st.integers(0, 8).map("http://h{}.example/".format)
links = st.lists(st.builds(lambda url, score: a_link(url, context_score=score), hosts, unit), max_size=8)
pages = st.builds(
    lambda url, found, relevance: a_page(url, links=found, relevance=relevance), hosts, links, unit
)  # fmt: skip


@pytest.mark.parametrize("name", ORDERINGS)
class TestEveryOrdering:
    @FEW
    @given(pages)
    def test_scores_are_finite_numbers_or_none(self, name: str, page: Page) -> None:
        ordering = build(name)
        ordering.observe(page)
        for link in page.links:
            score = ordering.score(page, link)
            assert score is None or math.isfinite(score)

    @FEW
    @given(pages)
    def test_same_evidence_same_score(self, name: str, page: Page) -> None:
        scores = []
        for _ in range(2):
            ordering = build(name)
            ordering.observe(page)
            scores.append([ordering.score(page, link) for link in page.links])
        assert scores[0] == scores[1]

    @FEW
    @given(pages)
    def test_what_is_handed_down_is_numbers_and_comes_back(self, name: str, page: Page) -> None:
        ordering = build(name)
        ordering.observe(page)
        inherited_by_links = ordering.inherited_for_links(page)
        assert all(math.isfinite(value) for value in inherited_by_links)
        child = a_page("http://h9.example/", links=page.links, inherited=inherited_by_links)
        ordering.observe(child)
        for link in child.links:
            ordering.score(child, link)

    @FEW
    @given(pages)
    def test_the_parts_of_a_score_sum_to_it(self, name: str, page: Page) -> None:
        ordering = build(name)
        ordering.observe(page)
        for link in page.links:
            score = ordering.score(page, link)
            if score is not None:
                url = CrawlUrl(link.url, score, 1, page.url, context_score=link.context_score)
                parts = ordering.explain(url)
                assert not parts or math.isclose(sum(parts.values()), score, rel_tol=1e-6, abs_tol=1e-9)

    @FEW
    @given(pages)
    def test_redirects_and_failures_are_no_problem(self, name: str, page: Page) -> None:
        ordering = build(name)
        ordering.observe(page)
        for link in page.links:
            ordering.score(page, link)
        ordering.redirected("http://h1.example/", "http://h2.example/")
        ordering.failed("http://h3.example/")
        ordering.failed("http://nobody-knows.example/")
        ordering.observe(a_page("http://h2.example/", links=page.links))
        assert all(math.isfinite(score) for _, score in ordering.revise())

    @FEW
    @given(pages)
    def test_what_is_refused_gets_no_new_score(self, name: str, page: Page) -> None:
        ordering = build(name)
        ordering.observe(page)
        for link in page.links:
            ordering.score(page, link)
            ordering.refused(link.url)
        ordering.refused("http://nobody-knows.example/")
        assert not {link.url for link in page.links}.intersection(dict(ordering.revise()))

    def test_an_archive_and_examples_do_no_harm(self, name: str) -> None:
        examples = [ARCHIVE.pages["http://h0.example/"]], [ARCHIVE.pages["http://h6.example/"]]
        context = a_context(
            seeds=["http://h0.example/"],
            targets=["http://h4.example/"],
            graph=CHAIN.get,
            archive=ARCHIVE,
            positive=examples[0],
            negative=examples[1],
        )
        ordering = make_ordering(name, context, {})
        page = ARCHIVE.pages["http://h5.example/"]
        ordering.observe(page)
        score = ordering.score(page, page.links[0])
        assert score is None or math.isfinite(score)

    def test_parameters_have_defaults_and_can_be_set_as_text(self, name: str) -> None:
        own = parameters_of(ORDERINGS[name])
        assert inspect.Parameter.empty not in own.values()
        ordering = build(name, {key: str(value) for key, value in own.items()})
        for key, value in own.items():
            assert getattr(ordering, "commit" if key == "n" else key) == value


def test_an_unknown_name_is_reported_with_the_names_there_are() -> None:
    with pytest.raises(BadSetting, match=r"ordering: there is no 'bestfirst'; did you mean best_first\?"):
        build("bestfirst")
    with pytest.raises(BadSetting, match=r"ordering: there is no 'xyz'; expected one of .*dom"):
        build("xyz")


def test_an_unknown_parameter_is_reported_with_the_nearest_one() -> None:
    with pytest.raises(BadSetting, match=r"ORDERING_ALHPA.*did you mean ORDERING_ALPHA"):
        build("dom", {"alhpa": 0.5})


def test_a_parameter_of_the_wrong_kind_is_reported() -> None:
    with pytest.raises(BadSetting, match="ORDERING_ALPHA: expected a value of type float, not 'much'"):
        build("dom", {"alpha": "much"})


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", float("inf")])
@pytest.mark.parametrize("name", ["explore", "strength", "rows"])
def test_a_number_that_is_not_finite_is_reported(name: str, value: object) -> None:
    with pytest.raises(BadSetting, match=f"ORDERING_{name.upper()}: expected a value of type"):
        build("adaptive", {name: value})


@pytest.mark.parametrize("name", [name for name, cls in ORDERINGS.items() if cls.needs_archive])
def test_an_ordering_that_needs_an_archive_says_so(name: str) -> None:
    with pytest.raises(BadSetting, match=f"ordering {name}: .*ORDERING_ARCHIVE"):
        make_ordering(name, a_context(), {})


def test_omniscience_is_refused_outside_a_rehearsal() -> None:
    with pytest.raises(BadSetting, match="rehearsal"):
        make_ordering("omniscient", a_context(), {})
