"""Markdown files of a crawl: one file per page, complete or absent."""

from __future__ import annotations

import json
from hashlib import md5
from pathlib import Path

import pytest
import yaml
from support.invoking import invoke
from support.items import a_crawl, add, an_item

from crawlproject.commands.export import ExportCommand
from crawlproject.errors import BadCrawlDir, BadInput, StorageFailed
from crawlproject.exporting.files import export_file
from crawlproject.exporting.markdown import export_markdown
from crawlproject.exporting.selection import Selection
from crawlproject.storage.page_files import PageRepository
from crawlproject.urls.hosts import page_name

PAGE = b"<body><nav>Menu</nav><main><h1>Reefs</h1><p>" + b"Corals grow slowly. " * 10 + b"</p></main></body>"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    folder = a_crawl(
        tmp_path / "crawl",
        an_item(0, "x", title='A "title": \u2028#1\n---', relevance=0.5, score=None, published="2024-03-09"),
        an_item(1, "y", relevance=0.25, content_type="text/plain"),
        an_item(2, "z", relevance=0.1),
        an_item(3, "x", relevance=0.5, duplicate_of="http://a.example/0"),
    )
    pages = PageRepository(folder / "pages")
    for number, body in enumerate((PAGE, b"just text", PAGE, PAGE)):
        pages.store(f"http://a.example/{number}", body)
    return folder


def files_of(folder: Path) -> dict[str, str]:
    found = {}
    for path in folder.rglob("*.md"):
        text = path.read_text()
        fields = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
        assert json.loads(fields["md5"]) == path.stem and path.parent.name == path.stem[:2]
        found[json.loads(fields["url"]).rpartition("/")[2]] = text
    return found


def test_each_page_is_a_file_with_front_matter(crawl: Path, tmp_path: Path) -> None:
    assert export_markdown(crawl, tmp_path / "out", Selection()) == f"3 pages in {tmp_path / 'out'}"
    found = files_of(tmp_path / "out")
    assert found.keys() == {"0", "1", "2"}
    head, _, text = found["0"].removeprefix("---\n").partition("---\n\n")
    assert head.splitlines() == [
        'url: "http://a.example/0"',
        'title: "A \\"title\\": \\u2028#1\\n---"',
        "date: 2024-03-09",
        "fetched: 1970-01-01T00:16:40Z",
        f'md5: "{page_name("http://a.example/0")}"',
        "relevance: 0.5000",
    ]
    assert text == "# Reefs\n\n" + ("Corals grow slowly. " * 10).strip() + "\n"
    assert found["1"].endswith("```\njust text\n```\n")


def test_the_front_matter_is_yaml_whatever_a_title_has(tmp_path: Path) -> None:
    title = 'Family \U0001f468\u200d\U0001f469 \u2028\ufeff\xa0"\\ reefs'
    folder = a_crawl(tmp_path / "crawl", an_item(0, "x", title=title))
    PageRepository(folder / "pages").store("http://a.example/0", PAGE)
    export_markdown(folder, tmp_path / "out", Selection())
    head = files_of(tmp_path / "out")["0"].split("---\n")[1]
    assert yaml.safe_load(head)["title"] == title


def test_the_text_does_not_steer_a_terminal(crawl: Path, tmp_path: Path) -> None:
    PageRepository(crawl / "pages").store("http://a.example/1", b"just \x1b]0;renamed\x07 text")
    export_markdown(crawl, tmp_path / "out", Selection())
    text = files_of(tmp_path / "out")["1"]
    assert "renamed" in text and not set(text) & {"\x1b", "\x07"}


def test_selection_and_missing_files(crawl: Path, tmp_path: Path) -> None:
    PageRepository(crawl / "pages").path("http://a.example/1").unlink()
    told = export_markdown(crawl, tmp_path / "out", Selection(0.2, with_duplicates=True))
    assert told == f"2 pages in {tmp_path / 'out'}; of 1 page the page file is missing or damaged"
    assert files_of(tmp_path / "out").keys() == {"0", "3"}


