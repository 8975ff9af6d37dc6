"""A crawl over sockets that is archived while it runs: the content of the archive, also after kills, and its uses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from support.crawling import QUICK, crawl, history, kill_after_growth, scrapy, start, stored, topic_file
from support.redisserver import empty_database, shared_server
from support.warcs import cdxj, check, records, same_index
from support.wireweb import HTML, Answer, linked, serving

from crawlproject.storage.warc.index import cdxj_line, read_entries, sorted_lines
from crawlproject.webs.open import open_web

HOSTS, PAGES = 10, 6
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "CRAWL_MAX_PAGES": 40}  # in an order that no clock decides


def a_web() -> Mapping[str, Answer]:
    """Pages of ten hosts in all encodings, some of them copies, with redirects, failures and robots.txt files."""
    random = Random(8)
    urls = [f"http://h{h}.example/{p or ''}" for h in range(HOSTS) for p in range(PAGES)]
    web = {}
    for number, url in enumerate(urls):
        links = [*random.sample(urls, 4), "/moved", "/gone", "/picture"]
        words = " ".join(random.choices(["coral", "reef", "polyp", "steam", "train"], k=4))
        # One page is the same on all hosts: the same bytes, with different compression or none.
        name, text, links = (
            ("copy", "coral", ["http://h1.example/"]) if number % PAGES == 5 else (str(number), words, links)
        )
        encoding = ("", "gzip", "deflate")[number % 3]
        web[url] = Answer(linked(name, *links, text=text), encoding=encoding, chunked=number % 4 == 0)
    for h in range(HOSTS):
        origin = f"http://h{h}.example"
        web[f"{origin}/moved"] = Answer(b"", 302, {"Location": f"/{h % PAGES}"})
        web[f"{origin}/picture"] = Answer(b"\x89PNG", headers={"Content-Type": "image/png"})
        web[f"{origin}/robots.txt"] = Answer(b"User-agent: *\nDisallow: /4\n", headers={"Content-Type": "text/plain"})
    return web


def archives(folder: Path) -> list[Path]:
    return sorted((folder / "warc").glob("*.warc.gz"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Mapping[str, Answer]]:
    """Topic, crawl folder, web."""
    folder = tmp_path_factory.mktemp("warc")
    web = a_web()
    topic = topic_file(folder, "http://h0.example/", "http://h1.example/")
    with serving(web) as port:
        done = crawl(topic, folder / "crawl", port=port, CRAWL_WARC=1, CRAWL_WARC_MAX_BYTES=20_000, **ONE_BY_ONE)
    assert done.returncode == 0, done.stderr
    return topic, folder / "crawl", web


def test_every_page_is_in_the_archive_as_it_came(crawled: tuple[Path, Path, Mapping[str, Answer]]) -> None:
    _, folder, web = crawled
    assert len(archives(folder)) > 1
    check(*archives(folder))
    found = {}
    for path in archives(folder):
        for kind, url, record, payload in records(path):
            if kind == "response":
                found[url] = payload
                assert record.http_headers.get_header("X-Odd") == "a, b"
                answer = web.get(url, Answer(status=404))
                assert record.http_headers.get_statuscode() == str(answer.status)
                assert (record.http_headers.get_header("Content-Encoding") or "") == answer.encoding
            elif kind == "request":
                assert record.http_headers.get_header("User-Agent").startswith("topical-crawler")
            elif kind == "revisit":
                found[url] = None
    assert stored(folder) <= set(found)
    for url in stored(folder):
        assert found[url] in (web[url].body, None)
    assert found["http://h0.example/robots.txt"] == web["http://h0.example/robots.txt"].body
    assert {line["url"] for line in history(folder)} <= set(found)
    assert None in found.values(), "copies are revisits"


def test_the_index_of_others_is_ours(crawled: tuple[Path, Path, Mapping[str, Answer]]) -> None:
    _, folder, _ = crawled
    for path in archives(folder):
        entries = [entry for entry in read_entries(folder / "warc") if entry.file == path.name]
        ours = [line.decode().rstrip("\n") for line in sorted_lines(map(cdxj_line, entries))]
        same_index(ours, cdxj(path))


def export(folder: Path, to: str, target: Path) -> Path:
    done = scrapy("export", folder, "--to", to, target)
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.parametrize("live", [True, False], ids=["archived", "reconstructed"])
def test_crawled_again_from_its_archive_a_crawl_is_the_same(
    tmp_path: Path, crawled: tuple[Path, Path, Mapping[str, Answer]], live: bool
) -> None:
    topic, folder, web = crawled
    if not live:  # the same crawl without an archive
        with serving(web) as port:
            assert crawl(topic, tmp_path / "plain", port=port, **ONE_BY_ONE).returncode == 0
        folder = tmp_path / "plain"
        assert not (folder / "warc").exists()
    warc = export(folder, "warc", tmp_path / "crawl.warc.gz")
    check(warc)
    opened = open_web(warc, cache_dir=tmp_path / "cache")
    assert list(opened.warnings) == []
    for url in stored(folder):
        reply = opened.get(url)
        assert (reply.status, reply.body, reply.headers["content-type"]) == (200, web[url].body, HTML)
    again = crawl(topic, tmp_path / "again", VIRTUAL_WEB=warc, **ONE_BY_ONE)
    assert again.returncode == 0, again.stderr
    same = ("url", "status", "relevance", "score", "depth", "parent", "md5", "digest", "redirect", "error", "title")
    one, other = history(folder), history(tmp_path / "again")
    assert [[line[key] for key in same] for line in one] == [[line[key] for key in same] for line in other]


def test_rehearsed_from_its_archive_a_crawl_of_a_part_of_the_web_finds_the_same_pages(tmp_path: Path) -> None:
    web, budget = a_web(), 15
    topic = topic_file(tmp_path, "http://h0.example/", "http://h1.example/")
    settings = {**QUICK, "ordering": "dom", "CONCURRENT_REQUESTS": 1}
    with serving(web) as port:
        done = crawl(topic, tmp_path / "crawl", port=port, CRAWL_WARC=1, CRAWL_MAX_PAGES=budget, **settings)
    assert done.returncode == 0, done.stderr
    warc = export(tmp_path / "crawl", "warc", tmp_path / "crawl.warc.gz")
    arguments = ("rehearse", warc, topic, "--ordering", "dom", "--pages", budget, "--out", tmp_path / "runs")
    done = scrapy(*arguments, **QUICK, CONCURRENT_REQUESTS=1)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "runs" / "topic" / "dom"
    pages = [line["url"] for line in history(run) if line["md5"]]
    assert pages == [line["url"] for line in history(tmp_path / "crawl") if line["md5"]]
    assert len(pages) == budget


@pytest.mark.slow
def test_killed_and_resumed_no_page_is_missing(tmp_path: Path) -> None:
    random = Random(9)
    web = a_web()
    topic = topic_file(tmp_path, "http://h0.example/", "http://h1.example/")
    folder = tmp_path / "crawl"
    settings = {**QUICK, "CRAWL_DIR": folder, "CRAWL_WARC": 1, "CRAWL_WARC_MAX_BYTES": 9_000, "CONCURRENT_REQUESTS": 8}
    with serving(web) as port:
        for _ in range(4):
            kill_after_growth(folder, random.randrange(1, 12), settings, port, topic)
        done = crawl(topic, folder, port=port, ordering="adaptive", **settings)
    assert done.returncode == 0, done.stderr
    check(*archives(folder))
    found = {url for path in archives(folder) for kind, url, _, _ in records(path) if kind in ("response", "revisit")}
    assert stored(folder) <= found and len(stored(folder)) > 30
    warc = export(folder, "warc", tmp_path / "crawl.warc.gz")
    opened = open_web(warc, cache_dir=tmp_path / "cache")
    assert all(opened.get(url).body == web[url].body for url in stored(folder))
    assert crawl(topic, tmp_path / "again", VIRTUAL_WEB=warc).returncode == 0
    assert stored(tmp_path / "again") == stored(folder)


def test_asked_for_in_the_middle_of_a_crawl(tmp_path: Path) -> None:
    web = a_web()
    topic = topic_file(tmp_path, "http://h0.example/", "http://h1.example/")
    folder = tmp_path / "crawl"
    with serving(web) as port:
        assert crawl(topic, folder, port=port, CRAWL_MAX_PAGES=10, CONCURRENT_REQUESTS=1).returncode == 0
        assert not (folder / "warc").exists()
        assert crawl(topic, folder, port=port, CRAWL_MAX_PAGES=20, CONCURRENT_REQUESTS=1, CRAWL_WARC=1).returncode == 0
    check(*archives(folder))
    kinds = [kind for path in archives(folder) for kind, url, _, _ in records(path) if url in stored(folder)]
    assert kinds.count("response") + kinds.count("revisit") == 20
    assert kinds.count("request") == 10, "of the first ten nobody knows what was asked"


@pytest.mark.slow
def test_two_workers_are_handed_over_as_one_crawl(tmp_path: Path) -> None:
    database = empty_database()
    where = f"{shared_server().url.rpartition('/')[0]}/{database.get_connection_kwargs()['db']}"
    folder, web = tmp_path / "crawl", a_web()
    topic = topic_file(tmp_path, "http://h0.example/", "http://h1.example/")
    settings = {**QUICK, "CRAWL_DIR": folder, "CRAWL_WARC": 1, "FRONTIER": "redis", "REDIS_URL": where}
    with serving(web) as port:
        workers = [
            start("crawl", "topical", "-a", f"topic={topic}", port=port, **settings, CRAWL_WORKER=name)
            for name in ("one", "two")
        ]
        assert [worker.wait(timeout=900) for worker in workers] == [0, 0]
    warc = export(folder, "warc", tmp_path / "crawl.warc.gz")
    check(warc, *folder.glob("workers/*/warc/*.warc.gz"))
    assert len(list(folder.glob("workers/*"))) == 2
    opened = open_web(warc, cache_dir=tmp_path / "cache")
    assert all(opened.get(url).body == web[url].body for url in stored(folder)) and len(stored(folder)) > 30
    assert scrapy("index", folder).stdout.startswith(f"{len(stored(folder)) - copies(folder)} pages added")
    export(folder, "wacz", tmp_path / "crawl.wacz")


def copies(folder: Path) -> int:
    return sum(bool(line["duplicate_of"]) for line in history(folder) if line["md5"])
