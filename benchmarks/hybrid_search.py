"""Search by words, by meaning and by both, against the targets of topics on an archived web.

    OMP_NUM_THREADS=1 python -m benchmarks.hybrid_search WEB TOPIC... --model lsa [--model NAME|ADDRESS#NAME] \
        [--pages 2000] [--targets 30]

The pages of the web become a crawl folder, with relevance 0, so that the ranking does not know the topic. The queries are the
keywords of a topic, then its description; its targets are relevant. Shown are means over the topics of NDCG@10 and NDCG@100
(gains of 0 and 1), the chunks embedded a second, and the median milliseconds of a query by words and by both. ``lsa`` is
latent semantic analysis of the pages themselves: TF-IDF and a truncated SVD of 256 dimensions (S. Deerwester et al., *Indexing
by Latent Semantic Analysis*, JASIS 1990), by scikit-learn; any other model is named as in ``SEARCH_MODEL``. ``--pages`` is the
number of pages drawn, which include the targets of the topics; ``--targets`` limits the targets of each topic.

``benchmarks.hybrid_pairs`` reads the lines that begin with ``#`` and reports which differences are significant.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import md5
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
import orjson

from crawlproject.adapters.subcommand import cache_dir
from crawlproject.exporting.index import search, update
from crawlproject.exporting.index.embedding import update_vectors
from crawlproject.exporting.index.search import searchable
from crawlproject.exporting.index.vectors import VectorReader, read_vector_state
from crawlproject.exporting.selection import read_items
from crawlproject.language_models.base import Embedder
from crawlproject.language_models.embeddings import search_model
from crawlproject.pages.html.parse import parse_document
from crawlproject.records import Page, Topic, Visit
from crawlproject.storage.manifest import Manifest
from crawlproject.storage.page_files import PageRepository, item_fields
from crawlproject.topic.parse import load_topic
from crawlproject.urls.hosts import page_name
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web

DEEPEST = 100
DIMENSIONS = 256
FITTED = 20_000  # pages that latent semantic analysis is fitted on


def write_crawl(folder: Path, web: Web, wanted: set[str], unwanted: set[str], pages: int) -> set[str]:
    """Write a crawl folder with pages of a web, except the unwanted ones; return their URLs."""
    urls = [url for url in sorted(web.urls()) if url not in unwanted]
    if pages:
        others = [url for url in urls if url not in wanted]
        chosen = wanted | {*Random(1).sample(others, min(len(others), max(0, pages - len(wanted))))}
        urls = [url for url in urls if url in chosen]
    Manifest(folder, Topic("benchmark", ("reef",), ("http://a.example/",)), "dom", {}).begin({}, "", 0.0)
    stored = PageRepository(folder / "pages")
    with (folder / "items.jsonl").open("wb") as file:
        for url in urls:
            reply = web.get(url)
            if reply.status != 200:
                continue
            kind = reply.headers.get("content-type", "")
            document = parse_document(reply.body, content_type=kind, url=url)
            stored.store(url, reply.body)
            page = Page(url, title=document.title, text=document.text, language="en")
            digest = md5(reply.body).hexdigest()
            visit = Visit(url, 200, 1_700_000_000.0, md5=page_name(url), digest=digest, content_type=kind)
            file.write(orjson.dumps(item_fields(page, visit), option=orjson.OPT_APPEND_NEWLINE))
    return {*urls}


def drawn(draw: Random, topic: Topic, number: int) -> list[str]:
    targets = sorted(topic.targets)
    return draw.sample(targets, number) if 0 < number < len(targets) else targets


def lsa(folder: Path) -> Embedder:
    """Fit latent semantic analysis on the texts of a crawl."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    def fitted() -> Callable[[list[str]], Any]:
        words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=3, max_df=0.5, max_features=100_000)
        model = make_pipeline(words, TruncatedSVD(DIMENSIONS, random_state=1))
        model.fit(
            [
                f"{item['title']} {item['text'][:20_000]}"
                for item, _ in zip(read_items(folder), range(FITTED), strict=False)
            ]
        )
        return lambda texts: model.transform(texts)

    return Embedder("lsa", fitted)


