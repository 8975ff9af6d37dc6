"""``scrapy spam TOPIC LABELS``: trains a spam classifier on labelled pages (paper 004 section 6.3)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, cache_dir, reporting_errors, require_part, settings_for
from crawlproject.errors import BadInput
from crawlproject.pages.text.printable import counted

if TYPE_CHECKING:
    from crawlproject.parts.spam.model import Features
    from crawlproject.parts.spam.part import Spam
    from crawlproject.records import Page, Topic

LABELS = {"spam": True, "honest": False}
WISH = "expected a page and spam or honest, with a tab between them"
HELD_OUT = 0.25
FILE = "http://file.invalid/"  # URL of a page that is a file, for its relative links


class _Labelled(NamedTuple):
    """A line of the labels: its place in the file, the URL or path of the page, and whether the page is spam."""

    place: str
    page: str
    is_spam: bool


class _Example(NamedTuple):
    site: str
    features: Features
    by_weights: float
    is_spam: bool


class SpamCommand(Subcommand):
    requires_project = True
    usage = "[options] TOPIC LABELS"
    summary = "Train a spam classifier on labelled pages"
    description = (
        "Each line of LABELS has a page, a tab, and `spam` or `honest`. A page is a URL in WEB, such as the folder of a "
        "crawl, or a file. Prints precision and recall of the classifier and of the built-in weights on sites that were "
        "held out, then trains on all pages and writes the model, for CRAWL_SPAM_MODEL. Exit code 2: bad input."
    )
    examples = ("spam reefs.toml labels.tsv",)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--web", metavar="WEB", help="a WARC file, a folder or a crawl folder with the pages")
        parser.add_argument(
            "--out",
            metavar="FILE",
            type=Path,
            default=Path("spam.json"),
            help="file for the model, JSON (default: spam.json)",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        require_part("spam")
        if len(args) != 2:
            raise UsageError("expected a topic and a file of labels", print_help=False)
        with reporting_errors(self):
            from crawlproject.parts.spam.model import train
            from crawlproject.storage.crawl_files import refuse_target
            from crawlproject.topic.folder import find_topic

            refuse_target(opts.out)
            path = Path(args[1])
            examples = list(self._examples(find_topic(args[0]), path, opts.web))
            if not _can_teach(examples):
                raise BadInput(str(path), "expected pages of both labels, with a text of more than a few lines")
            _evaluate(examples)
            train([(example.features, example.is_spam) for example in examples]).write(opts.out)
            print(f"{opts.out}: trained on {counted(len(examples), 'page')}")

    def _examples(self, topic: Topic, labels: Path, web: str | None) -> Iterator[_Example]:
        from crawlproject.configuration import read_options
        from crawlproject.evaluation.simulation.runner import read_pages
        from crawlproject.pages.text.relevance import TopicJudge
        from crawlproject.parts.spam.part import Spam
        from crawlproject.webs.open import open_web
        from crawlproject.webs.sample import SampleWeb

        options = read_options(settings_for(self, topic))
        with ExitStack() as stack:
            opened = open_web(web, cache_dir=cache_dir()) if web else SampleWeb()
            stack.callback(opened.close)
            cache = read_pages(opened, topic.language, options, agent=self.agent)
            stack.callback(cache.close)
            inspector = Spam(TopicJudge(topic.keywords, cache.reader.analyzer).query)
            for line in _read_labels(labels):
                if "://" not in line.page:
                    page = cache.reader.read(FILE, _bytes_of(line, labels.parent))
                elif web is None:
                    raise BadInput(line.place, "expected --web, where the page is")
                elif (found := cache.get(line.page)[1]) is None:
                    raise BadInput(line.place, f"expected a page that {web} holds, not {line.page}")
                else:
                    page = found
                yield _example(inspector, page, line)


def _example(inspector: Spam, page: Page, line: _Labelled) -> _Example:
    from crawlproject.records import Fetch
    from crawlproject.urls.hosts import domain_of

    site = domain_of(page.url) if "://" in line.page else line.page
    by_weights = inspector.examine(page, Fetch(200, 0.0, 0.0)).spam
    return _Example(site, inspector.features(page), by_weights, line.is_spam)


def _read_labels(path: Path) -> Iterator[_Labelled]:
    """Parse a file of labels, without empty lines and lines that begin with #. Raises ``BadInput``."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(str(path), f"expected a readable file in UTF-8: {wrong}") from None
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            place = f"{path}, line {number}"
            page, _, label = line.partition("\t")
            if label.strip() not in LABELS or not page.strip():
                raise BadInput(place, WISH)
            yield _Labelled(place, page.strip(), LABELS[label.strip()])


def _bytes_of(line: _Labelled, folder: Path) -> bytes:
    """The content of a page that is a file; its path is relative to the folder of the labels. Raises ``BadInput``."""
    try:
        return (folder / line.page).read_bytes()
    except OSError as wrong:
        raise BadInput(line.place, f"{line.page} cannot be read: {wrong.strerror}") from None


def _can_teach(examples: Sequence[_Example]) -> bool:
    return {example.is_spam for example in examples if example.features} == {True, False}


def _evaluate(examples: Sequence[_Example]) -> None:
    """Train a model on most sites, and print how well it and the built-in weights judge the held-out sites."""
    from crawlproject.parts.spam.model import Judged, train

    known = [example for example in examples if not _is_held_out(example.site)]
    others = [example for example in examples if _is_held_out(example.site)]
    if not others or not _can_teach(known):
        print("Too few sites to hold some out: nothing was measured.")
        return
    model = train([(example.features, example.is_spam) for example in known])
    print(f"Trained on {len(known)} pages, judged {len(others)} of other sites:")
    for name, scores in (
        ("model", [(model.score(example.features), example.is_spam) for example in others]),
        ("built-in weights", [(example.by_weights, example.is_spam) for example in others]),
    ):
        judged = Judged.of(scores)
        print(f"{name:18} precision {_spelled(judged.precision)}  recall {_spelled(judged.recall)}")


def _is_held_out(site: str) -> bool:
    return sha256(site.encode()).digest()[0] < 256 * HELD_OUT


def _spelled(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"
