"""Merges the crawl folders of several workers (``workers/<name>/``) into the crawl folder above them."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import merge
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir, trying_to
from crawlproject.options import WORKERS
from crawlproject.storage.append_log import read_lines, unexpected, write_atomically
from crawlproject.storage.crawl_files import PROBES, SITEMAPS
from crawlproject.storage.logs import CHANGES, ROBOTS, SAMPLES, Refusals
from crawlproject.storage.manifest import NAME as MANIFEST
from crawlproject.storage.manifest import read_manifest
from crawlproject.storage.page_files import PAGES
from crawlproject.urls.hosts import page_path

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
    """Write history, links, items, changes, refusals, pages and manifest of all workers into ``folder``, by time: each visit of
    a page once, whichever workers made it.

    The folders of the workers stay unchanged: page files become hard links where possible, else copies. Works while workers
    run, and may be repeated. Raises ``BadCrawlDir`` when the folder holds a crawl of its own or a worker's folder is
    damaged, and ``StorageFailed``.
    """
    workers = workers_of(folder)
    there = read_manifest(folder)
    if there and WORKERS not in there:
        raise BadCrawlDir(str(folder), f"holds a crawl of its own besides {WORKERS}/; move one of the two")
    kept = _KeptVisits(workers)
    _write(folder / "history.jsonl", _in_time(workers, "history.jsonl", kept.has_line))
    _write(folder / "links.jsonl", _lines_kept(workers, "links.jsonl", "source", kept))
    _write(folder / "items.jsonl", _in_time(workers, "items.jsonl", kept.has_item))
    if any((worker / CHANGES).exists() for worker in workers):
        _write(folder / CHANGES, _in_time(workers, CHANGES, lambda worker, line: True))
    if any((worker / SITEMAPS).exists() for worker in workers):
        _write(folder / SITEMAPS, _lines_kept(workers, SITEMAPS, "sitemap", kept))
    if any((worker / ROBOTS).exists() for worker in workers):
        _write(folder / ROBOTS, chain.from_iterable(read_lines(worker / ROBOTS) for worker in workers))
    if any((worker / PROBES).exists() for worker in workers):
        found = merge(*(read_lines(worker / PROBES) for worker in workers), key=lambda line: float(line["at"]))
        _write(folder / PROBES, found)
    _link_pages(folder, kept)
    _merge_refusals(folder / "refused.json", workers)
    _merge_manifests(folder / MANIFEST, workers)


class _KeptVisits:
    """Which worker's visit counts when several have made the same one: of first visits one that stored the page, else the first;
    of later visits the latest, on which the next one rests.
    """

    def __init__(self, workers: Iterable[Path]) -> None:
        self._first: dict[str, Path] = {}
        self._again: dict[str, dict[int, tuple[float, Path]]] = {}
        self.stored: dict[str, tuple[int, Path]] = {}  # md5 of a page -> its last version, and its worker
        has_file: set[str] = set()
        for worker in workers:
            for place, line in enumerate(read_lines(worker / "history.jsonl"), start=1):
                try:
                    url, md5, number, at = line["url"], line["md5"], line.get("number", 1), float(line["at"])
                except (KeyError, TypeError, ValueError) as damage:
                    raise unexpected(worker / "history.jsonl", place, damage) from damage
                if number > 1:
                    visits = self._again.setdefault(url, {})
                    visits[number] = max(visits.get(number, (at, worker)), (at, worker))
                    continue
                if url not in self._first or (md5 and url not in has_file):
                    self._first[url] = worker
                if md5:
                    has_file.add(url)
        for worker in workers:
            for line in read_lines(worker / "history.jsonl"):
                if line["md5"] and self.has_line(worker, line):
                    there = self.stored.get(line["md5"], (0, worker))
                    self.stored[line["md5"]] = max(there, (line.get("version", 1), worker))

    def has_line(self, worker: Path, line: Mapping[str, Any]) -> bool:
        """Whether the visit in this line of a history counts."""
        number = line.get("number", 1)
        if number == 1:
            return self._first.get(line["url"]) is worker
        return self._again.get(line["url"], {}).get(number) == (float(line["at"]), worker)

    def has_item(self, worker: Path, line: Mapping[str, Any]) -> bool:
        """Whether an item belongs to a visit that counts; items that withdraw a page all count."""
        if line.get("state") or self._first.get(line["url"]) is worker:
            return True
        return any(line["at"] == at and worker is who for at, who in self._again.get(line["url"], {}).values())

    def has(self, worker: Path, url: str) -> bool:
        """Whether any visit of a worker counts."""
        return self._first.get(url) is worker or any(worker is who for _, who in self._again.get(url, {}).values())


def _in_time(workers: Iterable[Path], name: str, counts: Callable[[Path, Mapping[str, Any]], bool]) -> Iterator[Any]:
    def lines(worker: Path) -> Iterator[Any]:
        return (line for line in read_lines(worker / name) if counts(worker, line))

    return merge(*map(lines, workers), key=lambda line: float(line["at"]))


def _lines_kept(workers: Iterable[Path], name: str, key: str, kept: _KeptVisits) -> Iterator[Any]:
    for worker in workers:
        yield from (line for line in read_lines(worker / name) if kept.has(worker, line[key]))


def _link_pages(folder: Path, kept: _KeptVisits) -> None:
    for md5, (version, worker) in kept.stored.items():
        source, target = (place / PAGES / page_path(md5) for place in (worker, folder))
        if target.exists() and (version == 1 or _is_copy(source, target)):
            continue
        with trying_to("write to", target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # the page file was removed
                draft = target.with_name(f"{target.name}.tmp")
                draft.unlink(missing_ok=True)
                _link(source, draft)
                draft.replace(target)
            for earlier in source.parent.glob(f"{source.name}.*"):
                if earlier.suffix[1:].isdigit() and not (place := target.with_name(earlier.name)).exists():
                    _link(earlier, place)


def _is_copy(source: Path, target: Path) -> bool:
    """Whether the file was copied, or linked, before."""
    try:
        there, here = source.stat(), target.stat()
    except FileNotFoundError:
        return True  # there is nothing to copy
    return os.path.samestat(there, here) or (there.st_size == here.st_size and there.st_mtime_ns <= here.st_mtime_ns)


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
