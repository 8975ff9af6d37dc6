"""Does the companion suggest relevant pages before a person reaches them? Simulated readers on a virtual web.

    python -m benchmarks.companion sample topics/demo*.toml
    python -m benchmarks.companion WEB.warc.gz TOPIC.toml... --readers 2 --clicks 30 --json companion.json

A reader starts at a seed of the topic and clicks on the link whose text is most like the keywords of the topic, with noise
(``--noise``: the scale of a Gumbel variable that is added to a cosine); now and then, and where no link is left, the reader goes
back. A reader stays 40 to 180 seconds on a target of the topic and 5 to 25 on any other page, and saves one target in seven. The
companion knows nothing of topic and targets: only URLs, terms and seconds. By default walks do not depend on suggestions, so that
all policies see the same ones. With ``--follow P`` the reader opens the best suggestion with this chance.

Shown for each policy, as means over topics:

- ``early``: share of the targets that the reader reached which had been suggested one to three clicks before; ``early2``: two or
  three;
- ``precision``: share of the suggested pages that are targets, each counted once a walk;
- ``found``: targets that were suggested in a walk, reached by the reader or not;
- ``read``: targets that the reader reached;
- ``fetches``: for each page at hand, robots.txt included.

``none`` suggests nothing. ``anchors`` looks at no page: it suggests the links of the page at hand whose text, and what stands
around it, is most like the interests. Every other policy is an ordering of the look-ahead.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean

from crawlproject import settings as defaults
from crawlproject.companion.companion import Companion
from crawlproject.companion.interests import Interests, page_vector
from crawlproject.companion.look_ahead import NO_TOPIC, SETTINGS, LookAhead, choose_following
from crawlproject.companion.pace import AheadPace
from crawlproject.companion.profile import Profile
from crawlproject.components.subcommand import cache_dir
from crawlproject.crawl.assembly import assemble
from crawlproject.crawl.reading import make_canonicalizer, topic_in_canonical_urls
from crawlproject.evaluation.significance import holm, paired_t_test, standard_error
from crawlproject.evaluation.simulation.run import CrawlSimulation
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.options import Options, read_options
from crawlproject.pages.text.assembly import make_judge
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.records import Page, Topic
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import canonical_or_none
from crawlproject.webs.base import Reply
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCache, location
from crawlproject.webs.page_cache_folder import PageCacheFolder

NONE, ANCHORS = "none", "anchors"
POLICIES = (NONE, ANCHORS, "breadth_first", "best_first", "dom", "shark_search", "adaptive")
MEASURES = ("early", "early2", "precision", "found", "read", "fetches")
TESTED = ("early", "early2", "precision", "found", "read")
EARLY = 3  # clicks
BACK = 0.1  # chance of going back, at any page
SAVES = 1 / 7


class ReadersWeb:
    """What a browser shows at a URL, after redirects."""

    def __init__(self, cache: PageCache, canonicalize: Callable[..., str]) -> None:
        self.cache = cache
        self._canonicalize = canonicalize

    def page(self, url: str) -> Page | None:
        for _ in range(6):
            reply, page = self.cache.get(url)
            if page is not None or not location(reply):
                return page
            target = canonical_or_none(self._canonicalize, location(reply), url)
            if target is None or target == url:
                return None
            url = target
        return None


@dataclass(frozen=True)
class Step:
    """A page that the reader opens, for so many seconds. ``is_target``: of the topic, and opened for the first time."""

    page: Page
    seconds: float
    is_target: bool
    saved: bool


class Reader:
    """One simulated person. Draws the same chances whatever is suggested."""

    def __init__(
        self, web: ReadersWeb, topic: Topic, judge: TopicJudge, number: int, *, noise: float, follow: float
    ) -> None:
        self.steps: list[Step] = []
        self.opened: set[str] = set()
        self._web = web
        self._targets = {*topic.targets}
        self._judge = judge
        self._noise = noise
        self._follow = follow
        self._random = Random(f"{topic.name} {number}")
        self._path: list[Page] = []
        self._page = web.page(topic.seeds[number % len(topic.seeds)])

    def read(self) -> Step | None:
        """Open the next page; None: there is none."""
        page, random = self._page, self._random
        if page is None:
            return None
        found = page.url in self._targets and page.url not in self.opened
        self.opened.add(page.url)
        long, short, saved = random.uniform(40, 180), random.uniform(5, 25), random.random() < SAVES
        step = Step(page, long if found else short, found, found and saved)
        self.steps.append(step)
        return step

    def click(self, suggested: Sequence[str]) -> None:
        """Choose the page that is read next."""
        assert self._page is not None
        random, page = self._random, self._page
        follows, goes_back = random.random() < self._follow, random.random() < BACK
        chances = Random(random.random())
        chosen = self._first(suggested) if follows else None
        if chosen is None and not (goes_back and self._path):
            chosen = self._first(self._links(page, chances))
        if chosen is None:
            self._page = self._path.pop() if self._path else None
        else:
            self._path.append(page)
            self._page = chosen

    def _links(self, page: Page, random: Random) -> list[str]:
        """The links of a page, the most attractive first."""
        scored = [
            (
                self._judge.span_score(page.terms, link.anchor_span)
                - self._noise * math.log(-math.log(random.random() or 0.5)),
                link.url,
            )
            for link in page.links
        ]
        return [url for _, url in sorted(scored, reverse=True) if url not in self.opened][:20]

    def _first(self, urls: Sequence[str]) -> Page | None:
        found = (page for url in urls if (page := self._web.page(url)) is not None)
        return next((page for page in found if page.url not in self.opened), None)


class PagesAsJudged:
    """The pages of a rehearsal with the scores that the present keywords give."""

    def __init__(self, cache: PageCache, judged: Callable[[Page], Page]) -> None:
        self._cache = cache
        self._judged = judged

    def get(self, url: str) -> tuple[Reply, Page | None]:
        reply, page = self._cache.get(url)
        return reply, self._judged(page) if page else None


def accompany(
    web: ReadersWeb, reader: Reader, clicks: int, policy: str, options: Options
) -> tuple[list[set[str]], int]:
    """What is suggested at the end of each step, and the number of fetches."""
    looks = policy not in (NONE, ANCHORS)
    chosen = options.model_copy(update={"ordering": policy if looks else "breadth_first"})
    with tempfile.TemporaryDirectory() as folder:
        rehearsal = CrawlSimulation(
            NO_TOPIC,
            chosen,
            web.cache.web,
            agent=defaults.USER_AGENT,
            folder=Path(folder),
            concurrency=4,
            open_crawl=partial(assemble, choose=choose_following),
        )
        pace = AheadPace(options.companion_fetches if looks else 0, options.companion_rate)
        ahead = LookAhead(rehearsal.crawl, pace, options.companion_clicks)
        analyzer, most = web.cache.reader.analyzer, options.companion_suggestions
        companion = Companion(ahead, Profile(), analyzer, lambda profile: None, most=most)
        pages = PagesAsJudged(web.cache, ahead.following.judged)
        shown: list[set[str]] = []
        while len(shown) <= clicks and (step := reader.read()) is not None:
            companion.open(step.page.url, step.page.title, step.page.counts, {}, rehearsal.now)
            if not looks:
                ahead.following.frequencies.observe(step.page.counts)
            _pass(rehearsal, pages, rehearsal.now + step.seconds)
            companion.stay(step.page.url, step.seconds, rehearsal.now)
            if step.saved:
                companion.judge(step.page.url, "saved", rehearsal.now)
            found = [each.url for each in companion.suggestions()] if looks else []
            if policy == ANCHORS:
                found = _anchors(companion, step.page, reader.opened, most)
            shown.append({*found})
            reader.click(found)
        rehearsal.close()
        return shown, pace.total


def _anchors(companion: Companion, page: Page, opened: set[str], most: int) -> list[str]:
    interests: Interests = companion.interests
    frequencies = companion.ahead.following.frequencies
    scored: dict[str, float] = {}
    for link in page.links:
        counts = Counter(page.terms[link.context_span.start : link.context_span.end])
        counts.update(page.terms[link.anchor_span.start : link.anchor_span.end])
        likeness = interests.likeness(page_vector(counts, frequencies)) if counts else 0.0
        if likeness > 0 and link.url not in opened:
            scored[link.url] = max(likeness, scored.get(link.url, 0.0))
    return sorted(scored, key=lambda url: -scored[url])[:most]


def _pass(rehearsal: CrawlSimulation, pages: PagesAsJudged, until: float) -> None:
    """Crawl until that time."""
    while True:
        if rehearsal.begin_fetch(pages):  # type: ignore[arg-type]
            continue
        event = rehearsal.next_event()
        if event is None or event > until:
            rehearsal.pass_time(until)
            return
        rehearsal.pass_time(event)


def measures(steps: Sequence[Step], suggested: Sequence[set[str]], fetches: int, targets: set[str]) -> dict[str, float]:
    """The measures of one walk; NaN where there is nothing to measure."""
    reached = [number for number, step in enumerate(steps) if step.is_target and number]

    def were_suggested(least: int) -> float:
        """The share that had been suggested so many clicks before, or one or two more."""
        early = [
            any(steps[number].page.url in shown for shown in suggested[max(0, number - EARLY) : number - least + 1])
            for number in reached
        ]
        return fmean(early) if early else math.nan

    pages = set().union(*suggested)
    return {
        "early": were_suggested(1),
        "early2": were_suggested(2),
        "precision": len(pages & targets) / len(pages) if pages else math.nan,
        "found": float(len(pages & targets)),
        "read": float(len(reached)),
        "fetches": fetches / len(steps),
    }


def run(
    web_name: str, topics: Sequence[Topic], policies: Sequence[str], arguments: argparse.Namespace
) -> Iterator[dict[str, object]]:
    """A line for each topic, reader and policy."""
    agent = defaults.USER_AGENT
    fixed = {**SETTINGS, "TRAP_MAX_DEPTH": arguments.ahead, "COMPANION_CLICKS": arguments.ahead}
    fixed |= {"COMPANION_FETCHES": arguments.fetches, "CRAWL_DIR": ""}
    options = read_options(fixed)
    canonicalize = make_canonicalizer(options)
    with closing(open_web(web_name, cache_dir=cache_dir())) as web:
        cache = read_pages(web, "en", options, PageCacheFolder(cache_dir(), web_name), agent=agent)
        readers_web = ReadersWeb(cache, canonicalize)
        for named in topics:
            topic = topic_in_canonical_urls(named, canonicalize)
            topic = replace(topic, targets=tuple(page.url for url in topic.targets if (page := readers_web.page(url))))
            judge = make_judge(topic.keywords, cache.reader.analyzer, options)
            for number, policy in product(range(arguments.readers), policies):
                reader = Reader(readers_web, topic, judge, number, noise=arguments.noise, follow=arguments.follow)
                shown, fetches = accompany(readers_web, reader, arguments.clicks, policy, options)
                found = measures(reader.steps, shown, fetches, {*topic.targets})
                yield {"topic": topic.name, "reader": number, "policy": policy, "steps": len(reader.steps), **found}
        cache.flush()
        cache.close()


def by_topic(lines: Sequence[Mapping[str, object]], policy: str, measure: str) -> dict[str, float]:
    """The mean over the readers of each topic."""
    values: dict[str, list[float]] = {}
    for line in lines:
        if line["policy"] == policy and not math.isnan(value := float(str(line[measure]))):
            values.setdefault(str(line["topic"]), []).append(value)
    return {topic: fmean(found) for topic, found in values.items()}


def summary(lines: Sequence[Mapping[str, object]], policies: Sequence[str], baseline: str) -> Iterator[str]:
    """Means over topics ± standard error, then how likely each gain over ``baseline`` is by chance."""
    yield f"{'policy':<14}" + "".join(f"{measure:>16}" for measure in MEASURES)
    for policy in policies:
        means = [[*by_topic(lines, policy, measure).values()] for measure in MEASURES]
        cells = [f"{fmean(values):.3f} ±{float(standard_error(values)):.3f}" if values else "-" for values in means]
        yield f"{policy:<14}" + "".join(f"{cell:>16}" for cell in cells)
    rivals = [policy for policy in policies if policy != baseline]
    yield f"p of a gain over {baseline}, paired t-test over topics, Holm"
    tests = [holm([_gain(lines, policy, baseline, measure) for policy in rivals]) for measure in TESTED]
    for policy, *found in zip(rivals, *tests, strict=True):
        yield f"{policy:<14}" + "".join(
            f"{f'{measure} -' if p is None else f'{measure} {p:.4f}':>20}"
            for measure, p in zip(TESTED, found, strict=True)
        )


def _gain(lines: Sequence[Mapping[str, object]], policy: str, baseline: str, measure: str) -> float | None:
    better, worse = by_topic(lines, policy, measure), by_topic(lines, baseline, measure)
    shared = [topic for topic in worse if topic in better]
    return paired_t_test([better[topic] for topic in shared], [worse[topic] for topic in shared]).p


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--readers", type=int, default=2, help="walks a topic, each from another seed (default: 2)")
    parser.add_argument("--clicks", type=int, default=30, help="of a walk (default: 30)")
    parser.add_argument("--noise", type=float, default=0.1, help="of the reader's choice (default: 0.1)")
    parser.add_argument(
        "--follow", type=float, default=0.0, help="chance that the reader follows a suggestion (default: 0)"
    )
    parser.add_argument("--fetches", type=int, default=defaults.COMPANION_FETCHES, help="a page at hand")
    parser.add_argument("--ahead", type=int, default=defaults.COMPANION_CLICKS, help="clicks that are looked ahead")
    parser.add_argument("--baseline", default="breadth_first", help="policy that the tests compare with")
    parser.add_argument("--json", type=Path, help="file for the lines, one a walk and policy")
    arguments = parser.parse_args()
    topics = [load_topic(path) for path in arguments.topics]
    lines = []
    for line in run(arguments.web, topics, arguments.policies, arguments):
        lines.append(line)
        print(f"\r{len(lines)} walks", end="", file=sys.stderr)
    print(file=sys.stderr)
    if arguments.json:
        arguments.json.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    print(f"{len({line['topic'] for line in lines})} topics, {len(lines) // len(arguments.policies)} walks")
    print("\n".join(summary(lines, arguments.policies, arguments.baseline)))


if __name__ == "__main__":
    main()
