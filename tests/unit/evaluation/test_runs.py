"""Finding and reading runs."""

import json

import pytest

from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.evaluation.runs import find_runs, load_run


def test_runs_are_found_below_a_folder_and_not_inside_a_crawl(write_crawl, tmp_path):
    for topic in ("sun", "wind"):
        for ordering in ("dom", "random"):
            write_crawl(tmp_path / topic / ordering, topic={"name": topic}, ordering=ordering)
    write_crawl(tmp_path / "sun" / "dom" / "pages" / "deep", topic={"name": "hidden"})
    assert [(run.topic, run.ordering) for run in find_runs(tmp_path)] == [
        ("sun", "dom"),
        ("sun", "random"),
        ("wind", "dom"),
        ("wind", "random"),
    ]


def test_a_crawl_folder_is_a_run_itself(write_crawl, tmp_path):
    assert [run.path for run in find_runs(write_crawl(tmp_path / "c"))] == [tmp_path / "c"]


def test_names_missing_in_the_manifest_are_those_of_the_folders(write_crawl, tmp_path):
    write_crawl(tmp_path / "sun" / "dom", topic={}, ordering="")
    assert [(run.topic, run.ordering) for run in find_runs(tmp_path)] == [("sun", "dom")]


def test_variants_of_an_ordering_are_distinguished_by_their_parameters(write_crawl, tmp_path):
    for alpha in (0.25, 0.5):
        write_crawl(tmp_path / str(alpha), parameters={"alpha": alpha, "level": 1})
    assert [run.ordering for run in find_runs(tmp_path)] == ["dom alpha=0.25", "dom alpha=0.5"]


def test_runs_with_augmented_seeds_are_distinguished_whatever_their_number(write_crawl, tmp_path):
    for topic, seeds in (("sun", ["a", "b"]), ("wind", ["c"])):
        for more in ([], ["hub"] * len(seeds)):
            folder = tmp_path / topic / str(len(more))
            write_crawl(folder, topic={"name": topic, "seeds": [*seeds, *more]})
    assert {run.ordering for run in find_runs(tmp_path)} == {"dom seeds=given", "dom seeds=augmented"}


def test_the_same_run_twice_is_refused(write_crawl, tmp_path):
    write_crawl(tmp_path / "a")
    write_crawl(tmp_path / "b")
    with pytest.raises(BadInput, match="another"):
        find_runs(tmp_path)


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_nothing_to_compare_is_said_with_the_place(tmp_path, name):
    with pytest.raises(BadInput) as refused:
        find_runs(tmp_path / name)
    assert str(tmp_path / name) in refused.value.place


def test_a_run_has_each_page_once_in_the_order_of_the_first_fetch(write_crawl, page, tmp_path):
    visits = [
        page("http://a.example/", relevance=0.5),
        page("http://b.example/", md5="", status=404),
        page("http://c.example/", relevance=0.25),
        page("http://a.example/", relevance=0.75),
        page("http://d.example/", md5="", status=301, redirect="http://c.example/"),
    ]
    folder = write_crawl(tmp_path / "t" / "dom", visits, topic={"name": "t", "targets": ["http://c.example/"]})
    run = load_run(find_runs(folder)[0])
    assert run.urls == ("http://a.example/", "http://c.example/")
    assert list(run.relevance) == [0.5, 0.25]
    assert (run.pages, run.fetches) == (2, 5)
    assert run.redirects == {"http://d.example/": "http://c.example/"}
    assert run.targets == {"http://c.example/"}


def test_a_run_knows_all_targets_and_those_that_its_seeds_lead_to(write_crawl, tmp_path):
    targets = ["http://a.example/", "http://b.example/"]
    folder = write_crawl(tmp_path / "t" / "dom", topic={"name": "t", "targets": targets})
    reachable = tmp_path / "t" / "reachable.json"
    reachable.write_text(json.dumps({"targets": targets[:1]}))
    run = load_run(find_runs(folder)[0])
    assert (run.targets, run.reachable) == (set(targets), {"http://a.example/"})
    reachable.write_text('{"targets": 3}')
    with pytest.raises(BadCrawlDir, match="targets"):
        load_run(find_runs(folder)[0])
