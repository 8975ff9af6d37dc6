"""Merges the crawl folders of several workers (``workers/<name>/``) into the crawl folder above them."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, StorageFailed
from crawlproject.options import WORKERS
from crawlproject.storage.append_log import read_lines, unexpected, write_atomically
from crawlproject.storage.manifest import NAME as MANIFEST
from crawlproject.storage.manifest import read_manifest
from crawlproject.storage.probe_log import NAME as PROBES
from crawlproject.storage.refusals import SAMPLES, Refusals
from crawlproject.storage.robots_log import NAME as ROBOTS
from crawlproject.storage.sitemap_log import NAME as SITEMAPS
from crawlproject.urls.naming import page_path

PAGES = "pages"
_SUMMED = ("refused/", "probes/", "reader/", "scheduler/", "downloader/", "item_scraped")  # statistics that add up


def workers_of(folder: Path) -> list[Path]:
    """The folders of the workers in a crawl folder, by name; none if a single process crawled."""
    return sorted(path.parent for path in folder.glob(f"{WORKERS}/*/{MANIFEST}"))


def whole_folder(folder: Path) -> Path:
    """Merge the folders of workers, if there are any, and return ``folder``. Raises as ``merge_workers`` does."""
    if workers_of(folder):
        merge_workers(folder)
    return folder


def merge_workers(folder: Path) -> None:
    """Write history, links, items, refusals, pages and manifest of all workers into ``folder``, each URL once, by time.

    The folders of the workers stay unchanged: page files become hard links where possible, else copies. Works while workers
    run, and may be repeated. Raises ``BadCrawlDir`` when the folder holds a crawl of its own or a worker's folder is
    damaged, and ``StorageFailed``.
    """
    workers = workers_of(folder)
    there = read_manifest(folder)
    if there and WORKERS not in there:
        raise BadCrawlDir(str(folder), f"holds a crawl of its own besides {WORKERS}/; move one of the two")
    kept = _visits_kept(workers)
    _write(folder / "history.jsonl", _in_time(workers, kept))
    _write(folder / "links.jsonl", _lines_kept(workers, "links.jsonl", "source", kept))
    _write(folder / "items.jsonl", _lines_kept(workers, "items.jsonl", "url", kept))
    if any((worker / SITEMAPS).exists() for worker in workers):
        _write(folder / SITEMAPS, _lines_kept(workers, SITEMAPS, "sitemap", kept))
    if any((worker / ROBOTS).exists() for worker in workers):
        _write(folder / ROBOTS, chain.from_iterable(read_lines(worker / ROBOTS) for worker in workers))
    if any((worker / PROBES).exists() for worker in workers):
        found = merge(*(read_lines(worker / PROBES) for worker in workers), key=lambda line: float(line["at"]))
        _write(folder / PROBES, found)
    _link_pages(folder, workers)
    _merge_refusals(folder / "refused.json", workers)
    _merge_manifests(folder / MANIFEST, workers)


def _visits_kept(workers: Iterable[Path]) -> dict[str, Path]:
    """The worker whose visit of each URL counts: one that stored the page, else the first."""
    kept: dict[str, Path] = {}
    stored: set[str] = set()
    for worker in workers:
        for number, line in enumerate(read_lines(worker / "history.jsonl"), start=1):
            try:
                url, md5 = line["url"], line["md5"]
            except (KeyError, TypeError) as damage:
                raise unexpected(worker / "history.jsonl", number, damage) from damage
            if url not in kept or (md5 and url not in stored):
                kept[url] = worker
            if md5:
                stored.add(url)
    return kept


def _in_time(workers: Iterable[Path], kept: Mapping[str, Path]) -> Iterator[Any]:
    def lines(worker: Path) -> Iterator[Any]:
        return (line for line in read_lines(worker / "history.jsonl") if kept.get(line["url"]) is worker)

    return merge(*map(lines, workers), key=lambda line: float(line["at"]))


def _lines_kept(workers: Iterable[Path], name: str, key: str, kept: Mapping[str, Path]) -> Iterator[Any]:
    for worker in workers:
        yield from (line for line in read_lines(worker / name) if kept.get(line[key]) is worker)


def _link_pages(folder: Path, workers: Iterable[Path]) -> None:
    for worker in workers:
        for line in read_lines(worker / "history.jsonl"):
            if not line["md5"]:
                continue
            source, target = (place / PAGES / page_path(line["md5"]) for place in (worker, folder))
            if target.exists():
                continue
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # the page file was removed
                    _link(source, target)
            except OSError as error:
                raise StorageFailed(f"cannot write to {target}: {error}") from error


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(source, target)


def _merge_refusals(path: Path, workers: Iterable[Path]) -> None:
    path.unlink(missing_ok=True)
    merged = Refusals(path)
    for worker in workers:
        refusals = Refusals(worker / "refused.json")
        merged.counts.update(refusals.counts)
        for reason, samples in refusals.samples.items():
            merged.samples[reason] = (merged.samples.get(reason, []) + samples)[:SAMPLES]
    merged.save()


def _merge_manifests(path: Path, workers: list[Path]) -> None:
    found = [read_manifest(worker) for worker in workers]
    reasons = {manifest["reason"] for manifest in found}
    ended = "" not in reasons
    stats: Counter[str] = Counter()
    for manifest in found:
        numbers = {name: value for name, value in manifest["stats"].items() if name.startswith(_SUMMED)}
        stats.update({name: value for name, value in numbers.items() if isinstance(value, int)})
    document = {
        **found[0],
        WORKERS: [worker.name for worker in workers],
        "started": min(manifest["started"] for manifest in found),
        "resumes": sorted(moment for manifest in found for moment in manifest["resumes"]),
        "reason": ", ".join(sorted(reasons)) if ended else "",
        "finished": max(manifest["finished"] for manifest in found) if ended else None,
        "stats": dict(stats),
    }
    write_atomically(path, [orjson.dumps(document, option=orjson.OPT_INDENT_2)])


def _write(path: Path, lines: Iterable[Any]) -> None:
    write_atomically(path, (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines), sync=False)
