"""The data of a crawl folder that the page shows."""

import asyncio
import errno
import json
import os
import stat
from pathlib import Path

import orjson
import pytest

from crawlproject.adapters.seed_search import SeedSearch
from crawlproject.configuration import read_options
from crawlproject.dashboard import address_file, crawls
from crawlproject.dashboard.address_file import AddressFile
from crawlproject.dashboard.crawl_json import FolderWatch
from crawlproject.dashboard.crawls import CrawlManager
from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.storage.logs import PageChange, PageChangeLog


def test_a_crawl_in_numbers(write_crawl, crawl_of_pages, tmp_path):
    refused = {"counts": {"trap/too_long": 3, "robots/forbidden": 5}, "samples": {}}
    folder = write_crawl(tmp_path / "wind", crawl_of_pages(120), refused, settings={"crawl_max_pages": 500})
    document = FolderWatch(folder).document()
    assert (document["pages"], document["budget"], document["reading"]) == (120, 500, False)
    assert document["refused"] == [("robots/forbidden", 5), ("trap/too_long", 3)] and document["refused_total"] == 8
    assert len(document["best"]) == 40 and document["best"][0]["relevance"] >= document["best"][1]["relevance"]
    assert document["politeness"]["gaps"] > 0
    assert orjson.loads(orjson.dumps(document))["curve"][-1][0] == 120


def test_a_long_history_is_read_a_little_at_a_time(write_crawl, crawl_of_pages, tmp_path):
    watched = FolderWatch(write_crawl(tmp_path, crawl_of_pages(100)))
    assert watched.document(most=40)["reading"]
    while (document := watched.document(most=40))["reading"]:
        pass
    assert document["pages"] == 100


def test_what_the_web_says_is_cut_and_cleaned(write_crawl, page, tmp_path):
    wild = page("http://a.example/" + "x" * 900, title="\x1b[31m\u202ered" + "x" * 9000, relevance=0.9)
    found = FolderWatch(write_crawl(tmp_path, [wild])).document()["best"][0]
    assert (
        not found["web"]
        and len(found["title"]) <= 200
        and "\x1b" not in found["title"]
        and "\u202e" not in found["title"]
    )


def test_changes_of_known_pages_are_listed_as_they_come_each_once(write_crawl, crawl_of_pages, tmp_path):
    folder = write_crawl(tmp_path, crawl_of_pages(3))
    watched, log = FolderWatch(folder), PageChangeLog(folder)
    assert watched.document()["changes"] == []
    url = "http://a.example/"
    log.append(PageChange(url, "changed", 10.0, 5.0, 2, 2, title="Reef", novelty=0.3, added=("a new atoll", "more")))
    log.append(PageChange(url, "changed", 11.0, 5.0, 2, 2, title="Reef", novelty=0.3, added=("a new atoll", "more")))
    [change] = watched.document()["changes"]
    assert (change["at"], change["added"], change["removed"], change["web"]) == (11.0, "a new atoll", "", True)
    for number in range(3, 50):
        log.append(PageChange(url, "gone", 10.0 + number, 9.0, number, 2, title="\x1b[31m" + "x" * 999))
    changes = watched.document()["changes"]
    assert [change["at"] for change in changes] == [10.0 + number for number in range(49, 19, -1)]
    assert len(changes[0]["title"]) <= 200 and "\x1b" not in changes[0]["title"]
    log.close()


def test_a_crawl_that_is_starting_is_read_with_its_settings_as_soon_as_it_has_any(write_crawl, page, tmp_path):
    watched = FolderWatch(tmp_path / "new")
    assert watched.document() == {"reading": False}
    write_crawl(tmp_path / "new", [page("http://a.example/", relevance=0.5)], settings={"page_relevant": 0.6})
    document = watched.document()
    assert (document["pages"], document["relevant"]) == (1, 0)


def test_a_crawl_without_a_page_says_why(write_crawl, page, tmp_path):
    failed = page("http://a.example/", md5="", status=0, error="CannotResolveHostError")
    refused = {"counts": {"robots/forbidden": 2}, "samples": {}}
    problem = FolderWatch(write_crawl(tmp_path, [failed], refused, reason="finished")).document()["problem"]
    assert problem == (
        "No page was stored: 1 × CannotResolveHostError (the name of the host has no address); "
        "2 × robots/forbidden (robots.txt forbids it)."
    )


def test_the_reason_of_the_end_is_in_words(write_crawl, page, tmp_path):
    document = FolderWatch(write_crawl(tmp_path, [page("http://a.example/")], reason="no network")).document()
    assert document["ending"] == "no host answered any more; the crawl can be resumed" and document["problem"] == ""


