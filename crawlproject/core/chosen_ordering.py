"""The ordering that ``ORDERING`` names, with what it may know before the crawl."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from crawlproject.core.prior_pages import PriorPages
from crawlproject.options import Options
from crawlproject.orderings.base import BaseOrdering, Graph, OrderingContext
from crawlproject.orderings.registry import make_ordering, ordering_class, parameters_of
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Topic


@dataclass(frozen=True)
class PriorKnowledge:
    """What the ordering of a crawl may know before it begins. ``crawl_folder`` is None in a rehearsal.

    ``judgments`` reads what a person has said of pages, by URL: an ordering that is made later knows more.
    """

    options: Options
    judge: TopicJudge
    pages: PriorPages
    graph: Graph | None
    crawl_folder: Path | None
    judgments: Callable[[], Mapping[str, bool]]

    def judged_by(self, judge: TopicJudge) -> PriorKnowledge:
        """The same for another topic of the crawl."""
        return replace(self, judge=judge, pages=self.pages.judged_by(judge))

    def context(self, topic: Topic) -> OrderingContext:
        """For the ordering of ``topic``; only an ordering that needs targets sees them. Raises ``BadInput``."""
        options, cls = self.options, ordering_class(self.options.ordering)
        judgments = self.judgments() if cls.reads_examples and self.crawl_folder else {}
        wanted = cls.reads_examples and bool(topic.positive or topic.negative or judgments)
        examples = self.pages.examples(self.crawl_folder) if wanted else None
        return OrderingContext(
            topic=replace(topic, targets=()),
            judge=self.judge,
            random=Random(options.crawl_seed),
            graph=self.graph if cls.needs_targets else None,
            targets=topic.targets if cls.needs_targets else (),
            archive=self.pages.named or (self.pages.rehearsed if cls.needs_archive else None),
            positive=examples.positive(topic) if examples else (),
            negative=examples.negative(topic) if examples else (),
            said_relevant=examples.found(url for url, said in judgments.items() if said) if examples else (),
            said_irrelevant=examples.found(url for url, said in judgments.items() if not said) if examples else (),
        )


def choose_ordering(topic: Topic, known: PriorKnowledge) -> BaseOrdering:
    """The ordering that ``ORDERING`` names. Raises ``BadInput``."""
    return make_ordering(known.options.ordering, known.context(topic), known.options.ordering_parameters)


def parameters_in_use(options: Options) -> dict[str, Any]:
    """The parameters that the ordering runs with: given ones, as numbers, over defaults."""
    given, own = options.ordering_parameters, parameters_of(ordering_class(options.ordering))
    return {name: type(default)(given.get(name, default)) for name, default in own.items()}
