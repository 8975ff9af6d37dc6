"""Exports and a running crawl to a real S3 server: it is complete at the end, and no file contains the secret."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from support.crawling import QUICK, crawl, history, scrapy, start, stored
from support.s3server import BUCKET, SECRET, BreakingProxy, S3Server

from crawlproject.opening import crawl_folder
from crawlproject.urls.hosts import page_path

FIELDS = "url,title,text,language,relevance,license"  # `datasets` has no type for maps, as of `parts`
TOPIC = Path("topics/demo.toml").resolve()
MIRROR = f"s3://{BUCKET}/reefs"


def test_a_mirrored_crawl_is_killed_resumed_and_resumed_elsewhere(s3: S3Server, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    own = {"VIRTUAL_WEB": "sample", "CRAWL_MIRROR": MIRROR, "CRAWL_WARC": 1, "LOG_FILE": tmp_path / "log"}
    slow = {**QUICK, "CRAWL_DIR": folder, "DOWNLOAD_DELAY": 0.2, "CONCURRENT_REQUESTS": 4, **own}
    with start("crawl", "topical", "-a", f"topic={TOPIC}", **slow) as process:
        while process.poll() is None and "segments/000001.json" not in s3.keys(f"{BUCKET}/reefs"):
            time.sleep(0.2)
        process.kill()
    copy = tmp_path / "copy"
    assert scrapy("pull", MIRROR, copy).returncode == 0
    assert history(copy) == history(folder)[: len(history(copy))] and stored(copy)
    done = crawl(TOPIC, copy, ordering="adaptive", CRAWL_MAX_PAGES=60, VIRTUAL_WEB="sample")
    assert done.returncode == 0, done.stderr
    assert len(stored(copy)) >= 60 and len({line["url"] for line in history(copy)}) == len(history(copy))

    done = crawl(TOPIC, folder, ordering="adaptive", CRAWL_MAX_PAGES=90, **own)
    assert done.returncode == 0, done.stderr
    whole = tmp_path / "whole"
    assert scrapy("pull", MIRROR, whole).returncode == 0
    pages = [f"pages/{page_path(line['md5'])}" for line in history(folder) if line["md5"]]  # other pages were in flight
    archives = [f"warc/{path.name}" for path in (folder / "warc").iterdir()]
    for name in (*pages, *archives, "history.jsonl", "items.jsonl", "links.jsonl", "robots.jsonl"):
        assert (whole / name).read_bytes() == (folder / name).read_bytes(), name
    assert {"finished.json", "report.html"} <= s3.keys(f"{BUCKET}/reefs")
    for path in [tmp_path / "log", *folder.rglob("*"), *whole.rglob("*")]:
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in (gzip.decompress(data) if path.suffix == ".gz" else data), path


def test_a_crawl_whose_store_goes_away_ends_and_is_pushed_later(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    with BreakingProxy(int(s3.url.rpartition(":")[2])).running() as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        proxy.breaks = lambda data: b"/pages/" in data
        done = crawl(TOPIC, folder, VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=30, CRAWL_MIRROR=MIRROR)
    assert done.returncode == 0 and len(stored(folder)) >= 30
    assert f"not all of the crawl is at {MIRROR}" in done.stderr and "Traceback" not in done.stderr
    assert not [key for key in s3.keys(f"{BUCKET}/reefs") if key.startswith("segments/")]
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    done = scrapy("push", folder, MIRROR)
    assert done.returncode == 0, done.stderr
    assert stored(crawl_folder(MIRROR)) == stored(folder)


def test_what_is_wrong_is_told_before_the_crawl(s3: S3Server, tmp_path: Path) -> None:
    for address, said in (("s3://nobodys/x", "no such bucket"), ("crawls/x", "expected an address")):
        done = crawl(TOPIC, tmp_path / "crawl", VIRTUAL_WEB="sample", CRAWL_MIRROR=address)
        assert done.returncode == 2 and said in done.stderr and "CRAWL_MIRROR" in done.stderr
        assert not (tmp_path / "crawl").exists()
    topic = tmp_path / "topic.toml"
    topic.write_text(TOPIC.read_text().replace("[crawl]\n", f'[crawl]\nCRAWL_MIRROR = "{MIRROR}"\n'))
    done = crawl(topic, tmp_path / "crawl", VIRTUAL_WEB="sample")
    assert done.returncode == 2 and "a topic file must not set it" in done.stderr
    s3.refuse()
    done = crawl(TOPIC, tmp_path / "crawl", VIRTUAL_WEB="sample", CRAWL_MIRROR=MIRROR)
    assert done.returncode == 2 and "the server refuses" in done.stderr and SECRET not in done.stderr


def test_exports_and_feeds(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "crawl"
    feed = ("crawl", "topical", "-a", f"topic={TOPIC}", "-O", f"s3://{BUCKET}/feed.jsonl")
    settings = {**QUICK, "CRAWL_DIR": folder, "VIRTUAL_WEB": "sample", "CRAWL_MAX_PAGES": 30}
    done = scrapy(*feed, AWS_ENDPOINT_URL=s3.url, **settings)
    assert done.returncode == 0, done.stderr
    pages = len(stored(folder))
    assert s3.files().cat_file(f"{BUCKET}/feed.jsonl").count(b"\n") == pages
    for kind, name in (("jsonl", "p.jsonl"), ("parquet", "p.parquet"), ("chunks", "c.jsonl"), ("wacz", "p.wacz")):
        local, there = tmp_path / name, f"s3://{BUCKET}/exports/{name}"
        assert scrapy("export", folder, "--to", kind, local).returncode == 0
        done = scrapy("export", folder, "--to", kind, there)
        assert done.returncode == 0 and there in done.stdout, done.stderr
        if kind != "wacz":  # WACZ files contain the time
            assert s3.files().cat_file(f"{BUCKET}/exports/{name}") == local.read_bytes()
    assert scrapy("export", folder, "--to", "markdown", f"s3://{BUCKET}/md").returncode == 0
    assert len(s3.keys(f"{BUCKET}/md")) == pages
    done = scrapy("export", folder, "--to", "markdown", f"s3://{BUCKET}/md")
    assert done.returncode == 2 and "an empty folder" in done.stderr
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    done = scrapy("export", folder, "--to", "csv", f"s3://{BUCKET}/x.csv")
    assert done.returncode == 3 and f"cannot write s3://{BUCKET}/x.csv" in done.stderr


def test_hugging_face_datasets_load_the_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import load_dataset

    folder = tmp_path / "crawl"
    assert crawl(TOPIC, folder, VIRTUAL_WEB="sample", CRAWL_MAX_PAGES=20).returncode == 0
    assert scrapy("export", folder, "--to", "parquet", tmp_path / "p.parquet", "--fields", FIELDS).returncode == 0
    found = load_dataset(
        "parquet", data_files=str(tmp_path / "p.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert set(found["url"]) == stored(folder) and all(found["text"]) and found.features["relevance"].dtype == "float64"

    assert scrapy("export", folder, "--to", "chunks", tmp_path / "c.parquet").returncode == 0
    cut = load_dataset(
        "parquet", data_files=str(tmp_path / "c.parquet"), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert set(cut["url"]) == stored(folder) and all(cut["text"]) and cut.features["headings"].feature.dtype == "string"
