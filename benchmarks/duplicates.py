"""Near-duplicate detection: precision and recall on pairs with known answers, the cost of a page, and memory.

    apt-get install apache2-doc debian-handbook doxygen-doc libboost1.74-doc libcommons-math3-java-doc \\
        openjdk-17-doc python3.11-doc
    python benchmarks/duplicates.py --per-kind 200 --webs ../webs --trees

``--webs`` is a folder with ``<web>/<web>.warc.gz`` for each web that ``duplicates.pairs.tsv`` names: pairs of real pages,
which were labelled by hand. ``--trees``: pairs from the Debian packages that ``duplicates.trees.tsv`` names, if they are
installed; the index knows a sample of their other pages. Without both options, only generated pairs are judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/duplicates.py`

from benchmarks.edited_pages import Author, edited_pairs
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.minhash import similarity, sketch
from crawlproject.parts.duplicates.index import DuplicateIndex, original_of
from crawlproject.parts.duplicates.seen_shingles import SeenShingles
from crawlproject.parts.duplicates.sketch_store import DiskSketchStore, MemorySketchStore, OriginalPage
from crawlproject.records import Page
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.urls.hosts import host_of
from crawlproject.webs.open import open_web

PAIRS = Path(__file__).with_name("duplicates.pairs.tsv")
TREES = Path(__file__).with_name("duplicates.trees.tsv")
KNOWN = 600  # pages of a tree that the index knows


@dataclass(slots=True)
class Score:
    """Counts the pairs of a kind, the copies among them, and the verdicts on them."""

    pairs: int = 0
    copies: int = 0
    found: int = 0
    wrongly: int = 0

    def count(self, copy: bool, said: bool) -> None:
        self.pairs += 1
        self.copies += copy
        self.found += copy and said
        self.wrongly += said and not copy

    @property
    def precision(self) -> float:
        said = self.found + self.wrongly
        return self.found / said if said else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.copies if self.copies else 1.0


def a_reader() -> Reader:
    """A reader with the settings of a crawl."""
    options = read_options({})
    return make_reader(options, Analyzer("en"), make_canonicalizer(options))


def judge_generated(reader: Reader, seed: int, per_kind: int) -> dict[str, Score]:
    """Judge generated pairs, with all first pages in the index."""
    index = DuplicateIndex(MemorySketchStore())
    pairs = []
    for pair in edited_pairs(seed, per_kind):
        pages = [reader.read(article.url, article.html()) for article in (pair.first, pair.second)]
        first, second = (original_of(page, sketch(page)) for page in pages)
        index.add(first)
        pairs.append((pair.kind, pair.copy, second))
    scores: dict[str, Score] = defaultdict(Score)
    for kind, copy, second in pairs:
        scores[kind].count(copy, index.first_with(second) is not None)
    return dict(scores)


def judge_real(reader: Reader, labels: Path, webs: Path) -> dict[str, Score]:
    """Judge pairs of real pages, by web."""
    scores: dict[str, Score] = defaultdict(Score)
    index = DuplicateIndex(MemorySketchStore())
    with tempfile.TemporaryDirectory() as cache:
        opened = {}
        for line in labels.read_text().splitlines():
            name, one, two, label = line.split("\t")
            if name not in opened:
                opened[name] = open_web(str(webs / name / f"{name}.warc.gz"), cache_dir=Path(cache))
            pages = []
            for url in (one, two):
                reply = opened[name].get(url)
                page = reader.read(url, reply.body, content_type=reply.headers.get("content-type", ""))
                pages.append(original_of(page, sketch(page)))
            scores[name].count(label == "1", index.is_duplicate(*pages))
    return dict(scores)


def judge_trees(reader: Reader, labels: Path, alone: bool) -> dict[str, Score]:
    """Judge pairs of pages of installed packages; ``alone``: the index knows no other page of the tree."""
    trees: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for line in labels.read_text().splitlines():
        if not line.startswith("#"):
            package, _version, root, one, two, label = line.split("\t")
            trees[package, root].append((one, two, label))
    scores: dict[str, Score] = defaultdict(Score)
    for (package, root), pairs in trees.items():
        folder = Path(root)
        if not folder.exists():
            print(f"{package} is not installed")
            continue
        index = DuplicateIndex(MemorySketchStore())
        named = {path for one, two, _ in pairs for path in (one, two)}
        others = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
        for path in [] if alone else others[:: max(1, len(others) // KNOWN)]:
            if path not in named:
                page = tree_page(reader, package, folder, path)
                if index.first_with(page) is None:
                    index.add(page)
        for one, two, label in pairs:
            pages = [tree_page(reader, package, folder, path) for path in (one, two)]
            scores[package].count(label == "1", index.is_duplicate(*pages))
    return dict(scores)


def tree_page(reader: Reader, package: str, folder: Path, path: str) -> OriginalPage:
    file = folder / unquote(path)
    body = (file / "index.html" if file.is_dir() else file).read_bytes()
    page = reader.read(f"http://{package}.example/{path}", body, content_type="text/html")
    return original_of(page, sketch(page))


def check_estimates(seed: int, pairs: int = 2000, length: int = 300) -> Iterator[tuple[float, float, float, float]]:
    """Yield true Jaccard coefficient (steps of 0.1), mean error, its standard deviation, and the share the index finds."""
    random = Random(seed)
    words = [f"w{number}" for number in range(5000)]
    by_step: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for number in range(pairs):
        one = random.choices(words, k=length)
        share = random.random() * 0.25
        two = [random.choice(words) if random.random() < share else word for word in one]
        sets = [{tuple(terms[start : start + 3]) for start in range(length - 2)} for terms in (one, two)]
        truth = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
        url, title = f"http://a.example/{number}/reef", f"Pages of reef {number}"
        first, second = (Page(u, title=title, terms=t) for u, t in ((url, one), (f"{url[:-4]}v2/reef", two)))
        index = DuplicateIndex(MemorySketchStore())
        index.add(original_of(first, sketch(first)))
        estimate = similarity(sketch(first).minima, sketch(second).minima)
        by_step[int(truth * 10)].append(
            (estimate - truth, index.first_with(original_of(second, sketch(second))) is not None)
        )
    for step, found in sorted(by_step.items()):
        errors = [error for error, _ in found]
        mean = sum(errors) / len(errors)
        spread = (sum((error - mean) ** 2 for error in errors) / len(errors)) ** 0.5
        yield step / 10, mean, spread, sum(hit for _, hit in found) / len(found)


def cost(reader: Reader, pages: Iterable[Page]) -> dict[str, float]:
    """Median microseconds of CPU a page: sketch, look-up, shingles new on the host, adding; and bytes an original."""
    spent: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sketches.jsonl"
        index, seen = DuplicateIndex(DiskSketchStore(path, lambda url: True, print)), SeenShingles()
        for page in pages:
            times = [process_time()]
            made = sketch(page)
            original = original_of(page, made)
            times.append(process_time())
            first = index.first_with(original)
            times.append(process_time())
            seen.new_share(host_of(page.url), made.folded)
            times.append(process_time())
            if first is None:
                index.add(original)
            times.append(process_time())
            for name, start, end in zip(("sketch", "look-up", "novelty", "adding"), times, times[1:], strict=False):
                spent[name].append(1e6 * (end - start))
            spent["all"].append(1e6 * (times[-1] - times[0]))
        figures = {f"{name}, us": round(median(values), 1) for name, values in spent.items()}
        figures["memory, bytes an original"] = round((index.size + 8 * len(index)) / len(index), 1)
        figures["disk, bytes an original"] = round(path.stat().st_size / len(index), 1)
        index.close()
    return figures


def made_up_pages(reader: Reader, seed: int, count: int) -> Iterator[Page]:
    author = Author(Random(seed))
    site = author.site()
    for number in range(count):
        if number % 20 == 0:
            site = author.site()
        article = author.article(site)
        yield reader.read(article.url, article.html())


def print_scores(title: str, scores: dict[str, Score]) -> Score:
    total = Score()
    print(f"\n{title}\n{'kind':<22}{'pairs':>7}{'copies':>8}{'found':>7}{'wrongly':>9}")
    for kind, score in scores.items():
        print(f"{kind:<22}{score.pairs:>7}{score.copies:>8}{score.found:>7}{score.wrongly:>9}")
        for name in ("pairs", "copies", "found", "wrongly"):
            setattr(total, name, getattr(total, name) + getattr(score, name))
    print(f"precision {total.precision:.3f}, recall {total.recall:.3f}")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-kind", type=int, default=100, help="generated pairs of each kind (default: 100)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--webs", type=Path, help="folder of the webs that the read pairs are from")
    parser.add_argument("--trees", action="store_true", help="also pairs of pages of installed Debian packages")
    parser.add_argument("--pages", type=int, default=2000, help="made-up pages for cost and memory (default: 2000)")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    reader = a_reader()
    figures: dict[str, object] = {}
    total = print_scores("Generated pairs", judge_generated(reader, options.seed, options.per_kind))
    figures["generated"] = {"precision": total.precision, "recall": total.recall, "pairs": total.pairs}
    if options.webs:
        total = print_scores("Pairs that a person read", judge_real(reader, PAIRS, options.webs))
        figures["read"] = {"precision": total.precision, "recall": total.recall, "pairs": total.pairs}
    if options.trees:
        for alone in (True, False):
            said = "alone" if alone else "with other pages of their tree"
            total = print_scores(f"Pairs of packages that a person read, {said}", judge_trees(reader, TREES, alone))
            figures[f"trees, {said}"] = {"precision": total.precision, "recall": total.recall, "pairs": total.pairs}
    print("\nEstimate of the Jaccard coefficient, and share found (title and name the same, threshold 0.7)")
    for step, mean, spread, found in check_estimates(options.seed):
        print(f"{step:.1f} to {step + 0.1:.1f}   error {mean:+.3f} +- {spread:.3f}   found {found:.3f}")
    figures["cost"] = cost(reader, made_up_pages(reader, options.seed, options.pages))
    print(f"\nCost of a page\n{json.dumps(figures['cost'], indent=1)}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