def test_a_page_file_with_other_bytes_than_were_stored_is_left_out_and_counted(tmp_path: Path) -> None:
    body = b"<p>Corals grow"
    folder = a_crawl(tmp_path / "crawl", *(an_item(n, "x", digest=md5(body).hexdigest()) for n in range(3)))
    for number, stored in enumerate((body, b"<p>Corals_grow", body)):
        PageRepository(folder / "pages").store(f"http://a.example/{number}", stored)
    told = export_markdown(folder, tmp_path / "out", Selection())
    assert told == f"2 pages in {tmp_path / 'out'}; of 1 page the page file is missing or damaged"


def test_a_series_is_without_pages_that_the_crawl_has_taken_back(tmp_path: Path) -> None:
    urls = [f"http://a.example/story?page={number}" for number in (1, 2, 3)]
    items = [an_item(0, "x", url=url, md5=page_name(url)) for url in urls]
    folder = a_crawl(tmp_path / "crawl", *items)
    for number, url in enumerate(urls):
        PageRepository(folder / "pages").store(url, PAGE.replace(b"Reefs", f"Part {number}".encode()))
    links = [{"source": urls[n], "target": urls[n + 1], "anchor": "Next page"} for n in (0, 1)]
    (folder / "links.jsonl").write_text("".join(f"{json.dumps(link)}\n" for link in links))

    def parts(target: str) -> list[list[int]]:
        export_markdown(folder, tmp_path / target, Selection(join_series=True))
        texts = files_of(tmp_path / target).values()
        return [[number for number in range(3) if f"Part {number}" in text] for text in texts]

    assert parts("whole") == [[0, 1, 2]]
    add(folder, {**items[1], "state": "gone"})
    assert parts("two") == [[0, 2]]
    add(folder, {**items[0], "state": "gone"})
    assert parts("last") == [[2]], "it stays an item of its own"


def test_a_folder_with_something_in_it_is_not_touched(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(BadInput, match="empty folder"):
        export_markdown(crawl, tmp_path / "out", Selection())
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_folders_of_the_crawl_and_the_one_at_hand_are_refused(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match="is for the crawl"):
        export_markdown(crawl, crawl / "workers", Selection())
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(BadInput, match="empty folder"):
        export_markdown(crawl, Path(), Selection())


@pytest.mark.parametrize("name", ["{place}/notes", "../../notes", "..", 7])
def test_a_folder_from_elsewhere_names_no_files_elsewhere(crawl: Path, tmp_path: Path, name: object) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("mine")
    lines = (crawl / "items.jsonl").read_text().split("\n")
    md5 = name.format(place=tmp_path) if isinstance(name, str) else name
    (crawl / "items.jsonl").write_text(json.dumps({**json.loads(lines[0]), "md5": md5}) + "\n")
    with pytest.raises(BadCrawlDir, match=r"items\.jsonl, line 1: expected the fields of an item"):
        export_markdown(crawl, tmp_path / "out", Selection())
    assert notes.read_text() == "mine"


def test_nothing_is_left_when_the_disk_refuses(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(StorageFailed, match="No space left"):
        export_markdown(crawl, tmp_path / "out", Selection())
    assert [path.name for path in tmp_path.iterdir()] == ["crawl"]


def test_the_command(crawl: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(ExportCommand(), crawl, tmp_path / "out", "--to", "markdown") == 0
    assert capsys.readouterr().out == f"3 pages in {tmp_path / 'out'}\n"


@pytest.mark.parametrize("line", ["[]", "3", '{"source": "http://a.example/0"}', '{"target": "x", "anchor": ""}'])
def test_a_damaged_line_of_the_links_is_named(crawl: Path, tmp_path: Path, line: str) -> None:
    (crawl / "links.jsonl").write_text(line + "\n")
    with pytest.raises(BadCrawlDir, match=r"links\.jsonl: expected objects with source, target and anchor"):
        export_markdown(crawl, tmp_path / "out", Selection(join_series=True))
    with pytest.raises(BadCrawlDir, match=r"links\.jsonl: expected objects with source, target and anchor"):
        export_file(crawl, tmp_path / "out.jsonl", "jsonl", Selection(join_series=True), now=0.0)
