"""The value of earlier crawls for the next one (`CRAWL_EARLIER`), against crawls that do not use them.

    python benchmarks/earlier_crawls.py WEB TOPIC... --pages 50 100 200 500 --earlier 1000 --out earlier [--foreign DIR]

First, each topic is crawled to play the part of an earlier, different search: `--earlier` pages of the virtual web. Then each
topic is rehearsed from its own seeds, *alone*; with the crawls of all *other* topics; from its seeds and ten pages drawn from
those crawls, *random*; and with the crawls in `--foreign`, of another web, whose proposed pages do not exist here. A figure
is the share of all targets of the topic after each number of pages, mean over topics, and the mean difference to *alone* ±
standard error, with the p-value of a paired randomization test (one-tailed).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/earlier_crawls.py`

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.query_seeds import SEEDS, earlier, recall
from crawlproject.evaluation.significance import standard_error
from crawlproject.records import Topic
from crawlproject.storage.read import read_visits
from crawlproject.topic.folder import find_topic

ALONE = "alone"
DRAWS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+")
    parser.add_argument("--pages", type=int, nargs="+", default=[50, 100, 200, 500])
    parser.add_argument("--earlier", type=int, default=1000)
    parser.add_argument("--foreign", type=Path, help="a folder of crawls of another web")
    parser.add_argument("--ordering", default="adaptive")
    parser.add_argument("--out", type=Path, default=Path("earlier-crawls"))
    chosen = parser.parse_args()
    topics = [find_topic(name) for name in chosen.topics]
    folders = {topic.name: earlier(chosen.web, topic, chosen.out / "earlier", chosen.earlier) for topic in topics}
    found: dict[str, list[list[float]]] = {}
    for topic in topics:
        others = [folder for name, folder in folders.items() if name != topic.name]
        stored = sorted({visit.url for folder in others for visit in read_visits(folder) if visit.md5})
        drawn = Random(1).sample(stored, min(SEEDS, len(stored)))
        ways: dict[str, tuple[Topic, list[Path]]] = {
            ALONE: (topic, []),
            "others": (topic, others),
            "random": (replace(topic, seeds=(*topic.seeds, *drawn)), []),
        }
        if chosen.foreign:
            ways["foreign"] = topic, [chosen.foreign]
        for name, (asked, known) in ways.items():
            settings = {"CRAWL_EARLIER": [str(folder) for folder in known]} if known else {}
            shares = recall(chosen.web, asked, chosen, chosen.out / name, **settings)
            found.setdefault(name, []).append(shares)
            print(f"{topic.name:<24}{name:<8}", *(f"{share:.3f}" for share in shares), flush=True)
    Console().print(table(found, chosen.pages))


def table(found: dict[str, list[list[float]]], pages: list[int]) -> Table:
    alone = np.array(found[ALONE])
    shown = Table("knows", *(f"@{number}" for number in pages), title=f"Target recall, mean over {len(alone)} topics")
    for name, rows in found.items():
        figures = np.array(rows)
        cells = []
        for column, other in zip(figures.T, alone.T, strict=True):
            gain = column - other
            said = f" {gain.mean():+.3f} ±{standard_error(gain):.3f} p={_chance(gain):.4f}" if name != ALONE else ""
            cells.append(f"{column.mean():.3f}{said}")
        shown.add_row(name, *cells)
    return shown


def _chance(gains: np.ndarray) -> float:
    """The probability that differences with random signs have a mean at least as high."""
    signs = np.random.default_rng(1).choice((-1.0, 1.0), size=(DRAWS, len(gains)))
    return float(((signs * gains).mean(axis=1) >= gains.mean() - 1e-12).mean())


if __name__ == "__main__":
    main()
