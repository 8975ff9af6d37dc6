"""Finds the weaknesses of a topic before a page budget is spent on it, and reports them as text or JSON.

``weak_as_written`` needs only the topic; ``weak_as_fetched`` examines its seeds and a sample of the pages they link to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import orjson

from crawlproject.configuration import program
from crawlproject.options import Options
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.keyword_match import KeywordMatcher
from crawlproject.pages.text.printable import counted, printable
from crawlproject.records import NEEDS_BROWSER, UNFOLLOWED, Page, Topic, Visit
from crawlproject.urls.hosts import host_of

FEW_SEEDS = 3
NO_SUCH_HOST = "host/unknown"  # why a seed was not fetched
ENOUGH = 10  # smallest sample from which shares are computed
MANY = 30  # pages after which every keyword should have been seen
EVERYWHERE = 0.8  # a keyword on at least this share of the sample is too common
ALL_RELEVANT = 0.9  # if at least this share of the sample is relevant, the threshold is too low
Grade = Literal["problem", "warning", "hint"]

_BROWSER = 'set CRAWL_RENDER = "needed" (docs/scripts.md)'
_MARKS = {"problem": "✗", "warning": "!", "hint": "·"}


@dataclass(frozen=True, slots=True)
class Weakness:
    """``subject`` is a field of the topic file or a URL, ``what`` the weakness, and ``advice`` a possible remedy."""

    grade: Grade
    subject: str
    what: str
    advice: str


@dataclass(frozen=True, slots=True)
class SeedPreview:
    """A fetched URL. ``visit`` is None if it was not fetched, and ``refusal`` says why ("": timeout); ``why`` says in words
    why there is no page, if there are words for it.

    ``landed`` is the end of its redirects, ``page`` the judged page found there, or None.
    """

    url: str
    visit: Visit | None = None
    refusal: str = ""
    landed: str = ""
    page: Page | None = None
    why: str = ""


def weak_as_written(topic: Topic, options: Options, analyzer: Analyzer) -> Iterator[Weakness]:
    """The weaknesses that are visible without fetching. Seeds and targets of ``topic`` must be canonical and distinct."""
    yield from _weak_keywords(topic, analyzer)
    hosts = {host_of(seed) for seed in topic.seeds}
    if len(topic.seeds) < FEW_SEEDS:
        what = f"only {len(topic.seeds)}: pages that cannot be reached from there are not found"
        yield Weakness(
            "warning", "seeds", what, f"name a few good pages of different sites; `{program} seeds` adds hubs"
        )
    elif len(hosts) == 1:
        what = f"all on {next(iter(hosts))}"
        yield Weakness("warning", "seeds", what, "a single host is crawled slowly; add pages of other sites")
    both = set(topic.seeds) & set(topic.targets)
    if both:
        what = f"{len(both)} of them are seeds"
        yield Weakness("hint", "targets", what, "these are found at once; remove them from one of the two lists")
    if not (options.crawl_max_pages or options.crawl_max_seconds or options.crawl_min_harvest):
        what = "no page budget: on the live web the crawl runs until you stop it"
        yield Weakness("hint", "CRAWL_MAX_PAGES", what, "set it in [crawl], for example CRAWL_MAX_PAGES = 2000")


def _weak_keywords(topic: Topic, analyzer: Analyzer) -> Iterator[Weakness]:
    spelled: dict[tuple[str, ...], str] = {}
    for keyword in topic.keywords:
        terms = tuple(analyzer.terms(keyword))
        if not terms:
            what = f"{keyword!r} consists of stop words only, which match nothing"
            yield Weakness("warning", "keywords", what, "remove it, or rephrase it")
        elif terms in spelled:
            what = f"{keyword!r} and {spelled[terms]!r} are the same to the crawler, which reduces words to their stems"
            yield Weakness("hint", "keywords", what, "remove one of them")
        else:
            spelled[terms] = keyword
    words = {term for terms in spelled for term in terms}
    if not words:
        yield Weakness("problem", "keywords", "no term is left of them", "use words that occur on good pages")
    elif len(words) == 1:
        what = "only one word: every page that repeats it looks relevant"
        yield Weakness("warning", "keywords", what, "add words that occur on the same pages")


def weak_as_fetched(
    topic: Topic, options: Options, analyzer: Analyzer, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview]
) -> Iterator[Weakness]:
    """The weaknesses that show in the seeds and in a sample of the pages they link to."""
    if len(seeds) > 1 and all(seed.refusal == NO_SUCH_HOST for seed in seeds):
        yield Weakness(
            "problem", "seeds", "none of their hosts can be found", "is this machine connected to a network?"
        )
        return
    for seed in seeds:
        yield from _weak_seed(seed, topic, options)
    found = [seed.page for seed in seeds if seed.page is not None]
    if not found:
        yield Weakness("problem", "seeds", "none of them is a page, so nothing can be crawled", "name pages that exist")
        return
    if not any(page.links for page in found):
        yield Weakness("problem", "seeds", "none of them has a link to follow", "name pages with links")
    behind = [probed.page for probed in sample if probed.page is not None]
    yield from _weak_words(topic, analyzer, found, behind)
    unread = sum(probed.visit is not None and probed.visit.error == NEEDS_BROWSER for probed in (*seeds, *sample))
    if unread:
        what = (
            f"{unread} of {len(seeds) + len(sample)} fetched pages need a browser: they are not judged, and not stored"
        )
        yield Weakness("hint", "scripts", what, f"{_BROWSER}, or add seeds on sites that do without")
    relevant = sum(page.relevance >= options.page_relevant for page in behind)
    if len(behind) >= ENOUGH and relevant >= ALL_RELEVANT * len(behind):
        what = f"{relevant} of {len(behind)} sampled pages count as relevant"
        advice = (
            f"the threshold is too low: raise PAGE_RELEVANT ({options.page_relevant:g}), or use more specific keywords"
        )
        yield Weakness("hint", "PAGE_RELEVANT", what, advice)


def _weak_seed(seed: SeedPreview, topic: Topic, options: Options) -> Iterator[Weakness]:
    trouble = _trouble(seed)
    if trouble:
        yield Weakness("warning", seed.url, *trouble)
        return
    page = seed.page
    assert page is not None, "a seed that can be read has a page"
    if page.relevance < options.page_relevant:
        what = f"off the topic: similarity {page.relevance:.3f}, below PAGE_RELEVANT = {options.page_relevant:g}"
        yield Weakness(
            "warning",
            seed.url,
            what,
            "fine for a list of links; otherwise choose a page about the keywords, or add words of the page to them",
        )
    language = page.language.lower().replace("_", "-").split("-")[0]
    if language and language != topic.language.split("-")[0]:
        what = f"declares the language {page.language!r}, but the language of the topic is {topic.language!r}"
        yield Weakness("warning", seed.url, what, f'set language = "{language}", or choose another page')
    if UNFOLLOWED in page.signs:
        what = f"asks that none of its {counted(int(page.signs[UNFOLLOWED]), 'link')} is followed (nofollow)"
        yield Weakness(
            "warning", seed.url, what, "choose another page, or set PAGE_OBEY_META_ROBOTS to False if it is yours"
        )
    elif not page.links:
        yield Weakness("hint", seed.url, "has no link to follow", "the crawl can find no other pages from it")
    if seed.landed and host_of(seed.landed) != host_of(seed.url):
        yield Weakness("hint", seed.url, f"leads to another site: {seed.landed}", "name that URL itself")


def _trouble(seed: SeedPreview) -> tuple[str, str] | None:
    """Why a seed is not a page, and a possible remedy; None if it is a page."""
    if seed.visit is None and not seed.refusal:
        return "timed out", "try again, or open it in a browser"
    words = f"{seed.why} ({{}})" if seed.why else "{}"
    if seed.visit is None:
        if seed.refusal == NO_SUCH_HOST:
            return "its host cannot be found", "check how it is spelled"
        if seed.refusal == "robots/unreachable":
            return "its server does not answer", "open it in a browser; if it works there, try again"
        if seed.refusal.startswith("robots/"):
            return f"is refused: {words.format(seed.refusal)}", "choose a page that robots.txt lets crawlers fetch"
        return (
            f"is refused: {words.format(seed.refusal)}",
            "choose another page, or change the setting behind it (docs/crawl-folder.md)",
        )
    if seed.visit is not None and seed.visit.error == NEEDS_BROWSER:
        return "needs a browser: its text is made by scripts", f"{_BROWSER}, or choose a page with text"
    if seed.page is None:
        outcome = seed.visit.error or f"http {seed.visit.status}"
        return f"is not a page: {words.format(outcome)}", "choose a page that exists"
    return None


def _weak_words(topic: Topic, analyzer: Analyzer, seeds: Sequence[Page], behind: Sequence[Page]) -> Iterator[Weakness]:
    keywords = KeywordMatcher(topic.keywords, analyzer)
    on_seeds, pages_with = (
        Counter(keyword for page in pages for keyword in keywords.occurrences(page.terms, page.counts))
        for pages in (seeds, behind)
    )
    for keyword in topic.keywords:
        if not analyzer.terms(keyword):
            continue
        if not on_seeds[keyword] and not pages_with[keyword]:
            seen = len(seeds) + len(behind)
            what = f"{keyword!r} occurs on none of the {counted(seen, 'page')} that were looked at"
            advice = "check its spelling; or the seeds are about something else"
            if seen < MANY:
                advice = f"it may be on others: --sample {2 * MANY} looks at more; else check its spelling"
            yield Weakness("warning" if seen >= MANY else "hint", "keywords", what, advice)
        elif len(behind) >= ENOUGH and pages_with[keyword] >= EVERYWHERE * len(behind):
            what = f"{keyword!r} occurs on {pages_with[keyword]} of {len(behind)} sampled pages, so it is too common"
            yield Weakness(
                "warning", "keywords", what, "choose words that do not occur on off-topic pages of these sites"
            )


def check_as_text(
    topic: Topic, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview], weaknesses: Sequence[Weakness]
) -> str:
    """A table of the seeds, the weaknesses with advice, and their counts."""
    lines = ["similarity  links  seed"] if seeds else []
    for seed in seeds:
        found = f"{seed.page.relevance:10.3f}  {len(seed.page.links):5}" if seed.page else f"{'-':>10}  {'-':>5}"
        lines.append(f"{found}  {printable(seed.url)}")
    relevance = [preview.page.relevance for preview in sample if preview.page]
    if relevance:
        lines.append(f"{sum(relevance) / len(relevance):10.3f}  mean of {len(relevance)} pages linked from the seeds")
    if seeds:
        lines.append("")
    for weakness in weaknesses:
        lines.append(f"{_MARKS[weakness.grade]} {weakness.subject}: {printable(weakness.what)}")
        lines.append(f"    {printable(weakness.advice)}")
    grades = [weakness.grade for weakness in weaknesses]
    counts = ", ".join(counted(grades.count(grade), grade) for grade in _MARKS if grade in grades)
    return "\n".join([*lines, f"{topic.name}: {counts or 'no weaknesses found'}"])


def check_as_json(
    topic: Topic, seeds: Sequence[SeedPreview], sample: Sequence[SeedPreview], weaknesses: Sequence[Weakness]
) -> str:
    """The seeds, the sample and the weaknesses as a JSON object."""
    found = {
        "topic": topic.name,
        "seeds": [_fields(seed) for seed in seeds],
        "sample": [_fields(preview) for preview in sample],
        "weaknesses": [asdict(weakness) for weakness in weaknesses],
    }
    return orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()


def _fields(preview: SeedPreview) -> dict[str, Any]:
    visit, page = preview.visit, preview.page
    return {
        "url": preview.url,
        "landed": preview.landed,
        "status": visit.status if visit else 0,
        "error": visit.error if visit else preview.refusal or "timeout",
        "relevance": round(page.relevance, 4) if page else None,
        "links": len(page.links) if page else None,
        "language": page.language if page else None,
    }
