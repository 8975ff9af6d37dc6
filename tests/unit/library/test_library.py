"""``from crawlproject import ...``: the interface for programs and notebooks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from support.crawling import ROOT
from support.items import a_crawl, an_item

from crawlproject import Topic, open_crawl, ordering, rehearse
from crawlproject.errors import BadCrawlDir, BadInput, BadSetting
from crawlproject.library.crawling import crawl
from crawlproject.library.stored_crawl import stored_settings
from crawlproject.library.stored_pages import StoredPage
from crawlproject.orderings import registry
from crawlproject.orderings.baselines import BreadthFirst
from crawlproject.storage.page_files import item_schema
from crawlproject.storage.read import read_info

REEFS = Topic("reefs", ("coral reef",), ("http://www.lagoon-notes.example/",))


@pytest.fixture(autouse=True)
def own_orderings() -> Iterator[None]:
    before = dict(registry.ORDERINGS)
    yield
    registry.ORDERINGS.clear()
    registry.ORDERINGS.update(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    items = [
        an_item(0, "coral reef", relevance=0.5, parts={"context": 0.25}),
        an_item(1, "railways"),
        an_item(2, "coral reef", relevance=0.5, duplicate_of="http://a.example/0"),
        an_item(1, "coral nursery", relevance=0.25, version=2),
    ]
    return a_crawl(tmp_path / "crawl", *items)


def test_the_package_is_cheap_and_its_names_are_there() -> None:
    code = """
import sys
import crawlproject
heavy = {"scrapy", "twisted", "numpy", "lxml"} & {*sys.modules}
from crawlproject import Topic, crawl, open_crawl, ordering, rehearse
import crawlproject.core.crawl
from crawlproject import crawl as again
print(heavy or "cheap", callable(crawl) and crawl is again, "scrapy.crawler" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["cheap", "True", "False"]
    with pytest.raises(ImportError):
        from crawlproject import crawll  # type: ignore[attr-defined]  # noqa: F401


def test_pages_are_records_in_their_last_version(folder: Path) -> None:
    pages = open_crawl(folder).pages()
    assert [(page.url, page.text, page.version) for page in pages] == [
        ("http://a.example/0", "coral reef", 1),
        ("http://a.example/1", "coral nursery", 2),
    ]
    assert len([*pages]) == 2, "iterated again"
    assert [page.relevance for page in open_crawl(folder).pages(min_relevance=0.4, duplicates=True)] == [0.5, 0.5]
    assert [field.name for field in fields(StoredPage)] == [
        name for name in item_schema()["properties"] if name != "state"
    ]


def test_tables_have_the_pages(folder: Path) -> None:
    pages = open_crawl(folder).pages()
    urls = [page.url for page in pages]
    names = ["fetched_at" if field.name == "at" else field.name for field in fields(StoredPage)]
    table, pandas, polars = pages.to_arrow(), pages.to_pandas(), pages.to_polars()
    assert table.column("url").to_pylist() == list(pandas["url"]) == polars["url"].to_list() == urls
    assert table.column_names == list(pandas.columns) == polars.columns == names
    assert table.column("fetched_at")[0].as_py().timestamp() == 1000.0
    parts = polars["parts"][0]
    parts = parts if isinstance(parts, dict) else {each["key"]: each["value"] for each in parts}  # before polars 2.0
    assert dict(table.column("parts")[0].as_py()) == parts == {"context": 0.25}
    none = open_crawl(folder).pages(min_relevance=0.9)
    assert (none.to_arrow().num_rows, len(none.to_pandas()), len(none.to_polars())) == (0, 0, 0)
    assert none.to_polars().columns == names
    polars.write_parquet(folder / "pages.parquet")
    assert polars.vstack(none.to_polars()).height == len(urls)


def test_search_indexes_what_is_new(folder: Path) -> None:
    crawl = open_crawl(folder)
    assert [hit.url for hit in crawl.search("nursery").hits] == ["http://a.example/1"]
    with (folder / "items.jsonl").open("a") as file:
        file.write(json.dumps(an_item(3, "nursery of sponges"), separators=(",", ":")) + "\n")
    assert crawl.search("nursery").total == 2


def test_no_crawl_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadCrawlDir, match="expected a crawl folder"):
        open_crawl(tmp_path / "nothing")


