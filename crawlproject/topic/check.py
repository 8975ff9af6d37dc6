"""Finds what is weak about a topic before a budget is spent on it.

``weak_as_written`` needs the topic only; ``weak_as_fetched`` looks at its seeds and at a sample of the pages they link to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from crawlproject.options import Options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.records import Page, Topic, Visit
from crawlproject.urls.hosts import host_of

FEW_SEEDS = 3
ENOUGH = 10  # sampled pages from which shares are reported
EVERYWHERE = 0.8  # share of the sampled pages from which a keyword matches everything
ALL_RELEVANT = 0.9  # share of relevant pages among the sampled ones from which the threshold separates nothing

Grade = Literal["problem", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Weakness:
    """``subject`` is a field of the topic file or a URL; ``what`` is wrong with it, and ``advice`` what may help."""

    grade: Grade
    subject: str
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class SeedPreview:
    """A URL that was looked at. ``visit`` is None when it was not fetched, ``refusal`` then says why ("": not in time).

    ``landed`` is where its redirects led, ``page`` what stood there, with its relevance; None when there was no page.
    """

    url: str
    visit: Visit | None = None
    refusal: str = ""
    landed: str = ""
    page: Page | None = None


def weak_as_written(topic: Topic, options: Options, analyzer: Analyzer) -> Iterator[Weakness]:
    """Weaknesses that show without fetching anything. ``topic`` has canonical seeds and targets, each once."""
    yield from _weak_keywords(topic, analyzer)
    hosts = {host_of(seed) for seed in topic.seeds}
    if len(topic.seeds) < FEW_SEEDS:
        what = f"{len(topic.seeds)} only: whatever is not linked from there is not found"
        yield Weakness("warning", "seeds", what, "name a few good pages of different sites; `scrapy seeds` adds hubs")
    elif len(hosts) == 1:
        what = f"all on {next(iter(hosts))}"
        yield Weakness("warning", "seeds", what, "one host at a time is fetched slowly; name pages of other sites, too")
    both = set(topic.seeds) & set(topic.targets)
    if both:
        what = f"{len(both)} of them are seeds"
        yield Weakness("hint", "targets", what, "they are found at once: leave them out of one of the two")
    if not (options.crawl_max_pages or options.crawl_max_seconds or options.crawl_min_harvest):
        what = "no budget: on the live web the crawl ends when you stop it"
        yield Weakness("hint", "CRAWL_MAX_PAGES", what, "set it in [crawl], for example CRAWL_MAX_PAGES = 2000")


def _weak_keywords(topic: Topic, analyzer: Analyzer) -> Iterator[Weakness]:
    spelled: dict[tuple[str, ...], str] = {}
    for keyword in topic.keywords:
        terms = tuple(analyzer.terms(keyword))
        if not terms:
            what = f"{keyword!r} is made of stop words only, which match nothing"
            yield Weakness("warning", "keywords", what, "leave it out, or say it in other words")
        elif terms in spelled:
            what = f"{keyword!r} and {spelled[terms]!r} are the same to the crawler: words are reduced to their stems"
            yield Weakness("hint", "keywords", what, "one of them will do")
        else:
            spelled[terms] = keyword
    words = {term for terms in spelled for term in terms}
    if not words:
        yield Weakness("problem", "keywords", "nothing is left of them", "name words that good pages contain")
    elif len(words) == 1:
        what = "one word: every page that has it often looks relevant"
        yield Weakness("warning", "keywords", what, "add words that the same pages contain")


def weak_as_fetched(
    topic: Topic, options: Options, analyzer: Analyzer, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview]
) -> Iterator[Weakness]:
    """Weaknesses of the seeds, and of a sample of the pages behind their links."""
    for seed in seeds:
        yield from _weak_seed(seed, topic, options)
    found = [seed.page for seed in seeds if seed.page is not None]
    if not found:
        yield Weakness(
            "problem", "seeds", "none of them is a page: nothing can be crawled", "name pages that are there"
        )
        return
    if not any(page.links for page in found):
        yield Weakness("problem", "seeds", "none of them has a link to follow", "name pages that link to others")
    behind = [probed.page for probed in sample if probed.page is not None]
    yield from _weak_words(topic, analyzer, found, behind)
    relevant = sum(page.relevance >= options.page_relevant for page in behind)
    if len(behind) >= ENOUGH and relevant >= ALL_RELEVANT * len(behind):
        what = f"{relevant} of {len(behind)} sampled pages count as relevant"
        advice = (
            f"reports will separate little: raise PAGE_RELEVANT ({options.page_relevant:g}), or sharpen the keywords"
        )
        yield Weakness("hint", "PAGE_RELEVANT", what, advice)


def _weak_seed(seed: SeedPreview, topic: Topic, options: Options) -> Iterator[Weakness]:
    trouble = _trouble(seed)
    if trouble:
        yield Weakness("warning", seed.url, *trouble)
        return
    page = seed.page
    assert page is not None, "no trouble, so there is a page"
    if page.relevance < options.page_relevant:
        what = f"off the topic: similarity {page.relevance:.3f}, below PAGE_RELEVANT = {options.page_relevant:g}"
        yield Weakness(
            "warning",
            seed.url,
            what,
            "good if it is a list of links; else choose a page about the keywords, or add its words to them",
        )
    language = page.language.lower().replace("_", "-").split("-")[0]
    if language and language != topic.language.split("-")[0]:
        what = f"declares the language {page.language!r}, and the topic's is {topic.language!r}"
        yield Weakness("warning", seed.url, what, f'set language = "{language}", or choose another page')
    if not page.links:
        yield Weakness("hint", seed.url, "has no link to follow", "the crawl finds nothing from there")
    if seed.landed and host_of(seed.landed) != host_of(seed.url):
        yield Weakness("hint", seed.url, f"leads to another site: {seed.landed}", "name that URL itself")


def _trouble(seed: SeedPreview) -> tuple[str, str] | None:
    """Why a seed is no page, and what may help; None when it is one."""
    if seed.visit is None and not seed.refusal:
        return "was not reached in time", "try again, or look at it with a browser"
    if seed.visit is None:
        if seed.refusal.startswith("robots/"):
            return f"is refused: {seed.refusal}", "choose a page that robots.txt lets crawlers fetch"
        return (
            f"is refused: {seed.refusal}",
            "choose another page, or change the setting behind it (docs/crawl-folder.md)",
        )
    if seed.page is None:
        return f"is no page: {seed.visit.error or f'http {seed.visit.status}'}", "choose a page that is there"
    return None


def _weak_words(topic: Topic, analyzer: Analyzer, seeds: Sequence[Page], behind: Sequence[Page]) -> Iterator[Weakness]:
    from crawlproject.pages.text.keyword_match import KeywordMatcher  # imports spaCy

    keywords = KeywordMatcher(topic.keywords, analyzer)
    on_seeds, pages_with = (
        Counter(keyword for page in pages for keyword in keywords.occurrences(page.terms, page.counts))
        for pages in (seeds, behind)
    )
    for keyword in topic.keywords:
        if not analyzer.terms(keyword):
            continue
        if not on_seeds[keyword] and not pages_with[keyword]:
            what = f"{keyword!r} is on none of the pages that were looked at"
            yield Weakness("warning", "keywords", what, "mind its spelling; or the seeds are about something else")
        elif len(behind) >= ENOUGH and pages_with[keyword] >= EVERYWHERE * len(behind):
            what = f"{keyword!r} is on {pages_with[keyword]} of {len(behind)} sampled pages: it matches everything"
            yield Weakness("warning", "keywords", what, "choose words that off-topic pages of these sites do not have")
