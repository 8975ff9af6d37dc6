"""``scrapy classify TOPIC [PAGE...]``: classifies pages by the examples of a topic (paper 000 section 3.3)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from crawlproject.adapters.subcommand import Subcommand, cache_dir, reporting_errors, settings_for
from crawlproject.errors import BadInput
from crawlproject.pages.text.printable import counted

if TYPE_CHECKING:
    from crawlproject.orderings.taxonomy import Example, Taxonomy
    from crawlproject.records import Page, Topic


class ClassifyCommand(Subcommand):
    requires_project = True
    usage = "[options] TOPIC [PAGE...]"
    summary = "Classify pages by the examples of a topic, or check the examples"
    description = (
        "Without a PAGE: list the examples of TOPIC that the others would put into another class; move those that are wrong. "
        "With PAGEs (files, or URLs in the web that ORDERING_ARCHIVE names): print the likeliest class of each, its "
        "probability P, and the relevance R by which the ordering `focused` would judge the page. Exit code 2: bad input."
    )
    examples = ("classify reefs.toml", "classify reefs.toml page.html")

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        move = "move each PAGE, a file, into the folder of its class; to correct this, move it again"
        parser.add_argument("--move", action="store_true", help=move)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("expected a topic", print_help=False)
        if opts.move and len(args) < 2:
            raise UsageError("--move: expected pages to classify", print_help=False)
        with reporting_errors(self):
            from crawlproject.orderings.taxonomy import Taxonomy, examples_of
            from crawlproject.topic.folder import find_topic

            topic = find_topic(args[0])
            if not (topic.positive and topic.negative):
                raise BadInput(f"topic {topic.name}", "examples.positive and examples.negative: expected pages in both")
            examples = examples_of(*self._read(topic, topic.positive, topic.negative))
            if len(args) == 1:
                _check((*topic.positive, *topic.negative), examples)
                return
            [pages] = self._read(topic, args[1:])
            for name, page in zip(args[1:], pages, strict=True):
                _classify(name, page, Taxonomy(examples), _root_of(topic) if opts.move else None)

    def _read(self, topic: Topic, *sides: Sequence[str]) -> list[tuple[Page, ...]]:
        """The pages of each of the ``sides``, such as positive and negative examples."""
        from crawlproject.configuration import read_options
        from crawlproject.core.prior_knowledge import PriorPages
        from crawlproject.core.reading import make_reader
        from crawlproject.pages.text.relevance import TopicJudge, make_analyzer
        from crawlproject.urls.canonical import make_canonicalizer

        options = read_options(settings_for(self, topic))
        canonicalize, analyzer = make_canonicalizer(options), make_analyzer(topic.language, options)
        judge = TopicJudge(topic.keywords, analyzer)
        reader = make_reader(options, analyzer, canonicalize)
        prior = PriorPages(options, judge, canonicalize, lambda: reader, cache_dir=cache_dir(), rehearsed=None)
        examples = prior.examples(None)
        return [examples.positive(replace(topic, positive=tuple(side))) for side in sides]


def _check(names: Sequence[str], examples: Sequence[Example]) -> None:
    """Print the examples that a classifier trained on the others puts into another class."""
    misplaced = list(_misplaced(names, examples))
    for line in misplaced:
        print(line)
    print(f"{len(misplaced)} of {counted(len(names), 'example')} may be in the wrong class.")


def _misplaced(names: Sequence[str], examples: Sequence[Example]) -> Iterator[str]:
    from crawlproject.orderings.taxonomy import Taxonomy, leaf_of

    for number, (name, example) in enumerate(zip(names, examples, strict=True)):
        own = leaf_of(example)
        others = Taxonomy([*examples[:number], *examples[number + 1 :]])
        if own not in others.leaves:
            continue  # the only example of its class
        leaf, share = others.likeliest(example.counts)
        if leaf != own:
            yield f"{name}  is in {_spelled(own)}, looks like {_spelled(leaf)}  P {share:.2f}"


def _classify(name: str, page: Page, taxonomy: Taxonomy, root: Path | None) -> None:
    """Print the class of a page. With a ``root``, move its file into the folder of the class."""
    leaf, share = taxonomy.likeliest(page.counts)
    print(f"{name}  {_spelled(leaf)}  P {share:.2f}  R {taxonomy.relevance(page.counts):.2f}")
    if root is None:
        return
    folder, path = root.joinpath(*leaf[:-1]), Path(name)
    if not path.is_file() or not folder.is_dir():
        raise BadInput(name, "cannot be moved: expected a file, and a class that is a folder")
    if (folder / path.name).exists():
        raise BadInput(name, f"cannot be moved: {folder / path.name} exists")
    path.rename(folder / path.name)


def _root_of(topic: Topic) -> Path:
    """The deepest folder that contains all examples that are files."""
    folders = [str(Path(name).resolve().parent) for name in (*topic.positive, *topic.negative) if "://" not in name]
    return Path(commonpath(folders)) if folders else Path()


def _spelled(leaf: tuple[str, ...]) -> str:
    return f"{''.join(leaf[:-1]) or './'} ({leaf[-1]})"
