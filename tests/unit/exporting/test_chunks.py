"""Chunks and Markdown of a crawl in rows: their content, and the programs that read them."""

from __future__ import annotations

import json
from hashlib import md5
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from scrapy.exceptions import UsageError
from support.invoking import invoke
from support.items import a_crawl, an_item
from support.markdown import doc, fences

from crawlproject import open_crawl
from crawlproject.commands.export import ExportCommand
from crawlproject.errors import BadInput
from crawlproject.exporting.chunks import CHUNK_FIELDS, export_chunks
from crawlproject.exporting.files import export_file
from crawlproject.exporting.markdown import export_markdown
from crawlproject.exporting.selection import Selection
from crawlproject.storage.page_files import PageRepository

REEFS = "<h1>Reefs</h1><p>Corals grow slowly.</p><h2>Fish</h2><p>Parrot fish eat corals. They sleep at night.</p>"
RELEVANT = Selection(0.2)
PAGE = f"<body><nav>Menu</nav><main>{REEFS}<p>{'Sea water is warm. ' * 4}</p></main></body>".encode()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = a_crawl(
        tmp_path / "crawl",
        an_item(0, "x", title="Reefs", relevance=0.5, published="2024-03-09"),
        an_item(1, "y", relevance=0.25, content_type="text/plain", text_main="kept"),
        an_item(2, "z", relevance=0.1),
        an_item(3, "x", relevance=0.5, duplicate_of="http://a.example/0"),
    )
    pages = PageRepository(folder / "pages")
    for number, body in enumerate((PAGE, b"just text", PAGE, PAGE)):
        pages.store(f"http://a.example/{number}", body)
    return folder


def rows_of(crawl: Path, selection: Selection = RELEVANT, **sizes: int) -> list[dict[str, Any]]:
    target = crawl.parent / "out.jsonl"
    export_chunks(crawl, target, selection, **sizes)
    return [json.loads(line) for line in target.read_text().splitlines()]


def test_a_row_says_where_its_text_stands(crawl: Path, tmp_path: Path) -> None:
    export_markdown(crawl, tmp_path / "md", Selection())
    first, second, third, _, plain = rows_of(crawl, words=12)
    page = md5(b"http://a.example/0").hexdigest()
    _, _, text = (tmp_path / "md" / page[:2] / f"{page}.md").read_text().partition("---\n\n")
    for row in first, second, third:
        assert row["text"] == text[row["start"] : row["end"]]
        assert row["digest"] == md5(row["text"].encode()).hexdigest()
    assert list(first) == list(CHUNK_FIELDS)
    assert [row["headings"] for row in (first, second, third)] == [["Reefs"], ["Reefs", "Fish"], ["Reefs", "Fish"]]
    assert first["text"] == "# Reefs\n\nCorals grow slowly."
    assert (first["url"], first["title"], first["published"]) == ("http://a.example/0", "Reefs", "2024-03-09")
    assert (first["relevance"], first["language"], first["words"], first["index"]) == (0.5, "en", 5, 1)
    assert [(row["previous"], row["id"], row["next"]) for row in (first, second, third)] == [
        (None, f"{page}-1", f"{page}-2"),
        (f"{page}-1", f"{page}-2", f"{page}-3"),
        (f"{page}-2", f"{page}-3", f"{page}-4"),
    ]
    assert plain["text"] == "```\njust text\n```" and plain["previous"] is plain["next"] is None


def test_parquet_has_the_same_rows(crawl: Path, tmp_path: Path) -> None:
    said = export_chunks(crawl, tmp_path / "out.parquet", Selection(0.2), words=12, overlap=5)
    table = parquet.read_table(tmp_path / "out.parquet")
    rows = rows_of(crawl, words=12, overlap=5)
    assert said == f"{len(rows)} chunks in {tmp_path / 'out.parquet'}"
    read = [{("at" if name == "fetched_at" else name): row[name] for name in row} for row in table.to_pylist()]
    assert [{**row, "at": row["at"].timestamp()} for row in read] == rows
    assert max(row["overlap"] for row in rows) == 4  # a sentence


def test_pages_are_selected_as_for_other_formats(crawl: Path, tmp_path: Path) -> None:
    PageRepository(crawl / "pages").path("http://a.example/1").unlink()
    assert {row["url"][-1] for row in rows_of(crawl, Selection())} == {"0", "2"}
    assert {row["url"][-1] for row in rows_of(crawl, Selection(0.2, with_duplicates=True))} == {"0", "3"}
    said = export_chunks(crawl, tmp_path / "out.jsonl", Selection())
    assert said == f"2 chunks in {tmp_path / 'out.jsonl'}; of 1 page the page file is missing or damaged"


