"""Does the companion suggest relevant pages before a person reaches them? Simulated readers on a virtual web.

    python -m benchmarks.companion sample topics/demo*.toml
    python -m benchmarks.companion WEB.warc.gz TOPIC.toml... --readers 2 --clicks 30 --json companion.json

A reader starts at a seed of the topic and clicks on the link whose text is most like the keywords of the topic, with noise
(``--noise``: the scale of a Gumbel variable that is added to a cosine); now and then, and where no link is left, the reader goes
back. A reader stays 40 to 180 seconds on a target of the topic and 5 to 25 on any other page, and saves one target in seven. The
companion knows nothing of topic and targets: only URLs, terms and seconds. Walks do not depend on suggestions, so that every
policy sees the same ones.

Shown for each policy, as means over topics:

- ``early``: share of the targets that the reader reached which had been suggested one to three clicks before;
- ``precision``: share of the suggested pages that are targets, each counted once a walk;
- ``found``: targets that were suggested, reached by the reader or not, a walk;
- ``fetches``: a page at hand, robots.txt included.

``anchors`` looks at no page: it suggests the links of the page at hand whose text, and what stands around it, is most like the
interests. Every other policy is an ordering. The paired t-test over topics is one-tailed, adjusted after Holm.
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
from crawlproject.evaluation.simulation.run import Rehearsal
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

NONE = "anchors"
POLICIES = (NONE, "breadth_first", "best_first", "dom", "shark_search", "adaptive")
MEASURES = ("early", "precision", "found", "fetches")
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
    """A page that the reader opens, for so many seconds."""

    page: Page
    seconds: float
    is_target: bool
    saved: bool


def walk(web: ReadersWeb, topic: Topic, judge: TopicJudge, start: str, clicks: int, noise: float, random: Random) -> list[Step]:
    """The pages that one reader opens."""
    targets = set(topic.targets)
    page = web.page(start)
    steps: list[Step] = []
    path: list[Page] = []
    opened: set[str] = set()
    while page is not None and len(steps) <= clicks:
        is_target = page.url in targets
        first = page.url not in opened
        opened.add(page.url)
        seconds = random.uniform(40, 180) if is_target and first else random.uniform(5, 25)
        steps.append(Step(page, seconds, is_target and first, is_target and first and random.random() < SAVES))
        going_back = random.random() < BACK and path
        chosen = None if going_back else _click(web, page, judge, opened, noise, random)
        if chosen is None:
            page = path.pop() if path else None
        else:
            path.append(page)
            page = chosen
    return steps


def _click(
    web: ReadersWeb, page: Page, judge: TopicJudge, opened: set[str], noise: float, random: Random
) -> Page | None:
    gumbel = [-math.log(-math.log(random.random() or 0.5)) for _ in page.links]
    scored = [
        (judge.span_score(page.terms, link.anchor_span) + noise * chance, link.url)
        for link, chance in zip(page.links, gumbel, strict=True)
        if link.url not in opened
    ]
    for _, url in sorted(scored, reverse=True)[:20]:
        found = web.page(url)
        if found is not None and found.url not in opened:
            return found
    return None


class PagesAsJudged:
    """The pages of a rehearsal with the scores that the present keywords give."""

    def __init__(self, cache: PageCache, judged: Callable[[Page], Page]) -> None:
        self._cache = cache
        self._judged = judged

    def get(self, url: str) -> tuple[Reply, Page | None]:
        reply, page = self._cache.get(url)
        return reply, self._judged(page) if page else None


def accompany(web: ReadersWeb, steps: Sequence[Step], policy: str, options: Options, agent: str) -> list[set[str]]:
    """What is suggested during each step, and last the number of fetches."""
    looks = policy != NONE
    chosen = options.model_copy(update={"ordering": policy if looks else "breadth_first"})
    with tempfile.TemporaryDirectory() as folder:
        rehearsal = Rehearsal(
            NO_TOPIC,
            chosen,
            web.cache.web,
            agent=agent,
            folder=Path(folder),
            concurrency=4,
            open_crawl=partial(assemble, choose=choose_following),
        )
        crawl = rehearsal.crawl
        pace = AheadPace(options.companion_fetches if looks else 0, options.companion_rate)
        ahead = LookAhead(crawl, pace, options.companion_clicks)
        analyzer = web.cache.reader.analyzer
        companion = Companion(ahead, Profile(), analyzer, lambda profile: None, most=options.companion_suggestions)
        pages = PagesAsJudged(web.cache, ahead.following.judged)
        shown: list[set[str]] = []
        for step in steps:
            now = rehearsal.now
            companion.open(step.page.url, step.page.title, step.page.counts, {}, now)
            if not looks:
                ahead.following.frequencies.observe(step.page.counts)
            _pass(rehearsal, pages, now + step.seconds)
            companion.stay(step.page.url, step.seconds, rehearsal.now)
            if step.saved:
                companion.judge(step.page.url, "saved", rehearsal.now)
            opened = {known.page.url for known in steps[: len(shown) + 1]}
            found = [each.url for each in companion.suggestions()] if looks else _anchors(companion, step.page, opened, options)
            shown.append({*found})
        rehearsal.close()
        shown.append({str(number) for number in range(pace.total)})
        return shown


def _anchors(companion: Companion, page: Page, opened: set[str], options: Options) -> list[str]:
    interests: Interests = companion.interests
    frequencies = companion.ahead.following.frequencies
    scored: dict[str, float] = {}
    for link in page.links:
        counts = Counter(page.terms[link.context_span.start : link.context_span.end])
        counts.update(page.terms[link.anchor_span.start : link.anchor_span.end])
        likeness = interests.likeness(page_vector(counts, frequencies)) if counts else 0.0
        if likeness > 0 and link.url not in opened:
            scored[link.url] = max(likeness, scored.get(link.url, 0.0))
    return sorted(scored, key=lambda url: -scored[url])[: options.companion_suggestions]


def _pass(rehearsal: Rehearsal, pages: PagesAsJudged, until: float) -> None:
    """Crawl until that time."""
    while True:
        if rehearsal.begin_fetch(pages):  # type: ignore[arg-type]
            continue
        event = rehearsal.next_event()
        if event is None or event > until:
            rehearsal.pass_time(until)
            return
        rehearsal.pass_time(event)


def measures(steps: Sequence[Step], shown: Sequence[set[str]], targets: set[str]) -> dict[str, float]:
    """The measures of one walk; NaN where there is nothing to measure."""
    *suggested, fetches = shown
    reached = [number for number, step in enumerate(steps) if step.is_target and number]
    early = [
        any(steps[number].page.url in suggested[before] for before in range(max(0, number - EARLY), number))
        for number in reached
    ]
    pages = set().union(*suggested)
    return {
        "early": fmean(early) if early else math.nan,
        "precision": len(pages & targets) / len(pages) if pages else math.nan,
        "found": float(len(pages & targets)),
        "fetches": len(fetches) / len(steps),
    }


def run(web_name: str, topics: Sequence[Topic], policies: Sequence[str], arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
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
            for reader in range(arguments.readers):
                random = Random(f"{topic.name} {reader}")
                start = topic.seeds[reader % len(topic.seeds)]
                steps = walk(readers_web, topic, judge, start, arguments.clicks, arguments.noise, random)
                if not any(step.is_target for step in steps[1:]):
                    continue
                for policy in policies:
                    shown = accompany(readers_web, steps, policy, options, agent)
                    found = measures(steps, shown, {*topic.targets})
                    yield {"topic": topic.name, "reader": reader, "policy": policy, "steps": len(steps), **found}
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
    """The table: means over topics ± standard error, and how likely the gain over ``baseline`` is by chance."""
    yield f"{'policy':<14}" + "".join(f"{measure:>18}" for measure in MEASURES) + f"{'p (early)':>12}{'p (found)':>12}"
    tests: dict[str, list[float | None]] = {}
    rivals = [policy for policy in policies if policy != baseline]
    for measure in ("early", "found"):
        base = by_topic(lines, baseline, measure)
        pairs = [by_topic(lines, policy, measure) for policy in rivals]
        both = [[topic for topic in base if topic in found] for found in pairs]
        tests[measure] = holm([
            paired_t_test([found[topic] for topic in shared], [base[topic] for topic in shared]).p
            for found, shared in zip(pairs, both, strict=True)
        ])  # fmt: skip
    for policy in policies:
        cells = []
        for measure in MEASURES:
            values = [*by_topic(lines, policy, measure).values()]
            cells.append(f"{fmean(values):.3f} ±{float(standard_error(values)):.3f}" if values else "-")
        shown = [tests[measure][rivals.index(policy)] if policy in rivals else None for measure in ("early", "found")]
        yield f"{policy:<14}" + "".join(f"{cell:>18}" for cell in cells) + "".join(
            f"{'' if p is None else f'{p:.4f}':>12}" for p in shown
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("web")
    parser.add_argument("topics", nargs="+", type=Path)
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--readers", type=int, default=2, help="walks a topic, each from another seed (default: 2)")
    parser.add_argument("--clicks", type=int, default=30, help="of a walk (default: 30)")
    parser.add_argument("--noise", type=float, default=0.1, help="of the reader's choice (default: 0.1)")
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
