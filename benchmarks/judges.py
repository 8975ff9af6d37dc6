"""Judges of relevance against the targets of topics on an archived web: how well they separate targets from other pages, the cost
of a page, and what crawls with them find.

    OMP_NUM_THREADS=1 python -m benchmarks.judges WEB TOPIC... [--judge terms examples] [--examples 5 20] [--draws 2]
        [--rehearse dom adaptive] [--pages 1000] [-s NAME=VALUE]

Of each topic's targets, ``--examples`` are drawn as its positive examples, ``--draws`` times; all other pages of the web are
judged. Negative examples come from the web (``crawlproject/parts/judges/examples.py``). There is a line for each judge and
number of examples, with means over topics and draws: average precision; precision and recall at a relevance of at least 0.1;
milliseconds of CPU for a page and for the contexts of its links. With ``--rehearse``, one draw: the recall after ``--pages``
pages of the targets that are not examples. ``examples_links`` is ``examples`` that also judges the contexts of links.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import process_time

import numpy as np
from sklearn.metrics import average_precision_score

from crawlproject import settings
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.assembly import choose_judge
from crawlproject.configuration import default_settings, read_options
from crawlproject.core.prior_knowledge import PriorKnowledge, PriorPages
from crawlproject.evaluation.simulation.runner import Runner, read_pages
from crawlproject.pages.text.relevance import TopicJudge, make_judge
from crawlproject.parts.judges.examples import ExamplesJudge
from crawlproject.parts.judges.registry import register
from crawlproject.records import Page, Topic
from crawlproject.storage.read import read_visits
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import ArchivedPages, JudgedPages, PageCache, PageCacheFolder

RELEVANT = 0.1  # the default of PAGE_RELEVANT
WITH_LINKS = 300  # pages whose contexts are timed
Row = tuple[float, ...]


class WithLinks(ExamplesJudge):
    """Also judges the contexts of links by the examples, which the project does not do."""

    judges_links = True


class Bench:
    """The pages of one web."""

    def __init__(self, web: Web, cache: PageCache, given: dict[str, str]) -> None:
        self.web, self.cache, self.given = web, cache, given
        self._scratch = tempfile.TemporaryDirectory(prefix="judges-")
        self.canonicalize = make_canonicalizer(read_options({}))
        self.pages: list[Page] = []
        self.linked: list[Page] = []
        for url in web.urls():
            _, page = cache.get(url)
            if page is not None and page.counts:
                self.pages.append(replace(page, links=(), terms=()))
                if page.links and len(self.linked) < WITH_LINKS:
                    self.linked.append(page)

    def judge(self, name: str, topic: Topic) -> TopicJudge:
        options = read_options({**self.given, "TOPIC_RELEVANCE": name})
        by_words = make_judge(topic.keywords, self.cache.reader.analyzer, options)
        archive = ArchivedPages(self.cache, JudgedPages(self.cache, by_words, 500), self.canonicalize)
        reader = self.cache.reader.twin
        prior = PriorPages(options, by_words, self.canonicalize, reader, cache_dir=cache_dir(), rehearsed=archive)
        known = PriorKnowledge(options, by_words, prior, None, None, dict)
        return choose_judge(topic, known, Path(tempfile.mkdtemp(dir=self._scratch.name)))

    def measure(self, name: str, topic: Topic) -> Row:
        """Average precision, precision, recall, milliseconds for a page and for the contexts of its links."""
        judge, examples, targets = self.judge(name, topic), {*topic.positive}, {*topic.targets}
        tested = [page for page in self.pages if page.url not in examples]
        began = process_time()
        scores = np.array([judge.with_relevance(page).relevance for page in tested])
        cost = (process_time() - began) / len(tested)
        began = process_time()
        for page in self.linked:
            judge.context_scores(page.terms, [link.context_span for link in page.links])
        cost_of_links = (process_time() - began) / len(self.linked)
        good = np.array([page.url in targets for page in tested])
        taken = scores >= RELEVANT
        hits = float((taken & good).sum())
        precision, recall = hits / max(1, taken.sum()), hits / max(1, good.sum())
        return float(average_precision_score(good, scores)), precision, recall, 1_000 * cost, 1_000 * cost_of_links

    def rehearse(self, name: str, ordering: str, topic: Topic, pages: int) -> Row:
        """The share of the targets, except the examples, that a crawl stored."""
        chosen = {**default_settings(), **topic.settings, **self.given, "TOPIC_RELEVANCE": name}
        runner = Runner(self.web, lambda _: chosen, pages=pages, agent=settings.USER_AGENT, concurrency=16)
        runner._caches = defaultdict(lambda: self.cache)
        with tempfile.TemporaryDirectory() as out:
            ((_, folder, _),) = runner.rehearse(topic, [ordering], Path(out))
            stored = {visit.url for visit in read_visits(folder) if visit.md5}
        wanted = {*topic.targets} - {*topic.positive}
        return (len(stored & wanted) / len(wanted),)


def draws(topic: Topic, known: set[str], examples: int, number: int) -> Iterator[Topic]:
    """Yield the topic with some of its targets as positive examples; nothing if it has too few targets."""
    targets = sorted(known & {*topic.targets})
    for draw in range(number if len(targets) >= 2 * examples else 0):
        yield replace(topic, targets=tuple(targets), positive=tuple(Random(draw).sample(targets, examples)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--judge", nargs="+", default=["terms", "examples"])
    parser.add_argument("--examples", nargs="+", type=int, default=[5, 20])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rehearse", nargs="+", default=[], metavar="ORDERING")
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args(arguments)
    register("examples_links", WithLinks)
    web = open_web(chosen.web, cache_dir=cache_dir())
    cache = read_pages(web, "en", read_options({}), PageCacheFolder(cache_dir(), chosen.web), agent=settings.USER_AGENT)
    bench = Bench(web, cache, dict(each.split("=", 1) for each in chosen.settings))
    cache.flush()
    known = {page.url for page in bench.pages}
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for topic in map(load_topic, chosen.topics):
        for examples in chosen.examples:
            for drawn in draws(topic, known, examples, 1 if chosen.rehearse else chosen.draws):
                for name in chosen.judge:
                    for ordering in chosen.rehearse:
                        row = bench.rehearse(name, ordering, drawn, chosen.pages)
                        found[f"{ordering} {name} {examples}"].append(row)
                        print(f"# {topic.name} {ordering} {name} {examples} {row[0]:.3f}", flush=True)
                    if not chosen.rehearse:
                        found[f"{name} {examples}"].append(bench.measure(name, drawn))
        print(f"# {topic.name}", flush=True)
    for name, rows in found.items():
        print(name, *(f"{value:.3f}" for value in np.mean(rows, axis=0)), f"n={len(rows)}")


if __name__ == "__main__":
    main()
