"""The value of a query alone: seeds found in earlier crawls, against a topic's own seeds and against random pages.

    python benchmarks/query_seeds.py WEB TOPIC... --pages 100 500 --out query-seeds [--earlier 300] [--keywords 3]

First, each topic is crawled to play the part of an earlier, different search: `--earlier` pages of the virtual web. Then for
each topic only its first `--keywords` keywords and the crawls of all other topics are known. The query finds 10 seeds in the
pages of these crawls. *random* are 10 pages drawn from the same crawls, *own* the seeds of the topic file. From each set of
seeds, the web is rehearsed with the whole topic. A figure is the share of all targets of the topic, mean over topics ±
standard error. Seeds that are targets count, as in the topic file. A topic for which no seed is found counts as 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/query_seeds.py`

import numpy as np
from rich.console import Console
from rich.table import Table

from crawlproject.adapters.seed_search import SeedSearch
from crawlproject.configuration import read_options
from crawlproject.evaluation.significance import standard_error
from crawlproject.library import crawl, rehearse
from crawlproject.records import Topic
from crawlproject.storage.read import read_info, read_visits
from crawlproject.topic.folder import find_topic

QUICK = {"POLITENESS_MIN_DELAY": 0, "POLITENESS_FACTOR": 0, "CRAWL_PROGRESS_SECONDS": 0, "LOG_LEVEL": "ERROR"}
SEEDS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 500])
    parser.add_argument("--earlier", type=int, default=300)
    parser.add_argument("--keywords", type=int, default=3)
    parser.add_argument("--ordering", default="adaptive")
    parser.add_argument("--out", type=Path, default=Path("query-seeds"))
    chosen = parser.parse_args()
    topics = [find_topic(name) for name in chosen.topics]
    folders = {topic.name: earlier(chosen.web, topic, chosen.out / "earlier", chosen.earlier) for topic in topics}
    found: dict[str, list[list[float]]] = {"own": [], "query": [], "random": []}
    for topic in topics:
        others = [folder for name, folder in folders.items() if name != topic.name]
        for name, seeds in seeds_of(topic, others, chosen.web, chosen.keywords).items():
            figures = [0.0] * len(chosen.pages)
            if seeds:
                figures = recall(chosen.web, replace(topic, seeds=tuple(seeds)), chosen, chosen.out / name)
            found[name].append(figures)
            known = len({*seeds} & {*topic.targets})
            print(
                f"{topic.name:<22}{name:<8}{len(seeds):>3} seeds, {known:>2} of them targets",
                *(f"{figure:.3f}" for figure in figures),
            )
    Console().print(table(found, chosen.pages))


def earlier(web: str, topic: Topic, root: Path, pages: int) -> Path:
    """The folder of a crawl of the topic; an existing crawl is reused."""
    folder = root / topic.name
    if not folder.exists():
        crawl(topic, folder, pages=pages, progress=False, VIRTUAL_WEB=web, **QUICK)
    return folder


def seeds_of(topic: Topic, others: Sequence[Path], web: str, keywords: int) -> dict[str, Sequence[str]]:
    search = SeedSearch(read_options({"VIRTUAL_WEB": web}), "benchmark")
    queried = search.find(topic.keywords[:keywords], others, topic.language, SEEDS)
    stored = sorted({visit.url for folder in others for visit in read_visits(folder) if visit.md5})
    return {
        "own": topic.seeds,
        "query": [seed.url for seed in queried.seeds],
        "random": Random(1).sample(stored, SEEDS),
    }


def recall(web: str, topic: Topic, chosen: argparse.Namespace, out: Path, **settings: object) -> list[float]:
    """The share of the topic's targets after each number of pages."""
    (run,) = rehearse(web, topic, chosen.ordering, pages=max(chosen.pages), out=out, **settings)
    pages, reached, shares = 0, set[str](), dict[int, float]()
    targets = {*read_info(run.folder).targets}
    for visit in run.visits():
        pages += bool(visit.md5)
        reached |= {visit.url, visit.redirect} & targets
        shares[pages] = len(reached) / max(1, len(targets))
    return [shares.get(min(wanted, pages), 0.0) for wanted in chosen.pages]


def table(found: dict[str, list[list[float]]], pages: Sequence[int]) -> Table:
    shown = Table(
        "seeds", *(f"@{number}" for number in pages), title=f"Target recall, mean over {len(found['own'])} topics"
    )
    for name, rows in found.items():
        figures = np.array(rows)
        cells = [f"{column.mean():.3f} ±{standard_error(column):.3f}" for column in figures.T]
        shown.add_row(name, *cells)
    return shown


if __name__ == "__main__":
    main()
