"""The experiments of paper 002 section 6 on a link graph: which ordering gets the important pages first?

    python -m benchmarks.url_ordering GRAPH [--start NODE] [--backlinks 100] [--rank 13] [--buffer 0.1] [--svg FILE]

GRAPH is a text file, gzip or not, with one link a line: two numbers, from and to. The virtual crawler of Figure 1 starts at
NODE and visits all reachable nodes, with five orderings: random, breadth-first, by backlinks seen so far, by PageRank
of the links seen so far, and by OPIC cash. The reachable part of the graph is the Web. Printed are ``P_ST`` with hot pages of
``--backlinks`` or more backlinks (Graph 1), ``P_CS`` by backlinks (Graph 2), ``P_ST`` with hot pages of PageRank
``--rank`` or more (Graph 3), the share of all PageRank (``WC(t)`` of paper 004 section 4.1), and ``P_BC`` for a buffer of
the share ``--buffer`` of all pages. More than one value of ``--growth`` adds PageRank crawlers that recompute all ranks more
or less often.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.crawl_and_stop import crawl_and_stop, crawl_and_stop_with_threshold, limited_buffer
from benchmarks.figure import standalone
from benchmarks.virtual_crawler import Backlinks, Drawn, Estimate, Nothing, Opic, Ranks, Web, buffered, crawl
from crawlproject.evaluation.measures import Curve, value_at
from crawlproject.orderings.pagerank import pagerank
from crawlproject.reports.plots import Axis, Series, line_chart

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DRAWN = ("random", "breadth-first", "backlink count", "PageRank", "OPIC", "ideal")

Orders = dict[str, list[int]]


def read(path: str, start: int) -> Web:
    """The part of the graph in a file of edges that is reachable from ``start``."""
    edges = np.loadtxt(path, np.int32, ndmin=2)
    return Web(edges[:, 0], edges[:, 1], start)


def crawlers(nodes: int, growths: list[float], seed: int) -> dict[str, Callable[[], Estimate]]:
    """Factories of the estimate that orders the queue of each crawler, by name."""
    draws = np.random.default_rng(seed).exponential(size=nodes).tolist()
    named: dict[str, Callable[[], Estimate]] = {
        "random": lambda: Drawn(draws),
        "breadth-first": Nothing,
        "backlink count": lambda: Backlinks(nodes),
        "PageRank": lambda: Ranks(growths[0]),
        "OPIC": lambda: Opic(0),
    }
    return named | {f"PageRank {growth:g}": partial(Ranks, growth) for growth in growths[1:]}


def crawl_all(web: Web, named: dict[str, Callable[[], Estimate]]) -> Orders:
    """The visit order of each crawler; print the cost of each crawl."""
    orders: Orders = {}
    for name, make in named.items():
        estimate, began = make(), time.process_time()
        orders[name] = crawl(web, estimate)
        solutions = f", {estimate.solutions} solutions" if isinstance(estimate, Ranks) else ""
        print(f"{name}: {time.process_time() - began:.1f} s of CPU{solutions}", flush=True)
    return orders


def table(title: str, curves: dict[str, Curve]) -> str:
    """A table of percentages at each share of the Web crawled."""
    rows = [title, f"{'crawled':16}" + "".join(f"{share:>7.0%}" for share in SHARES)]
    for name, curve in curves.items():
        values = (100 * value_at(curve, round(share * len(curve))) for share in SHARES)
        rows.append(f"{name:16}" + "".join(f"{value:7.1f}" for value in values))
    return "\n".join(rows) + "\n"


def drawing(curves: dict[str, Curve]) -> str:
    """Graph 3 as an SVG file."""
    x, y = Axis("pages crawled, %", 0, 100), Axis("hot pages crawled, %", 0, 100)
    shares = np.linspace(0, 1, 101)[1:]
    lines = [
        Series(name, [0, *(100 * shares)], [0, *(100 * value_at(curve, round(share * len(curve))) for share in shares)])
        for name, curve in curves.items()
    ]
    return standalone(line_chart("Hot pages by PageRank crawled, by ordering", lines, x, y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--start", type=int, default=0, help="the node to start from (default 0)")
    parser.add_argument("--backlinks", type=float, default=100, help="G for backlinks (default 100)")
    parser.add_argument("--rank", type=float, default=13, help="G for PageRank (default 13)")
    parser.add_argument("--buffer", type=float, default=0.1, help="share of the pages kept (default 0.1)")
    parser.add_argument("--growth", type=float, nargs="+", default=[0.05], help="as ORDERING_GROWTH (default 0.05)")
    parser.add_argument("--seed", type=int, default=1, help="of the random crawler")
    parser.add_argument("--svg", type=Path, help="draw Graph 3 into this file")
    options = parser.parse_args()

    web = read(options.graph, options.start)
    count, rank = np.asarray(web.links.sum(axis=0)), pagerank(web.links)
    print(f"{len(web):,} pages, {web.links.nnz:,} links")
    print(f"{np.sum(count >= options.backlinks):,} pages have IB(P) of G = {options.backlinks:g} or more")
    print(f"{np.sum(rank >= options.rank):,} pages have IR(P) of G = {options.rank:g} or more")
    orders = crawl_all(web, crawlers(len(web), options.growth, options.seed))

    by_count = orders | {"ideal": np.argsort(-count, kind="stable").tolist()}
    by_rank = orders | {"ideal": np.argsort(-rank, kind="stable").tolist()}
    graph1 = {name: crawl_and_stop_with_threshold(order, count, options.backlinks) for name, order in by_count.items()}
    graph2 = {name: crawl_and_stop(order, count) for name, order in by_count.items()}
    graph3 = {name: crawl_and_stop_with_threshold(order, rank, options.rank) for name, order in by_rank.items()}
    print("\n" + table(f"Graph 1: P_ST in percent, I(P) = IB(P), G = {options.backlinks:g}", graph1))
    print(table("Graph 2: P_CS in percent, I(P) = IB(P)", graph2))
    print(table(f"Graph 3: P_ST in percent, I(P) = IR(P), G = {options.rank:g}", graph3))
    shares = {name: np.cumsum(rank[order]) / rank.sum() for name, order in by_rank.items()}
    print(table("WC in percent, w(p) = PR(p)", shares))
    if options.svg:
        options.svg.write_text(drawing({name: graph3[name] for name in DRAWN}), encoding="utf-8")

    size = round(options.buffer * len(web))
    print(f"P_BC in percent: {size:,} pages kept, of the {size:,} most important; flushed by IB'(P), by IR'(P)")
    for name, order in orders.items():
        counted = limited_buffer(buffered(web, order, Backlinks(len(web)), size), count)
        ranked = limited_buffer(buffered(web, order, Ranks(options.growth[0]), size), rank)
        print(f"{name:16}{100 * counted:7.1f}{100 * ranked:7.1f}", flush=True)


if __name__ == "__main__":
    main()