def test_the_name_of_the_file_says_which_format(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\.jsonl or \.parquet"):
        export_chunks(crawl, tmp_path / "out.csv", Selection())
    with pytest.raises(BadInput, match=r"items\.jsonl"):
        export_chunks(crawl, crawl / "items.jsonl", Selection())


def test_the_command(crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.jsonl"
    assert invoke(ExportCommand(), crawl, target, "--to", "chunks", "--words", "12", "--min-relevance", "0.2") == 0
    assert capsys.readouterr().out == f"5 chunks in {target}\n"
    for wrong in (["--overlap", "300"], ["--words", "0"]):
        with pytest.raises(UsageError, match="--words"):
            invoke(ExportCommand(), crawl, target, "--to", "chunks", *wrong)
    assert invoke(ExportCommand(), crawl, target, "--to", "chunks", "--fields", "url") == 2


def test_fields_are_chosen_and_made_from_the_page_files(crawl: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    export_file(crawl, target, "jsonl", Selection(0.2), now=0.0, fields=["url", "markdown", "text_main"])
    first, second = map(json.loads, target.read_text().splitlines())
    assert list(first) == ["url", "markdown", "text_main"]
    assert first["markdown"].startswith("# Reefs\n\nCorals grow slowly.\n\n## Fish\n\n")
    assert first["text_main"].startswith("Reefs\nCorals grow slowly.\nFish\n")
    assert second == {"url": "http://a.example/1", "markdown": "```\njust text\n```", "text_main": "kept"}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_fields_of_tables(crawl: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / f"out.{kind}"
    export_file(crawl, target, kind, Selection(0.2), now=0.0, fields=["markdown", "at"])
    if kind == "csv":
        assert target.read_text().splitlines()[0] == "markdown,fetched_at"
    else:
        assert parquet.read_table(target).column_names == ["markdown", "fetched_at"]


def test_a_field_that_there_is_not_is_named(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no field 'txt'"):
        export_file(crawl, tmp_path / "out.csv", "csv", Selection(), now=0.0, fields=["url", "txt"])
    with pytest.raises(BadInput, match="not for graphml"):
        export_file(crawl, tmp_path / "out.graphml", "graphml", Selection(), now=0.0, fields=["url"])
    assert [path.name for path in tmp_path.iterdir()] == ["crawl"]


@pytest.mark.parametrize(
    ("kind", "option", "of"),
    [
        ("csv", ("--words", "5"), "chunks"),
        ("opensearch", ("--overlap", "5"), "chunks"),
        ("chunks", ("--retries", "2"), "opensearch"),
        ("parquet", ("--batch-bytes", "9"), "opensearch"),
        ("warc", ("--restart",), "opensearch"),
    ],
)
def test_options_of_another_format_are_refused(
    kind: str, option: tuple[str, ...], of: str, crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(ExportCommand(), crawl, tmp_path / "out", "--to", kind, *option) == 2
    assert f"{option[0]}: is for {of}, not for {kind}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["crawl"]


def test_the_language_is_that_of_the_words_where_the_page_says_none(tmp_path: Path) -> None:
    german = (
        "Die Korallen wachsen nur langsam und sind auf das Licht der Sonne in dem warmen Wasser an der Küste angewiesen. "
        * 2
    )
    code = (
        "import netCDF4 numpy xarray pandas dask zarr fsspec kerchunk intake cartopy metpy siphon pint uxarray xesmf "
        * 2
    )
    items = [an_item(0, german, language=""), an_item(1, german, language="fr"), an_item(2, code, language="")]
    folder = a_crawl(tmp_path / "crawl", *items)
    for number in range(3):
        PageRepository(folder / "pages").store(f"http://a.example/{number}", PAGE)
    assert [row["language"] for row in rows_of(folder, Selection())] == ["de", "fr", ""]


def test_the_library_has_chunks(crawl: Path) -> None:
    assert list(open_crawl(crawl).pages(min_relevance=0.2).chunks(words=12)) == rows_of(crawl, words=12)


def test_loaders_of_the_manual_work(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_core")
    pytest.importorskip("llama_index.core")
    rows = rows_of(crawl, words=12)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.jsonl").rename(tmp_path / "chunks.jsonl")
    langchain, llama_index = [block for block in fences(doc("hand-over.md"), "python") if "chunks.jsonl" in block]
    found: dict[str, Any] = {}
    exec(langchain, found)
    assert [(each.id, each.page_content, each.metadata["url"]) for each in found["documents"]] == [
        (row["id"], row["text"], row["url"]) for row in rows
    ]
    exec(llama_index, found)
    assert [(node.node_id, node.get_content(), node.metadata["title"]) for node in found["nodes"]] == [
        (row["id"], row["text"], row["title"]) for row in rows
    ]
    assert found["nodes"][0].next_node.node_id == rows[1]["id"] and found["nodes"][0].prev_node is None