def ndcg(ranked: Sequence[str], relevant: set[str], depth: int) -> float:
    """NDCG (Jarvelin and Kekalainen 2002), with a discount of the base-2 logarithm of 1 + rank."""
    gains = [1 / np.log2(1 + rank) for rank, url in enumerate(ranked[:depth], start=1) if url in relevant]
    return float(sum(gains) / sum(1 / np.log2(1 + rank) for rank in range(1, min(depth, len(relevant)) + 1)))


class Asking:
    """The three ways to search a crawl folder with the vectors of one model."""

    def __init__(self, folder: Path, model: Embedder) -> None:
        self.folder, self.model = folder, model
        state = read_vector_state(folder)
        assert state is not None
        self._reader, self._words = VectorReader(folder, state), searchable(folder)

    def words(self, query: str) -> list[str]:
        return [hit.url for hit in search(self.folder, query, DEEPEST).hits]

    def both(self, query: str) -> list[str]:
        return [hit.url for hit in search(self.folder, query, DEEPEST, model=self.model).hits]

    def meaning(self, query: str) -> list[str]:
        found = self._reader.nearest(self.model.vectors([query])[0], DEEPEST)
        places = [place for each in found if (place := self._words.place(each.page)) is not None]
        return [self._words.hit(0.0, place, "").url for place in places]

    def milliseconds(self, queries: Sequence[str], **more: Any) -> float:
        took = []
        for query in queries:
            began = perf_counter()
            search(self.folder, query, **more)
            took.append(1_000 * (perf_counter() - began))
        return float(np.median(took))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hybrid_search", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--model", action="append", required=True, help="lsa, or as SEARCH_MODEL")
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--targets", type=int, default=0)
    chosen = parser.parse_args(arguments)
    topics = [load_topic(path) for path in chosen.topics]
    web = open_web(chosen.web, cache_dir=cache_dir())
    with tempfile.TemporaryDirectory() as made_in:
        folder = Path(made_in) / "crawl"
        folder.mkdir()
        draw = Random(1)
        wanted = {url for topic in topics for url in drawn(draw, topic, chosen.targets)}
        unwanted = {url for topic in topics for url in topic.targets} - wanted
        there = write_crawl(folder, web, wanted, unwanted, chosen.pages)
        print(f"# {update(folder).pages} pages", flush=True)
        for name in chosen.model:
            model = lsa(folder) if name == "lsa" else search_model(name)
            assert model is not None
            model.vectors(["warm"])
            began = perf_counter()
            chunks = update_vectors(folder, model, rebuild=True).chunks
            seconds = perf_counter() - began
            asking = Asking(folder, model)
            queries = [" ".join(topic.keywords) for topic in topics]
            rows: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
            for topic in topics:
                relevant = {*topic.targets} & there
                for kind, query in (("keywords", " ".join(topic.keywords)), ("description", topic.description)):
                    for way in ("words", "meaning", "both"):
                        ranked = getattr(asking, way)(query)
                        rows[f"{kind} {way}"].append((ndcg(ranked, relevant, 10), ndcg(ranked, relevant, DEEPEST)))
                        about = f"{model.name} {Path(chosen.web).stem}/{topic.name} {kind} {way}"
                        print(f"# {about} {rows[f'{kind} {way}'][-1][0]:.4f}", flush=True)
            for label, found in rows.items():
                print(model.name, label, *(f"{value:.3f}" for value in np.mean(found, axis=0)), f"n={len(found)}")
            times = [asking.milliseconds(queries), asking.milliseconds(queries, model=model)]
            print(
                model.name,
                chunks,
                f"chunks, {chunks / seconds:.0f} a second; ms",
                *(f"{took:.1f}" for took in times),
                flush=True,
            )


if __name__ == "__main__":
    main()