def test_words_of_agents_are_spelled_as_on_the_pages(write_crawl, page, tmp_path):
    folder = write_crawl(tmp_path, [page("http://a.example/")])
    text = "Restoration of reefs. restoration, Restored; a city and cities by the reef"
    (folder / "items.jsonl").write_bytes(orjson.dumps({"url": "http://a.example/", "text": text}) + b"\n")
    family = [{"keyword": keyword} for keyword in ("restor", "citi", "polyp", "")]
    FolderWatch(folder).spell(family)
    assert [life["keyword"] for life in family] == ["restoration", "city", "polyp", ""]


def test_a_damaged_folder_is_named(tmp_path):
    (tmp_path / "crawl.json").write_text("{")
    with pytest.raises(BadCrawlDir):
        FolderWatch(tmp_path).document()
    with pytest.raises(BadCrawlDir):  # it is read again, as it may have been repaired
        FolderWatch(tmp_path).document()


def manager(root):
    return CrawlManager(root, {}, SeedSearch(read_options({}), "test"))


class TestWorkshop:
    def test_it_lists_crawl_folders_and_nothing_else(self, write_crawl, page, tmp_path):
        write_crawl(tmp_path / "reefs", [page("http://a.example/")], reason="page budget")
        write_crawl(tmp_path / "bread" / "dom", reason="shutdown")
        (tmp_path / "notes").mkdir()
        (tmp_path / "topic.toml").write_text("")  # a topic, but no crawl
        found = {crawl["name"]: crawl["status"] for crawl in manager(tmp_path).crawls()}
        assert found == {"reefs": "ended", "bread/dom": "interrupted"}

    def test_a_crawl_that_stored_nothing_has_failed(self, write_crawl, page, tmp_path):
        write_crawl(tmp_path / "none", reason="finished", stats={"history/pages": 0})
        write_crawl(tmp_path / "some", [page("http://a.example/")], reason="finished", stats={"history/pages": 1})
        assert {crawl["name"]: crawl["status"] for crawl in manager(tmp_path).crawls()} == {
            "none": "failed",
            "some": "ended",
        }

    def test_a_crawl_that_starts_says_for_how_long(self, tmp_path, monkeypatch):
        folder = tmp_path / "reefs"
        folder.mkdir()
        for name in ("topic.toml", "console.log"):
            (folder / name).write_text("")
        os.utime(folder / "topic.toml", (1_000.0, 1_000.0))
        monkeypatch.setattr(crawls, "time", lambda: 1_007.4)
        monkeypatch.setattr(crawls, "_runs", lambda folder: True)
        state = asyncio.run(manager(tmp_path).state("reefs"))
        assert (state["status"], state["starting"]) == ("starting", 7)

    def test_a_folder_that_may_not_be_entered_hides_no_other(self, write_crawl, tmp_path, monkeypatch):
        write_crawl(tmp_path / "reefs")
        closed = write_crawl(tmp_path / "closed")
        stat_of = os.stat

        def refusing(path, *args, **options):  # a mode of 0 does not keep root out
            if isinstance(path, os.PathLike) and closed in Path(path).parents:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return stat_of(path, *args, **options)

        monkeypatch.setattr(os, "stat", refusing)
        assert [crawl["name"] for crawl in manager(tmp_path).crawls()] == ["reefs"]

    def test_a_folder_that_does_not_exist_has_no_crawls(self, tmp_path):
        assert manager(tmp_path / "none").crawls() == []

    @pytest.mark.parametrize("name", ["../secret", "/etc", "", "reefs/../../secret", "secret"])
    def test_no_name_leads_out_of_the_list(self, write_crawl, tmp_path, name):
        write_crawl(tmp_path / "secret")
        write_crawl(tmp_path / "crawls" / "reefs")
        with pytest.raises(BadInput):
            manager(tmp_path / "crawls").folder(name)

    def test_a_lock_of_a_dead_process_is_no_running_crawl(self, write_crawl, tmp_path):
        folder = write_crawl(tmp_path / "reefs")
        (folder / "lock").write_text("999999999\n")
        assert [crawl["status"] for crawl in manager(tmp_path).crawls()] == ["interrupted"]


class TestBeacon:
    def test_only_its_owner_may_read_it(self, tmp_path):
        lit = AddressFile("http://127.0.0.1:1234", "token", os.getpid())
        address_file.write(tmp_path, lit)
        assert address_file.find(tmp_path) == lit
        assert stat.S_IMODE((tmp_path / address_file.NAME).stat().st_mode) == 0o600
        address_file.remove(tmp_path)
        assert address_file.find(tmp_path) is None

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{}",
            '{"url": "file:///etc", "token": "", "process": 1}',
            '{"url": "http://x", "token": "", "process": 99999999}',
        ],
    )
    def test_a_stale_or_strange_one_is_none(self, tmp_path, text):
        (tmp_path / address_file.NAME).write_text(text)
        assert address_file.find(tmp_path) is None


def test_curve_points_are_plain_numbers(write_crawl, page, tmp_path):
    document = FolderWatch(write_crawl(tmp_path, [page("http://a.example/", relevance=0.5)])).document()
    assert json.dumps(document["curve"]) == "[[1, 1.0, 1.0]]"
