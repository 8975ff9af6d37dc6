"""What of a crawl folder is at its mirror after each round, and what is sent again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawlproject.errors import BadInput, StorageFailed
from crawlproject.parts.mirror import mirror as module
from crawlproject.parts.mirror.mirror import STATE, Mirror
from crawlproject.storage.remote import Remote
from crawlproject.urls.hosts import page_name, page_path

MANIFEST = {"started": 1.5, "topic": {"name": "reefs"}}


class Crawl:
    """A folder that grows by pages, as a crawl writes them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.copy = folder / "crawl", folder / "copy"
        self.folder.mkdir()
        (self.folder / "crawl.json").write_text(json.dumps(MANIFEST))

    def store(self, url: str, body: str = "body", version: int = 1, stored: bool = True) -> None:
        name = page_name(url) if stored else ""
        if stored:
            path = self.folder / "pages" / page_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if version > 1:
                path.rename(path.with_name(f"{name}.{version - 1}"))
            path.write_text(body)
        self.log("items.jsonl", {"url": url})
        self.log("history.jsonl", {"url": url, "md5": name, "version": version})

    def log(self, name: str, line: dict[str, object]) -> None:
        with (self.folder / name).open("a") as file:
            file.write(json.dumps(line) + "\n")

    def mirror(self) -> Mirror:
        return Mirror(self.folder, Remote(f"file://{self.copy}"))

    def lines(self, log: str) -> str:
        """What a log is at the mirror, its parts joined."""
        return "".join(path.read_text() for path in sorted((self.copy / log).glob("*.jsonl")))

    def names(self) -> set[str]:
        return {path.relative_to(self.copy).as_posix() for path in self.copy.rglob("*") if path.is_file()}


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)


def test_rounds_send_what_has_come_since(crawl: Crawl) -> None:
    mirror = crawl.mirror()
    crawl.store("http://a.example/")
    crawl.store("http://a.example/404", stored=False)
    mirror.update()
    page = f"pages/{page_path(page_name('http://a.example/'))}"
    assert crawl.names() == {"crawl.json", "history/000001.jsonl", "items/000001.jsonl", page}
    assert mirror.files == 4
    mirror.update()
    assert mirror.files == 4, "nothing is new"
    crawl.store("http://b.example/")
    mirror.update()
    assert mirror.files == 7, "a page, and two parts that have grown"
    assert crawl.lines("history") == (crawl.folder / "history.jsonl").read_text()
    assert crawl.mirror()._state == mirror._state, "and a further run knows it"


def test_a_line_that_is_being_written_waits(crawl: Crawl) -> None:
    crawl.store("http://a.example/")
    with (crawl.folder / "history.jsonl").open("a") as file:
        file.write('{"url": "http://b.ex')
    crawl.mirror().update()
    assert crawl.lines("history").count("\n") == 1 and crawl.lines("history").endswith("\n")


def test_parts_that_are_full_are_not_sent_again(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl.store("http://a.example/")
    line = len((crawl.folder / "items.jsonl").read_bytes())  # 29
    monkeypatch.setattr(module, "FULL", 2 * line)
    monkeypatch.setattr(module, "_READ", 3 * line)
    mirror = crawl.mirror()
    for letter in "bcdefgh":
        crawl.store(f"http://{letter}.example/")
    mirror.update()
    parts = sorted((crawl.copy / "items").iterdir())
    assert [path.read_text().count("\n") for path in parts] == [3, 3, 2]
    parts[0].write_text("as it was\n")
    crawl.store("http://i.example/")
    mirror.update()
    parts = sorted((crawl.copy / "items").iterdir())
    assert [path.read_text().count("\n") for path in parts] == [1, 3, 2, 1]
    crawl.log("items.jsonl", {"url": "x" * 5 * line})
    mirror.update()
    assert len(sorted((crawl.copy / "items").iterdir())) >= 4
    assert "x" * 5 * line in crawl.lines("items"), "a line that is longer than what is read at once"


def test_a_log_whose_end_was_cut_off_is_made_right(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FULL", 1)
    monkeypatch.setattr(module, "_READ", 1)
    for letter in "abcd":
        crawl.store(f"http://{letter}.example/")
    crawl.mirror().update()
    assert len([*(crawl.copy / "items").iterdir()]) == 4
    for name in ("items.jsonl", "history.jsonl"):
        path = crawl.folder / name
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    crawl.store("http://z.example/")
    crawl.mirror().update()
    for name in ("items", "history"):
        assert crawl.lines(name) == (crawl.folder / f"{name}.jsonl").read_text()
    assert f"pages/{page_path(page_name('http://z.example/'))}" in crawl.names()


def test_versions_archives_and_the_end(crawl: Crawl) -> None:
    mirror = crawl.mirror()
    crawl.store("http://a.example/", "one")
    mirror.update()
    crawl.store("http://a.example/", "two", version=2)
    (crawl.folder / "warc").mkdir()
    for number in range(2):
        (crawl.folder / "warc" / f"reefs-0000{number}.warc.gz").write_text(str(number))
    for name in ("report.html", "finished.json", "websub.jsonl", "lock", "dashboard.json"):
        (crawl.folder / name).write_text(name)
    mirror.update()
    path = crawl.copy / "pages" / page_path(page_name("http://a.example/"))
    assert path.read_text() == "two" and path.with_name(f"{path.name}.1").read_text() == "one"
    assert {name for name in crawl.names() if name.startswith("warc")} == {"warc/reefs-00000.warc.gz"}
    mirror.update(over=True)
    assert {"warc/reefs-00001.warc.gz", "report.html", "finished.json"} <= crawl.names()
    assert not {"websub.jsonl", "lock", "dashboard.json", STATE} & crawl.names()
    (crawl.folder / "finished.json").unlink()
    mirror.update()
    assert "finished.json" not in crawl.names(), "the crawl goes on"


def test_pages_go_before_the_lines_that_name_them(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl.store("http://a.example/")
    mirror = crawl.mirror()
    put = Remote.put

    def fails(self: Remote, key: str, data: bytes) -> None:
        if key.startswith("pages/"):
            raise StorageFailed("away")
        put(self, key, data)

    with monkeypatch.context() as patch, pytest.raises(StorageFailed):
        patch.setattr(Remote, "put", fails)
        mirror.update()
    assert crawl.names() == set()
    mirror.update()
    assert len(crawl.names()) == 4


def test_the_place_of_another_crawl_is_not_taken(crawl: Crawl) -> None:
    crawl.mirror().claim(MANIFEST)
    crawl.mirror().claim(MANIFEST)
    with pytest.raises(BadInput, match="holds another crawl"):
        crawl.mirror().claim({**MANIFEST, "started": 2.5})


@pytest.mark.parametrize("state", ["", "[]", '{"address": "s3://elsewhere", "logs": {}}', '{"logs": {"x": [1]}}'])
def test_a_state_that_is_damaged_or_of_another_address_begins_anew(crawl: Crawl, state: str) -> None:
    (crawl.folder / STATE).write_text(state)
    crawl.store("http://a.example/")
    mirror = crawl.mirror()
    mirror.update()
    assert mirror.files == 4
