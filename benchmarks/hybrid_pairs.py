"""Which differences between ways to search are significant, from the outputs of ``benchmarks.hybrid_search``.

    python -m benchmarks.hybrid_pairs OUTPUT...

A pair is a topic, and its value NDCG@10, the mean over its two queries, which are not independent. Shown for every two ways,
the better one first: the mean difference, its 95% bootstrap interval, and p by randomisation (M. D. Smucker, J. Allan, B.
Carterette, *A Comparison of Statistical Significance Tests for Information Retrieval Evaluation*, CIKM 2007).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from crawlproject.evaluation.significance import bootstrap_interval

DRAWS = 100_000


def randomisation(better: Sequence[float], worse: Sequence[float], draws: int = DRAWS) -> float:
    """Two-sided p: the share of ``draws`` random sign choices whose mean difference is at least as far from 0."""
    differences = np.subtract(better, worse)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(draws, len(differences)))
    return float((np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12).mean())


def values(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """Way -> topic -> mean NDCG@10 of its queries. Search by words is the same with every model."""
    found: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        match line.removeprefix("# ").rsplit(maxsplit=3) if line.startswith("# ") else ():
            case [named, ("keywords" | "description"), way, value]:
                model, _, topic = named.partition(" ")
                found[way if way == "words" else f"{way}, {model}"][topic].append(float(value))
    return {way: {topic: float(np.mean(each)) for topic, each in topics.items()} for way, topics in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    names = sys.argv[1:] if arguments is None else arguments
    ways = values(line for name in names for line in Path(name).read_text(encoding="utf-8").splitlines())
    means = {way: float(np.mean([*topics.values()])) for way, topics in ways.items()}
    for way in sorted(ways, key=lambda way: -means[way]):
        print(f"{means[way]:.3f}  {way}  n={len(ways[way])}")
    for better, worse in combinations(sorted(ways, key=lambda way: -means[way]), 2):
        topics = sorted(ways[better].keys() & ways[worse].keys())
        pair = [ways[better][topic] for topic in topics], [ways[worse][topic] for topic in topics]
        low, high = bootstrap_interval(*pair) or (float("nan"), float("nan"))
        difference = float(np.mean(np.subtract(*pair)))
        print(f"{difference:+.3f} [{low:+.3f}, {high:+.3f}] p {randomisation(*pair):.4f}  {better} - {worse}")


if __name__ == "__main__":
    main()