def test_wrong_input_is_told_before_anything_starts(tmp_path: Path) -> None:
    for arguments, place in (
        ({"topic": "nothing"}, "topic 'nothing'"),
        ({"topic": REEFS, "ordering": "nothing"}, "ordering: there is no 'nothing'; expected one of"),
        ({"topic": REEFS, "CRAWL_MAX_PAGE": 3}, "did you mean CRAWL_MAX_PAGES"),
        ({"topic": REEFS, "orderin": "dom"}, "argument orderin"),
        ({"topic": Topic("x", "coral", "http://a.example/")}, "Topic 'x': seeds: must be a list"),  # type: ignore[arg-type]
        ({"topic": Topic("x", ("coral",), ("reef",))}, r"Topic 'x': seeds\[0\]: 'reef' is not a URL"),
        ({"topic": Topic("a/b", ("coral",), ("http://a.example/",))}, "Topic 'a/b': name"),
    ):
        with pytest.raises(BadInput, match=place):
            crawl(folder=tmp_path / "crawl", **arguments)
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"pages": 0}, "pages 0: expected a whole number of at least 1"),
        ({"pages": 2.5}, "pages 2.5: "),
        ({"pages": float("nan")}, "pages nan: "),
        ({"concurrency": -1}, "concurrency -1: "),
        ({"topics": []}, "topics: expected at least one"),
        ({"out": "notes"}, "notes: expected a folder for the runs, but this is a file"),
    ],
)
def test_a_rehearsal_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, object], place: str
) -> None:
    """Without a page budget, it would crawl the whole web."""
    monkeypatch.setattr(
        "crawlproject.library.rehearsing.rehearse_here", lambda plan, warn: pytest.fail(f"{plan} began")
    )
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("kept")
    with pytest.raises(BadInput, match=place):
        rehearse("sample", **{"topics": REEFS, "orderings": "dom", **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [float("nan"), -0.1, 1.5])
def test_a_relevance_that_no_page_can_have_is_refused(folder: Path, wrong: float) -> None:
    with pytest.raises(BadInput, match=f"min_relevance {wrong}: expected a number from 0 to 1"):
        open_crawl(folder).pages(min_relevance=wrong)


def test_chunks_and_hits_of_impossible_numbers_are_refused(folder: Path) -> None:
    crawl = open_crawl(folder)
    for words, overlap in ((0, 0), (10, 10), (10, -1), (float("nan"), 0)):
        with pytest.raises(BadInput, match=f"words {words} and overlap {overlap}: expected"):
            crawl.pages().chunks(words=words, overlap=overlap)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="limit -1: expected 0 or more"):
        crawl.search("reef", -1)


def test_what_the_crawl_refuses_is_raised(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("kept")
    with pytest.raises(BadInput, match="expected a crawl folder, but this is a file"):
        crawl(REEFS, tmp_path / "notes", progress=False, VIRTUAL_WEB="sample")


def test_an_ordering_is_registered_once_it_is_valid() -> None:
    @ordering("mine")
    class Mine(BreadthFirst):
        pass

    assert registry.ordering_class("mine") is Mine and registry.registered("mine") is Mine
    assert registry.registered("dom") is None
    for name in ("dom", "My Own", ""):
        with pytest.raises(BadSetting, match="expected a word"):
            ordering(name)(Mine)
    with pytest.raises(BadSetting, match="expected a subclass"):
        ordering("thing")(dict)  # type: ignore[type-var]


def test_packages_bring_orderings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab_orderings.py").write_text(
        "from crawlproject.orderings.baselines import BreadthFirst\n"
        "class Lab(BreadthFirst):\n    def __init__(self, context, *, knob=1.0):\n        super().__init__(context)\n"
    )
    information = tmp_path / "lab-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[topical.orderings]\nlab = lab_orderings:Lab\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (run,) = rehearse("sample", REEFS, "lab", pages=3, ORDERING_KNOB=2.0)
    assert (run.ordering, run.pages) == ("lab", 3)
    del registry.ORDERINGS["lab"]
    (information / "entry_points.txt").write_text("[topical.orderings]\nlab = lab_orderings:Lost\n")
    with pytest.raises(BadSetting, match="lab_orderings:Lost cannot be imported"):
        registry.ordering_class("lab")


def test_rehearsals_measure(tmp_path: Path) -> None:
    runs = rehearse("sample", "demo", ["breadth_first", "dom"], pages=30, out=tmp_path / "runs")
    assert [(run.topic, run.ordering, run.pages) for run in runs] == [
        ("demo", "breadth_first", 30),
        ("demo", "dom", 30),
    ]
    assert runs[1].harvest > runs[0].harvest and runs[1].recall is not None
    assert runs[0].folder.is_relative_to(tmp_path / "runs") and len([*runs[0].visits()]) == runs[0].fetches
    assert repr(runs).count("\n") == 2
    folder = rehearse("sample", REEFS, "dom", pages=2)[0].folder
    assert not folder.exists(), "a temporary folder goes with its rehearsals"


def test_a_folder_brings_its_judge_but_no_code(folder: Path) -> None:
    info = read_info(folder)
    kept = [
        stored_settings(replace(info, settings={**info.settings, "TOPIC_RELEVANCE": judge})).get("TOPIC_RELEVANCE")
        for judge in ("examples", "this:Judge")
    ]
    assert kept == ["examples", None]


def test_a_folder_names_no_program_and_no_place(folder: Path) -> None:
    info = read_info(folder)
    strange = {"CRAWL_BROWSER": "/x.sh", "CRAWL_SITE_TEMPLATES": {"a.example": "this.x"}, "CRAWL_MIRROR": "s3://b/c"}
    kept = stored_settings(replace(info, settings={**info.settings, **strange, "TRAP_MAX_DEPTH": 9}))
    assert kept["TRAP_MAX_DEPTH"] == 9 and not strange.keys() & kept.keys()


def test_recall_is_that_of_a_comparison(tmp_path: Path) -> None:
    host = tmp_path / "web" / "a.example"
    (host / "corals").mkdir(parents=True)
    (host / "index.html").write_text('<a href="/corals">coral reef</a>')
    (host / "corals" / "index.html").write_text("coral reef")
    moved = Topic("moved", ("coral reef",), ("http://a.example/",), targets=("http://a.example/corals",))
    whole, cut = (rehearse(tmp_path / "web", moved, "breadth_first", pages=pages)[0] for pages in (2, 1))
    assert (whole.recall, cut.recall) == (1.0, 0.0), "a target is where it redirects to, once that is stored"
