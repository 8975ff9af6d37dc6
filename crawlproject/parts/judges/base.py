"""The contract of a judge: texts in, their relevance out; ``tests/contract`` runs the same tests on each judge.

``AppointedJudge`` (``appointed.py``) calls the judge, and judges by the keywords if there is no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import ClassVar, NamedTuple

from crawlproject.core.prior_knowledge import PriorKnowledge
from crawlproject.errors import NoAnswer as NoAnswer
from crawlproject.options import Options
from crawlproject.orderings.base import OrderingContext, PageArchive
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Topic


class Text(NamedTuple):
    """What is judged: a page, or the context of a link.

    ``counts`` are its terms (stems without stop words) and how often each occurs. ``text``, ``title`` and ``url`` are those of a
    page, as a reader sees them. ``text`` and ``title`` are empty for the context of a link, and in a rehearsal unless the judge
    ``needs_text``.
    """

    counts: Mapping[str, int]
    text: str = ""
    title: str = ""
    url: str = ""

    @classmethod
    def of(cls, page: Page) -> Text:
        return cls(page.counts, page.text, page.title, page.url)


@dataclass(frozen=True)
class Given:
    """What a judge is made from. ``cheap`` judges by the keywords."""

    topic: Topic
    options: Options
    cheap: TopicJudge
    _known: PriorKnowledge = field(repr=False)

    @classmethod
    def of(cls, topic: Topic, known: PriorKnowledge) -> Given:
        return cls(topic, known.options, known.judge, known)

    @cached_property
    def examples(self) -> OrderingContext:
        """The example pages of the topic file, the pages that a person has judged, and the archive. Raises ``BadTopic``.

        Pages are judged by ``cheap``. The archive is the web that ``ORDERING_ARCHIVE`` names; in a rehearsal without that
        setting, the rehearsed web.
        """
        known, topic = self._known, self.topic
        judgments = known.judgments() if known.crawl_folder else {}
        reader = known.pages.examples(known.crawl_folder)
        archive: PageArchive | None = known.pages.named or known.pages.rehearsed
        return OrderingContext(
            topic=topic,
            judge=self.cheap,
            random=Random(self.options.crawl_seed),
            archive=archive,
            positive=reader.positive(topic),
            negative=reader.negative(topic),
            said_relevant=reader.found(url for url, said in judgments.items() if said),
            said_irrelevant=reader.found(url for url, said in judgments.items() if not said),
        )


class Judge:
    """Judges how relevant texts are to a topic. The constructor takes a ``Given``, and raises ``BadInput``."""

    asks: ClassVar[bool] = False
    """Whether an answer may take more than a few milliseconds: then ``judge`` is called in threads, and the page waits."""
    judges_links: ClassVar[bool] = False
    """Whether it is quick enough for the context of each link, of which a page has a hundred; else the keywords judge them."""
    needs_text: ClassVar[bool] = False
    """Whether it looks at ``Text.text``: a rehearsal, which knows the terms of pages, then reads each once more."""

    def __init__(self, given: Given) -> None:
        self.given = given

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        """The relevance of each text, 0 to 1. Equal texts have equal relevance. Raises ``NoAnswer``; any other exception, and
        any number outside the range, is treated in the same way.
        """
        raise NotImplementedError

    def first(self, page: Page) -> float:
        """The relevance of a page without an answer of the judge; by default, by the keywords."""
        return self.given.cheap.relevance(page.counts)

    def wants(self, first: float) -> bool:
        """Whether to ask the judge about a page whose relevance is ``first`` without it."""
        return True

    def counters(self) -> Mapping[str, int]:
        """More counters of the running crawl, by the ends of their names."""
        return {}

    def keep_in(self, folder: Path) -> None:
        """Use the crawl folder, for a judge that stores its answers. Called once, before the first question."""

    def close(self) -> None:
        """Release resources: the crawl is over."""
