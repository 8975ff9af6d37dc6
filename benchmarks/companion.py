"""Does the companion suggest relevant pages before a person reaches them? Simulated readers on a virtual web.

    python -m benchmarks.companion sample topics/demo*.toml
    python -m benchmarks.companion WEB.warc.gz TOPIC.toml... --readers 2 --clicks 30 --json companion.json

A reader starts at a seed of the topic and clicks on the link whose text is most similar to the keywords of the topic, with noise
(``--noise``: the scale of a Gumbel variable that is added to a cosine). Now and then, and when no link is left, the reader goes
back. A reader stays 40 to 180 seconds on a target of the topic and 5 to 25 on any other page, and saves one target in seven. The
companion knows neither topic nor targets, only URLs, terms and seconds. By default walks do not depend on suggestions, so that
all policies see the same walks. With ``--follow P`` the reader opens the best suggestion with probability P.

Shown for each policy, as means over topics:

- ``early``: share of the targets the reader reached that had been suggested one to three clicks before; ``early2``: two or
  three;
- ``precision``: share of the suggested pages that are targets, each counted once a walk;
- ``found``: targets that were suggested in a walk, whether the reader reached them or not;
- ``read``: targets that the reader reached;
- ``fetches``: fetches for each page the reader opens, robots.txt included.

``none`` suggests nothing. ``anchors`` fetches no page: it suggests the links of the current page whose text and surrounding
words are most similar to the interests. Every other policy is an ordering of the look-ahead.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

from benchmarks.companion_walk import ANCHORS, NONE, accompany
from benchmarks.simulated_reader import Reader, Step
from crawlproject import settings as defaults
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.companion.look_ahead import SETTINGS
from crawlproject.configuration import read_options
from crawlproject.core.reading import topic_in_canonical_urls
from crawlproject.evaluation.significance import holm, paired_t_test, standard_error
from crawlproject.evaluation.simulation.runner import read_pages
from crawlproject.pages.text.relevance import make_judge
from crawlproject.records import Topic
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import make_canonicalizer
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import ArchivedPages, PageCacheFolder

POLICIES = (NONE, ANCHORS, "breadth_first", "best_first", "dom", "shark_search", "adaptive")
MEASURES = ("early", "early2", "precision", "found", "read", "fetches")
TESTED = ("early", "early2", "precision", "found", "read")
EARLY = 3  # clicks


def measures(steps: Sequence[Step], suggested: Sequence[set[str]], fetches: int, targets: set[str]) -> dict[str, float]:
    """The measures of one walk; NaN for a measure with no data."""
    reached = [number for number, step in enumerate(steps) if step.is_target and number]

    def were_suggested(least: int) -> float:
        """The share of targets that had been suggested at least ``least`` and at most ``EARLY`` clicks before."""
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
    """Yield a line for each topic, reader and policy."""
    agent = defaults.USER_AGENT
    fixed = {**SETTINGS, "TRAP_MAX_DEPTH": arguments.ahead, "COMPANION_CLICKS": arguments.ahead}
    fixed |= {"COMPANION_FETCHES": arguments.fetches, "CRAWL_DIR": ""}
    options = read_options(fixed)
    canonicalize = make_canonicalizer(options)
    with closing(open_web(web_name, cache_dir=cache_dir())) as web:
        cache = read_pages(web, "en", options, PageCacheFolder(cache_dir(), web_name), agent=agent)
        pages = ArchivedPages(cache, cache, canonicalize)
        for named in topics:
            topic = topic_in_canonical_urls(named, canonicalize)
            topic = replace(topic, targets=tuple(page.url for url in topic.targets if (page := pages.page(url))))
            judge = make_judge(topic.keywords, cache.reader.analyzer, options)
            for number, policy in product(range(arguments.readers), policies):
                reader = Reader(pages, topic, judge, number, noise=arguments.noise, follow=arguments.follow)
                shown, fetches = accompany(cache, reader, arguments.clicks, policy, options)
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
    """Yield means over topics ± standard error, then the p-value of each gain over ``baseline``."""
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
