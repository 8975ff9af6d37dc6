"""The ordering that ``ORDERING`` names, with what it may know before the crawl."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.crawl.prior_pages import PriorPages
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext
from crawlproject.orderings.registry import make_ordering, ordering_class, parameters_of
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Topic
from crawlproject.storage.judgments import read_judgments


def choose_ordering(
    topic: Topic,
    options: Options,
    judge: TopicJudge,
    prior_pages: PriorPages,
    *,
    graph: Graph | None,
    crawl_folder: Path | None,
) -> BaseOrdering:
    """Raises ``BadInput``. ``crawl_folder`` is None in a rehearsal; only an ordering that needs targets sees them."""
    context = context_of(topic, options, judge, prior_pages, graph=graph, crawl_folder=crawl_folder)
    return make_ordering(options.ordering, context, options.ordering_parameters)


def context_of(
    topic: Topic,
    options: Options,
    judge: TopicJudge,
    prior_pages: PriorPages,
    *,
    graph: Graph | None,
    crawl_folder: Path | None,
) -> OrderingContext:
    """What the ordering of ``topic`` may know before the crawl. Raises and takes the same as ``choose_ordering``."""
    cls = ordering_class(options.ordering)
    judgments = read_judgments(crawl_folder) if cls.reads_examples and crawl_folder else {}
    wanted = cls.reads_examples and bool(topic.positive or topic.negative or judgments)
    examples = prior_pages.examples(crawl_folder) if wanted else None
    return OrderingContext(
        topic=dataclasses.replace(topic, targets=()),
        judge=judge,
        random=Random(options.crawl_seed),
        graph=graph if cls.needs_targets else None,
        targets=topic.targets if cls.needs_targets else (),
        archive=prior_pages.named or (prior_pages.rehearsed if cls.needs_archive else None),
        positive=examples.positive(topic) if examples else (),
        negative=examples.negative(topic) if examples else (),
        said_relevant=examples.found(url for url, said in judgments.items() if said) if examples else (),
        said_irrelevant=examples.found(url for url, said in judgments.items() if not said) if examples else (),
    )


def parameters_in_use(options: Options) -> dict[str, Any]:
    """The parameters that the ordering runs with: given ones, as numbers, over defaults."""
    given, own = options.ordering_parameters, parameters_of(ordering_class(options.ordering))
    return {name: type(default)(given.get(name, default)) for name, default in own.items()}
