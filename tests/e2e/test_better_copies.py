"""A manual whose English pages are crawled after their untranslated copies: the collection keeps the English pages."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from support.crawling import crawl, scrapy, topic_file

HOST = "http://manual.example"
CHAPTERS = ("anchors", "currents", "lagoons")


def chapter(name: str) -> str:
    random = Random(name)
    vowels, others = "aeiou", "bdfgklmnprst"
    words = ["".join(random.choice(others) + random.choice(vowels) for _ in range(3)) for _ in range(150)]
    return f"<title>The chapter on {name}</title><h1>{name}</h1><p>Coral reef: {' '.join(words)}</p>"


def write_manual(web: Path) -> None:
    root = web / "manual.example"
    for language in ("de", "en", "fr"):
        (root / language).mkdir(parents=True)
        for name in CHAPTERS:
            (root / language / f"{name}.html").write_text(chapter(name))
    links = [f'<a href="/{language}/{name}.html">{name}</a>' for language in ("de", "en", "fr") for name in CHAPTERS]
    (root / "index.html").write_text(f"<title>All of the manual</title><p>Coral reef</p>{' '.join(links)}")


def exported(folder: Path, name: str, *more: str) -> dict[str, dict[str, str]]:
    out = folder.parent / name
    made = scrapy("export", folder, "--to", "jsonl", out, *more)
    assert made.returncode == 0, made.stderr
    return {item["url"]: item for item in map(json.loads, out.read_text().splitlines())}


def test_the_english_original_is_kept_though_it_comes_late(tmp_path: Path) -> None:
    write_manual(tmp_path / "web")
    topic, folder = topic_file(tmp_path, f"{HOST}/", keywords="coral reef"), tmp_path / "crawl"
    for most in (5, 20):  # stopped among the copies, and resumed
        run = crawl(topic, folder, ordering="breadth_first", VIRTUAL_WEB=tmp_path / "web", CRAWL_MAX_PAGES=most)
        assert run.returncode == 0, run.stderr
    english = {f"{HOST}/en/{name}.html" for name in CHAPTERS}
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert [line["url"] for line in history if line["md5"]][1:4] == [f"{HOST}/de/{name}.html" for name in CHAPTERS]

    kept = exported(folder, "kept.jsonl")
    assert set(kept) == english | {f"{HOST}/"}
    assert {item["replaces"] for url, item in kept.items() if url in english} == {
        f"{HOST}/de/{name}.html" for name in CHAPTERS
    }
    everything = exported(folder, "everything.jsonl", "--with-duplicates")
    assert {item["duplicate_of"] for url, item in everything.items() if "/de/" in url or "/fr/" in url} == english

    assert scrapy("index", folder).returncode == 0
    found = scrapy("search", folder, "anchors", "--json")
    assert found.returncode == 0, found.stderr
    assert f"{HOST}/en/anchors.html" in found.stdout and "/de/" not in found.stdout and "/fr/" not in found.stdout
    why = scrapy("why", folder, f"{HOST}/de/anchors.html")
    assert f"{HOST}/en/anchors.html" in why.stdout.replace("\n", "")
