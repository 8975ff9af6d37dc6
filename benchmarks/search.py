"""Full-text search in the crawl folder: Tantivy, as the project uses it, against SQLite FTS5, on the same pages and queries.

    python benchmarks/search.py
    python benchmarks/search.py --pages 60000 --web archive.warc.gz other.warc.gz --json search.json

The pages are those of the webs, then pages made of their paragraphs, drawn at random; without ``--web`` the paragraphs are
those of the sample web. Queries are one to four words of the pages, frequent ones more often. Shown are pages indexed a
second, index bytes a page, and the latency of the ten best pages with highlights. The engines run one after the
other in separate processes, with the cache of the operating system warm.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import md5
from pathlib import Path
from random import Random

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for `python benchmarks/search.py`

from crawlproject.exporting.index import search, update
from crawlproject.pages.html.parse import parse_document
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.manifest import Manifest
from crawlproject.storage.page_files import item_fields
from crawlproject.webs.open import Web, open_web
from crawlproject.webs.sample import SampleWeb

ROOT = Path(__file__).resolve().parents[1]
QUERIES = 200
SHOWN = 10
_PARAGRAPHS = 200_000
_BATCH = 5_000

_TABLE = """
    PRAGMA journal_mode = WAL;
    CREATE VIRTUAL TABLE pages USING fts5(
        title, anchor, text, url UNINDEXED, relevance UNINDEXED, tokenize = 'porter unicode61'
    );
"""
_PUT = "INSERT INTO pages VALUES (?, ?, ?, ?, ?)"
_ASK = """
    SELECT url, title, snippet(pages, 2, '<b>', '</b>', '...', 40), score FROM (
        SELECT rowid AS found, bm25(pages, 3.0, 2.0, 1.0) AS score FROM pages WHERE pages MATCH :query
        ORDER BY rank LIMIT :limit
    ) JOIN pages ON pages.rowid = found WHERE pages MATCH :query ORDER BY score
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--web", type=Path, nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--engine", choices=sorted(ENGINES), help=argparse.SUPPRESS)  # the engine of this process
    parser.add_argument("--crawl", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine:
        print(json.dumps(ENGINES[arguments.engine](arguments.crawl)))
        return
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "crawl"
        write_crawl(crawl, arguments.web, arguments.pages, Path(folder) / "cache")
        found = {name: measured(name, crawl) for name in ENGINES}
        found["pages"] = arguments.pages
        found["bytes of items.jsonl a page"] = round((crawl / "items.jsonl").stat().st_size / arguments.pages)
    print(json.dumps(found, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


def measured(engine: str, crawl: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--engine", engine, "--crawl", str(crawl)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# ------------------------------------------------------------ the pages


def write_crawl(folder: Path, webs: Sequence[Path], pages: int, cache: Path) -> None:
    """A crawl folder with that many items."""
    folder.mkdir(parents=True)
    Manifest(folder, Topic("benchmark", ("reef",), ("http://a.example/",)), "dom", {}).begin({}, "", 0.0)
    random = Random(1)
    paragraphs: list[str] = []
    opened: list[Web] = [open_web(web, cache_dir=cache) for web in webs]
    with (folder / "items.jsonl").open("wb") as file:
        written = 0
        for url, title, text in real_pages(opened or [SampleWeb()]):
            if len(paragraphs) < _PARAGRAPHS:
                paragraphs += [part for part in text.split("\n") if len(part) > 60][:20]
            if opened and written < pages:
                file.write(line(url, title, text, random))
                written += 1
        for number in range(written, pages):
            text = "\n".join(random.choices(paragraphs, k=random.randint(3, 60)))
            file.write(line(f"http://made.example/{number}", random.choice(paragraphs)[:70], text, random))


def real_pages(webs: Sequence[Web]) -> Iterator[tuple[str, str, str]]:
    for web in webs:
        for url in web.urls():
            reply = web.get(url)
            if reply.status == 200:
                document = parse_document(reply.body, content_type=reply.headers.get("content-type", ""), url=url)
                yield url, document.title, document.text


def line(url: str, title: str, text: str, random: Random) -> bytes:
    page = Page(url, title=title, text=text, language="en", relevance=random.random() * 0.5)
    visit = Visit(url, 200, 1_700_000_000.0, md5=md5(url.encode()).hexdigest())
    return orjson.dumps(item_fields(page, visit), option=orjson.OPT_APPEND_NEWLINE)


def queries(crawl: Path) -> list[str]:
    """Queries of one to four words; a word is drawn in proportion to its frequency, or uniformly."""
    random = Random(2)
    used: list[str] = []
    for number, item in enumerate(items(crawl)):
        if number % 50 == 0:
            used += re.findall(r"\b[a-z]{4,12}\b", item["text"].lower())[:40]
    words = sorted(set(used))
    return [
        " ".join(random.choice(used if random.random() < 0.7 else words) for _ in range(random.randint(1, 4)))
        for _ in range(QUERIES)
    ]


def items(crawl: Path) -> Iterator[dict[str, str]]:
    with (crawl / "items.jsonl").open("rb") as file:
        yield from map(orjson.loads, file)


# ------------------------------------------------------------ the engines


def tantivy(crawl: Path) -> dict[str, float]:
    began, cpu = time.perf_counter(), time.process_time()
    pages = update(crawl).pages
    built = time.perf_counter() - began, time.process_time() - cpu
    size = sum(file.stat().st_size for file in (crawl / "index").rglob("*") if file.is_file())
    return figures(crawl, pages, built, size, lambda query: len(search(crawl, query, SHOWN).hits))


def fts5(crawl: Path) -> dict[str, float]:
    path = crawl / "fts5.db"
    database = sqlite3.connect(path)
    database.executescript(_TABLE)
    began, cpu, pages = time.perf_counter(), time.process_time(), 0
    for item in items(crawl):
        database.execute(_PUT, (item["title"], item["anchor"], item["text"], item["url"], item["relevance"]))
        pages += 1
        if pages % _BATCH == 0:
            database.commit()
    database.commit()
    database.execute("INSERT INTO pages (pages, rank) VALUES ('rank', 'bm25(3.0, 2.0, 1.0)')")
    database.commit()
    built = time.perf_counter() - began, time.process_time() - cpu
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def ask(query: str) -> int:
        words = " OR ".join(f'"{word}"' for word in query.split())
        return len(database.execute(_ASK, {"query": words, "limit": SHOWN}).fetchall())

    return figures(crawl, pages, built, path.stat().st_size, ask)


def figures(
    crawl: Path, pages: int, built: tuple[float, float], size: int, ask: Callable[[str], int]
) -> dict[str, float]:
    asked = queries(crawl)
    for query in asked[:20]:
        ask(query)
    took: list[float] = []
    worked: list[float] = []
    hits = 0
    for query in asked:
        began, cpu = time.perf_counter(), time.process_time()
        hits += ask(query)
        took.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - cpu))
    middle, late = len(asked) // 2, int(0.99 * len(asked))
    took.sort()
    worked.sort()
    return {
        "pages a second": round(pages / built[0]),
        "pages a CPU second": round(pages / built[1]),
        "bytes a page": round(size / pages),
        "p50 ms": round(took[middle], 2),
        "p99 ms": round(took[late], 2),
        "p50 CPU ms": round(worked[middle], 2),  # more reliable on a busy machine
        "p99 CPU ms": round(worked[late], 2),
        "hits": hits,
        "memory MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


ENGINES: dict[str, Callable[[Path], dict[str, float]]] = {"fts5": fts5, "tantivy": tantivy}

if __name__ == "__main__":
    main()
