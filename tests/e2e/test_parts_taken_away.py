"""Each part removed in turn: without it a crawl runs to its end, and can read a folder that was written with it."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import warm
from support.crawling import PATIENCE, QUICK, ROOT, command, environment, history, stored

from crawlproject.configuration import own_fields
from crawlproject.frontier.views.open import read_frontier
from crawlproject.frontier.views.view import best_waiting
from crawlproject.parts.registry import NEEDS, OURS, settings_models
from crawlproject.records import PAGE
from crawlproject.storage.read import read_refused

TOPIC = "demo"
PAGES = 60
MORE = 15  # further pages when a crawl continues that was written with all parts
WITH = {  # settings that make the parts write files
    "CRAWL_FEEDS": 2,
    "CRAWL_SITEMAPS": 2,
    "CRAWL_SOFT_404_PROBE": 2,
    "CRAWL_SERIES": 5,
    "CRAWL_FORMS": 3,
    "CRAWL_REVISIT": "uniform",
    "CRAWL_REVISIT_ROUND": 80,
    "CRAWL_REVISIT_MIN": 1,
}
FILES = {  # files that only this part of a crawl writes
    "duplicates": ("rules.jsonl", "sketches.jsonl"),
    "judgments": ("judgments.jsonl",),
    "listings": ("sitemaps.jsonl",),
    "probes": ("probes.jsonl",),
    "revisits": ("changes.jsonl", "collection.sqlite"),
    "topics": ("topics.jsonl",),
    "websub": ("websub.jsonl",),
}


class Tree:
    """The project at ``root``, made of links, without the folder of one part."""

    def __init__(self, root: Path, without: str = "") -> None:
        self.root, self.without = root, without
        parts = root / "crawlproject" / "parts"
        parts.mkdir(parents=True)
        for child in ("scrapy.cfg", "spiders", "middlewares", "pipelines", "topics"):
            (root / child).symlink_to(ROOT / child)
        for source, target in (
            (ROOT / "crawlproject", root / "crawlproject"),
            (ROOT / "crawlproject" / "parts", parts),
        ):
            for child in source.iterdir():
                if child.name not in ("parts", without):
                    (target / child.name).symlink_to(child)

    def run(self, *arguments: object, code: int = 0, **settings: object) -> str:
        """Run a command, check its exit ``code``, and return its output."""
        done = warm.run(command(*arguments, **settings)[3:], self.root, self._environment(), PATIENCE, self.root)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def _environment(self) -> dict[str, str]:
        return environment() | {"PYTHONPATH": str(self.root)}

    def crawl(self, folder: Path, **settings: object) -> None:
        self.run("crawl", "topical", "-a", f"topic={TOPIC}", **_settings(folder, **settings))

    def kill_in_the_middle(self, folder: Path) -> None:
        """Start a crawl, and kill it when its history has 20 lines."""
        settings = _settings(folder, DOWNLOAD_DELAY=0.1, CONCURRENT_REQUESTS=2)
        arguments = command("crawl", "topical", "-a", f"topic={TOPIC}", **settings)[3:]
        path = folder / "history.jsonl"
        with warm.Started(arguments, self.root, self._environment(), self.root) as process:
            while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 20):
                time.sleep(0.01)
            process.kill()
        assert process.returncode == -signal.SIGKILL, process.said()

    def explain(self, folder: Path) -> None:
        """Run the report, and ``why`` for a page, a waiting URL and a refused URL."""
        page = next(line["url"] for line in history(folder) if line["md5"])
        frontier = read_frontier(folder / "frontier")
        assert frontier is not None
        fetched = {line["url"] for line in history(folder)}
        waits = (record.url for record in best_waiting(frontier, 1_000) if record.kind == PAGE)  # no requests of parts
        waiting = next(url for url in waits if url not in fetched)
        left_out = (url for url in refused_urls(folder) if url not in fetched and frontier.find(url)[1] is None)
        refused = next(left_out, "http://nowhere.example/")
        said = self.run("report", folder)
        for url in (page, waiting, refused):
            said += self.run("why", folder, url)
        assert str(folder / "report.html") in said
        assert "Fetched: number" in said
        assert "Waits with score" in said
        assert "Refused (" in said or "Never seen" in said


def refused_urls(folder: Path) -> Iterator[str]:
    """The sampled URLs of the refusals."""
    for refused in read_refused(folder):
        yield from (url for url, _ in refused.samples if url.startswith("http"))


def _settings(folder: Path, **settings: object) -> dict[str, object]:
    own = {"CRAWL_DIR": folder, "VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": PAGES}
    return {**QUICK, **own, **settings}


@pytest.fixture(scope="session")
def written_with_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl folder that every part has written to."""
    place = tmp_path_factory.mktemp("all")
    Tree(place / "tree").crawl(place / "crawl", **WITH)
    return place / "crawl"


@pytest.fixture(scope="module", params=OURS)
def tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """The project without one of its parts."""
    found = Tree(tmp_path_factory.mktemp("without") / "tree", request.param)
    yield found
    warm.end(found.root)


def test_a_crawl_is_killed_and_resumed_without_the_part(tmp_path: Path, tree: Tree) -> None:
    folder = tmp_path / "crawl"
    tree.kill_in_the_middle(folder)
    before = history(folder)
    assert len(before) >= 20 and len(stored(folder)) < PAGES
    tree.crawl(folder)
    assert history(folder)[: len(before)] == before
    assert len(stored(folder)) >= PAGES
    assert len(history(folder)) == len({(line["url"], line.get("number", 1)) for line in history(folder)})
    assert not [name for name in FILES.get(tree.without, ()) if (folder / name).exists()]


def test_a_folder_that_was_written_with_the_part_is_crawled_on_without_it(
    tmp_path: Path, written_with_all: Path, tree: Tree
) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(written_with_all, folder)
    gone = {tree.without, *(other for other, needed in NEEDS.items() if tree.without in needed)}
    files = {name: _bytes(folder / name) for other in gone for name in FILES.get(other, ())}
    before = history(folder)
    pages = len(stored(folder))
    tree.crawl(folder, CRAWL_MAX_PAGES=pages + MORE)
    assert history(folder)[: len(before)] == before
    assert len(stored(folder)) >= pages + MORE
    tree.explain(folder)
    assert {name: _bytes(folder / name) for name in files} == files


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


COMMANDS = {
    "duplicates": [("rules", "crawl")],
    "revisits": [("revisit", "crawl"), ("rehearse", "crawl", "--revisit", "uniform")],
    "listings": [("revisit", "crawl")],
    "spam": [("spam", TOPIC, "labels")],
}
SETTINGS = {model.__module__.split(".")[-2]: next(iter(own_fields(model))).upper() for model in settings_models()}
del SETTINGS["workers"]  # other packages have settings with REDIS_, too


def test_its_commands_and_settings_are_told_to_be_missing(tree: Tree) -> None:
    for arguments in COMMANDS.get(tree.without, ()):
        assert "is not installed" in tree.run(*arguments, code=2)
    if name := SETTINGS.get(tree.without):
        said = tree.run("crawl", "topical", "-a", f"topic={TOPIC}", code=2, **{name: 1})
        assert f"there is no setting {name}" in said


def test_these_tests_know_the_parts() -> None:
    assert set(COMMANDS) | set(SETTINGS) <= set(OURS)
