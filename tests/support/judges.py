"""Judges for a topic on coral reefs, built as a crawl builds them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crawlproject.assembly import choose_judge
from crawlproject.configuration import read_options
from crawlproject.core.prior_knowledge import PriorKnowledge, PriorPages
from crawlproject.core.reading import make_reader
from crawlproject.pages.text.relevance import TopicJudge, make_judge
from crawlproject.records import Page, Topic
from crawlproject.urls.canonical import make_canonicalizer
from support.pages import ANALYZER, DictArchive, a_text_page

REEF = "http://a.example/reef"
TOPIC = Topic("reefs", ("coral reef", "polyps"), ("http://seed.example/",), positive=(REEF,))
ARCHIVE = DictArchive(
    a_text_page(REEF, "an atoll is a ring of coral reef around a lagoon", relevance=0.5),
    *(a_text_page(f"http://b.example/{n}", f"the boiler of steam engine {n} on the railway") for n in range(4)),
)


def a_judge(name: str, rehearsals: Path | None, topic: Topic = TOPIC, **settings: object) -> TopicJudge:
    """A judge that waits for answers if ``rehearsals`` is a folder."""
    options = read_options({"TOPIC_RELEVANCE": name, **settings})
    by_words = make_judge(topic.keywords, ANALYZER, options)
    canonicalize = make_canonicalizer(options)
    reader = make_reader(options, ANALYZER, canonicalize)
    prior = PriorPages(options, by_words, canonicalize, lambda: reader, cache_dir=Path(), rehearsed=ARCHIVE)
    return choose_judge(topic, PriorKnowledge(options, by_words, prior, None, None, dict), rehearsals)


def a_read_page(text: str, url: str = "http://c.example/") -> Page:
    """A page with this text, read as in a crawl."""
    return replace(a_text_page(url, text), text=text)


def relevance(judge: TopicJudge, text: str) -> float:
    return judge.with_relevance(a_read_page(text)).relevance
