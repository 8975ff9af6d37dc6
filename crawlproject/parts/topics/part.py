"""Several topics in one crawl: each page is judged for all, each link is worth what it is worth to all together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crawlproject.core.chosen_ordering import PriorKnowledge
from crawlproject.core.kinds.handler import Handler
from crawlproject.core.part import Choice, Part, Setup
from crawlproject.core.services import Services
from crawlproject.core.stopping import TOPICS_HAVE_ENOUGH
from crawlproject.pages.text.printable import counted
from crawlproject.parts.topics.crawl_topics import CrawlTopics
from crawlproject.parts.topics.opening import open_topics
from crawlproject.records import FetchEvent, Page, Topic


class TopicsPart(Part):
    """There where a topic has members; it makes the judge and the ordering then."""

    name = "topics"
    _services: Services

    def __init__(self, topics: CrawlTopics) -> None:
        self.topics = topics

    @classmethod
    def make(cls, setup: Setup) -> TopicsPart | None:
        return None  # ``choose`` makes it

    @classmethod
    def choose(
        cls, topic: Topic, known: PriorKnowledge, folder: Path, canonicalize: Callable[..., str]
    ) -> Choice | None:
        judge, ordering, topics = open_topics(topic, known, folder, canonicalize)
        return Choice(judge, ordering, lambda setup: cls(topics))

    def kinds(self, services: Services) -> Mapping[str, Handler]:
        self._services = services
        return {}

    def restore(self, now: float) -> None:
        self.topics.open(self._services, now)

    def replayed(self) -> None:
        self.topics.replayed()

    def learn(self, event: FetchEvent) -> None:
        if event.visit.number == 1:
            self.topics.learn(event)

    def judge_stored(self, page: Page, judged: Callable[[Page], Page]) -> Page:
        """Also for topics that joined after it was stored."""
        return replace(judged(page), relevance=page.relevance)

    def end_reason(self, now: float) -> str:
        return TOPICS_HAVE_ENOUGH if self.topics.have_enough() else ""

    def progress(self) -> Sequence[str]:
        return list(topic_lines(self.topics.found_by_name(), self._services.folder.path / "topics"))

    def ended(self, *, over: bool) -> None:
        self.topics.close(over=over)


def topic_lines(found: Mapping[str, int], folder: Path) -> Iterator[str]:
    """The result of each topic of several: its relevant pages, and where its report is."""
    for name, pages in found.items():
        yield f"{name}: {counted(pages, 'relevant page')}. Report: {folder / name / 'report.html'}"
