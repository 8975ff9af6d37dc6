"""Upper bounds of any crawl: the proven bound, and the omniscient ordering."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from support.webs import DictWeb, page

from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.evaluation.simulation.web_graph import least_pages
from crawlproject.orderings.base import Graph, RedirectLinks
from crawlproject.orderings.registry import ORDERINGS
from crawlproject.records import Topic
from crawlproject.storage.append_log import read_lines

PORTAL = "http://portal.example/"
PAGES = 120


def clustered_web(seed: int) -> tuple[DictWeb, tuple[str, ...]]:
    """30 hosts with a front page and 9 other pages each; targets are crowded on some hosts, and isolated on others."""
    random = Random(seed)
    hosts = [[f"http://h{h}.example/{p}" for p in range(10)] for h in range(30)]
    rich = random.sample(range(30), 6)
    targets = [url for h in rich for url in random.sample(hosts[h][1:], 6)]
    targets += [random.choice(hosts[h][1:]) for h in random.sample([h for h in range(30) if h not in rich], 6)]
    entries = dict([page(PORTAL, *(hosts[h][0] for h in random.sample(range(30), 8)), text="coral reef")])
    for h, urls in enumerate(hosts):
        for number, url in enumerate(urls):
            others = [random.choice(hosts[random.randrange(30)][:3]) for _ in range(2)]
            near = random.sample(urls, 3) + ([urls[number + 1]] if number < 9 else [])
            text = f"page {number} of {h} " + ("coral reef" if url in targets or random.random() < 0.2 else "engine")
            entries |= dict([page(url, *near, *others, text=text)])
    return DictWeb(entries), tuple(sorted(targets))


def found_by(folder: Path, targets: tuple[str, ...]) -> list[int]:
    """The number of targets after 1, 2, ... pages."""
    found, counts = 0, []
    for line in read_lines(folder / "history.jsonl"):
        if line["md5"]:
            found += line["url"] in targets
            counts.append(found)
    return counts + [found] * (PAGES - len(counts))


@pytest.mark.parametrize("settings", [{}, {"FRONTIER_BATCH_SIZE": 1}], ids=["k = 50", "k = 1"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_ordering_beats_the_bound_and_none_the_omniscient_one_by_more_than_a_page(
    tmp_path: Path, seed: int, settings: dict[str, int]
) -> None:
    web, targets = clustered_web(seed)
    names = [name for name in ORDERINGS if name not in ("context_graph", "reinforcement")]
    stage = Runner(
        web,
        lambda _: {**settings, "PAGE_DUPLICATES": False, "CRAWL_FRONT_PAGES": False},
        pages=PAGES,
        agent="test",
        concurrency=1,
    )
    runs = stage.rehearse(Topic("reef", ("coral reef",), (PORTAL,), targets=targets), names, tmp_path)
    found = {name: found_by(folder, targets) for name, folder, _ in runs}
    least = json.loads((tmp_path / "reef" / "reachable.json").read_text())["least_pages"]
    bound = [sum(pages <= number for pages in least) for number in range(1, PAGES + 1)]
    best = found.pop("omniscient")
    assert best[-1] == len(least) == len(targets)
    assert all(counts[n] <= bound[n] and best[n] <= bound[n] for counts in found.values() for n in range(PAGES))
    for name, counts in found.items():
        assert all(counts[n] <= best[min(n + 1, PAGES - 1)] for n in range(PAGES)), name


def fewest(graph: Graph, targets: set[str], wanted: int, nodes: list[str]) -> int | None:
    """The fewest pages of any crawl from node 0 with ``wanted`` targets, by trying all sets of pages."""
    for size in range(1, len(nodes) + 1):
        for chosen in map(set, combinations(nodes, size)):
            if "0" in chosen and len(chosen & targets) >= wanted and _is_crawl(graph, chosen):
                return size
    return None


def _is_crawl(graph: Graph, chosen: set[str]) -> bool:
    reached, queue = {"0"}, ["0"]
    while queue:
        fresh = [link for link in graph(queue.pop()) or () if link in chosen and link not in reached]
        reached.update(fresh)
        queue += fresh
    return reached == chosen


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_is_never_above_the_optimum(seed: int) -> None:
    random = Random(seed)
    nodes = [str(number) for number in range(9)]
    links = {node: random.sample(nodes, random.randrange(3)) for node in nodes}
    targets = set(random.sample(nodes, 4))
    bound = least_pages(links.get, ["0"], targets)
    best = [fewest(links.get, targets, wanted, nodes) for wanted in range(1, 5)]
    assert len(bound) == sum(pages is not None for pages in best)
    assert all(least <= pages for least, pages in zip(bound, best, strict=False) if pages is not None)


def test_the_bound_worked_by_hand() -> None:
    """T1 and T2 share the path through a; T3 is behind b and c and a redirect, which does not count as a page."""
    links = {
        "s": ["a", "b"],
        "a": ["T1"],
        "T1": ["T2"],
        "b": ["r"],
        "r": RedirectLinks(["c"]),
        "c": ["T3"],
        "T2": [],
        "T3": [],
    }
    assert least_pages(links.get, ["s"], ["T1", "T2", "T3", "nowhere"]) == [1 + 2, 2 + 2, 3 + 3]
    assert least_pages(links.get, ["T1"], ["T1"]) == [1]
