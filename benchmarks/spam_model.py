"""The spam classifier against the built-in weights, on the generated hostile web.

    python -m benchmarks.spam_model [--pages 12] [--seed 2010] [--held-out 7] [--honest WEB] [--judge WEB...] [--out FILE]

The model is trained on pages of all spam sites, and as many honest pages, of the hostile web ``--seed``. It is judged on
those of another one, ``--held-out``, and each kind of spam also by a model that has not seen this kind. A page is taken for
spam when its score is at least one half. With ``--honest`` the training set also includes a sample of a web of public sites
as honest pages. For each ``--judge``, another such web, the share of its pages that taken for spam is printed. ``--labels``
writes the pages of the first web and ``labels.tsv`` into a folder, for ``scrapy spam``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.hostile_web import KINDS, HostileWeb
from benchmarks.hostile_web.prose import KEYWORDS
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import read_options
from crawlproject.core.reading import make_reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.spam.model import Features, Judged, SpamModel, train
from crawlproject.parts.spam.part import Spam
from crawlproject.records import Fetch
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.open import open_web

SPAM = (
    *("link_farm", "stuffed", "hidden_text", "content_farm", "doorways"),
    *("guestbooks", "cloaked", "swarms", "generated"),
)
HONEST = ""
SAMPLE = 2000


@dataclass(frozen=True, slots=True)
class Example:
    """A page: its kind (empty: honest), its features, and its score by the built-in weights."""

    kind: str
    features: Features
    by_weights: float


def bodies(web: HostileWeb, pages: int) -> Iterator[tuple[str, str, bytes]]:
    """Kind, URL and body of ``pages`` pages of each spam site, then of as many honest ones, as served to a crawler."""
    spam = [
        (site.kind, url, reply.body)
        for site in web.bad_sites
        if site.kind in SPAM
        for url in [site.home, *(site.url(Random(f"{site.host} {number}")) for number in range(pages - 1))]
        if (reply := web.get(url)).status == 200
    ]
    yield from spam
    for url in Random(0).sample(sorted(web.urls()), len(spam)):
        yield HONEST, url, web.get(url).body


def sample(name: str) -> Iterator[tuple[str, str, bytes]]:
    """Pages of a web of public sites, in a random order."""
    with closing(open_web(name, cache_dir=cache_dir())) as web:
        urls = sorted(web.urls())
        for url in Random(0).sample(urls, len(urls)):
            reply = web.get(url)
            if reply.status == 200:
                yield HONEST, url, reply.body


def read(found: Iterable[tuple[str, str, bytes]]) -> list[Example]:
    """Pages as examples."""
    analyzer, options = Analyzer("en"), read_options({})
    reader = make_reader(options, analyzer, make_canonicalizer(options))
    inspector = Spam(TopicJudge(KEYWORDS["coral"], analyzer).query)
    examples = []
    for kind, url, body in found:
        page = reader.read(url, body)
        examples.append(Example(kind, inspector.features(page), inspector.examine(page, Fetch(200, 0.0, 0.0)).spam))
    return examples


def accused(name: str, model: SpamModel) -> str:
    """A line: how many pages of a web of public sites are taken for spam by the weights and by the classifier."""
    examples = read(islice(sample(name), SAMPLE))
    by_weights = sum(example.by_weights >= 0.5 for example in examples)
    by_model = sum(model.score(example.features) >= 0.5 for example in examples)
    return f"{Path(name).name}: of {len(examples)} pages {by_weights} by weights, {by_model} by the classifier"


def model_of(examples: list[Example]) -> SpamModel:
    return train([(example.features, bool(example.kind)) for example in examples])


def line(name: str, model: SpamModel, examples: list[Example]) -> str:
    """A row of the table: precision and recall of the model and of the built-in weights."""
    judged = [
        Judged.of([(example.by_weights, bool(example.kind)) for example in examples]),
        Judged.of([(model.score(example.features), bool(example.kind)) for example in examples]),
    ]
    cells = [
        f"{share:9.3f}" if share is not None else f"{'–':>9}" for by in judged for share in (by.precision, by.recall)
    ]
    return f"{name:24}{sum(bool(example.kind) for example in examples):6}" + "".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=12, help="of each spam site")
    parser.add_argument("--seed", type=int, default=2010)
    parser.add_argument("--held-out", type=int, default=7)
    parser.add_argument("--honest", metavar="WEB", help="learn from its pages, too")
    parser.add_argument("--judge", metavar="WEB", nargs="*", default=[], help="webs of public sites")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--out", type=Path, help="write the model here")
    chosen = parser.parse_args()
    known, others = [
        read(bodies(HostileWeb(seed=seed, kinds=tuple(KINDS)), chosen.pages)) for seed in (chosen.seed, chosen.held_out)
    ]
    if chosen.honest:
        known += read(islice(sample(chosen.honest), SAMPLE))
    model = model_of(known)
    print(f"{'':30}  built-in weights       classifier")
    print(f"{'held out':24}{'spam':>6}{'precision':>9}{'recall':>9}{'precision':>9}{'recall':>9}")
    print(line("another web, all kinds", model, others))
    for kind in SPAM:
        without = model_of([example for example in known if example.kind != kind])
        print(line(f"{kind}, never seen", without, [example for example in others if example.kind in (kind, HONEST)]))
    for web in chosen.judge:
        print(accused(web, model))
    if chosen.out:
        model.write(chosen.out)
    if chosen.labels:
        _write_labels(chosen.labels, HostileWeb(seed=chosen.seed, kinds=tuple(KINDS)), chosen.pages)


def _write_labels(folder: Path, web: HostileWeb, pages: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (kind, _, body) in enumerate(bodies(web, pages)):
        (folder / f"{number}.html").write_bytes(body)
        lines.append(f"{number}.html\t{'spam' if kind else 'honest'}\n")
    (folder / "labels.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
