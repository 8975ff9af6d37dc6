"""Coverage against fetches behind search forms: published query selection, ours, and an oracle.

    python benchmarks/deep_web.py [--limit 200] [--scale 1.0] [--sites search] [--post]

Every policy drives the same ``FormSource`` as a crawl does, on generated sites (``benchmarks/deep_web_sites.py``). A fetch is
a result page. The oracle knows every list: at each step it takes the result page that shows the most new (relevant) items;
the pages of a list are taken in order. Finally, the size estimates are compared with the truth.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `python benchmarks/deep_web.py`

from benchmarks.deep_web_sites import PER_PAGE, TOPIC, DeepSite
from benchmarks.twenty_deep_sites import twenty_sites
from crawlproject.pages.html.form_kinds import is_query
from crawlproject.pages.html.forms import read_forms
from crawlproject.pages.reader import Reader
from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.relevance import TopicJudge
from crawlproject.parts.forms.candidates import Shared, SurfaceWords
from crawlproject.parts.forms.fields import ValueTable
from crawlproject.parts.forms.selection import SELECTIONS, make_selection
from crawlproject.parts.forms.source import FormSource
from crawlproject.parts.forms.value_graph import schnabel
from crawlproject.urls.canonical import Canonicalizer
from crawlproject.urls.post import canonical_request

RELEVANT = 0.1  # PAGE_RELEVANT
MARKS = (25, 50, 100, 200, 400)  # fetches at which coverage is shown


class Lab:
    """Holds what all runs share."""

    def __init__(self) -> None:
        self.canonicalize = Canonicalizer()
        self.analyzer = Analyzer("en")
        self.reader = Reader(self.analyzer, canonicalize=self.canonicalize, tag_paths=False)
        self.judge = TopicJudge((TOPIC,), self.analyzer)

    def source(
        self, site: DeepSite, selection: str, *, relevant: float, limit: int, patience: int
    ) -> FormSource | None:
        """The source of a site; None if the site has no query form."""
        reply = site.get(site.home)
        home = self.reader.read(site.home, reply.body)
        forms = [form for form in read_forms(reply.body, site.home) if is_query(form)]
        if not forms:
            return None
        return FormSource(
            forms[0],
            site.home,
            links=[link.url for link in home.links],
            canonicalize=partial(canonical_request, self.canonicalize),
            judge=self.judge,
            relevant=relevant,
            selection=make_selection(selection),
            shared=Shared(self.analyzer, SurfaceWords(self.analyzer), ValueTable(), tuple(TOPIC.split())),
            limit=limit,
            patience=patience,
        )

    def run(self, source: FormSource, site: DeepSite) -> list[tuple[int, int]]:
        """The numbers of known items and of known items about the topic, after each fetch."""
        truth = site.relevant
        curve: list[tuple[int, int]] = []
        known = 0
        on_topic = 0
        urls: list[str] = []
        while (query := source.next()) is not None:
            reply = site.get(query.url)
            page = self.reader.read(query.url, reply.body) if reply.status == 200 else None
            source.answered(query.url, query.parent, page)
            urls = list(source.graph.items)[known:]
            known += len(urls)
            on_topic += sum(url in truth for url in urls)
            curve.append((known, on_topic))
        return curve


def oracle(site: DeepSite, limit: int, *, relevant: bool) -> list[int]:
    """The number of known items after each fetch of the oracle: greedy by page, the pages of a list in order."""
    wanted = [item.relevant or not relevant for item in site.items]
    lists: list[Sequence[int]] = list(site.postings.values()) if site.kind in ("search", "advanced") else []
    by_value: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number in site.order:
        for pair in site.items[number].attributes.items():
            by_value[pair].append(number)
    lists += list(by_value.values())
    pages = [
        [some[at : at + PER_PAGE] for at in range(0, min(len(some), site.cap or len(some)), PER_PAGE)] for some in lists
    ]
    seen: set[int] = set()

    def worth(number: int, at: int) -> int:
        return sum(wanted[item] and item not in seen for item in pages[number][at])

    heap = [(-worth(number, 0), number, 0) for number, found in enumerate(pages) if found]
    heapify(heap)
    curve: list[int] = []
    while heap and len(curve) < limit:
        stale, number, at = heappop(heap)
        now = worth(number, at)
        if now < -stale:
            heappush(heap, (-now, number, at))
            continue
        if not now:
            break
        seen.update(item for item in pages[number][at] if wanted[item])
        curve.append(len(seen))
        if at + 1 < len(pages[number]):
            heappush(heap, (-worth(number, at + 1), number, at + 1))
    return curve


def at(curve: Sequence[int], fetches: int) -> int:
    """The value of a curve after so many fetches."""
    return curve[min(fetches, len(curve)) - 1] if curve else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=200, help="result pages of a source")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sites")
    parser.add_argument("--seed", type=int, default=0, help="of other sites than those the policies were tuned on")
    parser.add_argument("--post", action="store_true", help="the same sites with forms that are sent by POST")
    parser.add_argument("--sites", default="", help="only sites whose host begins with this")
    parser.add_argument("--only", choices=("all", "topic"), default="", help="what is counted")
    parser.add_argument("--policies", nargs="*", default=list(SELECTIONS))
    arguments = parser.parse_args()
    lab, limit = Lab(), arguments.limit
    marks = [mark for mark in MARKS if mark <= limit]
    totals: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    sizes: list[tuple[str, int, float, float]] = []
    print(
        f"# items known after {' '.join(map(str, marks))} fetches: all (relevant = 0), then on the topic (relevant = {RELEVANT})"
    )
    for site in twenty_sites(arguments.scale, arguments.seed, posts=arguments.post):
        if not site.host.startswith(arguments.sites):
            continue
        real = len(site.relevant)
        for relevant, goal in ((0.0, site.size), (RELEVANT, real)):
            if arguments.only and arguments.only != ("topic" if relevant else "all"):
                continue
            name = "all" if not relevant else "topic"
            best = (
                oracle(site, limit, relevant=bool(relevant))
                if site.kind in ("search", "advanced", "books", "listing")
                else []
            )
            print(f"{site.host} {name}: {goal} items, cap {site.cap or 'none'}")
            for policy in arguments.policies:
                source = lab.source(site, policy, relevant=relevant, limit=limit, patience=30)
                if source is None:
                    print("  no form that is a query")
                    break
                began = time.process_time()
                curve = lab.run(source, site)
                own = [found[bool(relevant)] for found in curve]
                spent = time.process_time() - began
                shown = " ".join(f"{at(own, mark):6}" for mark in marks)
                print(f"  {policy:20} {shown}  {source.fetches:4} fetches, {spent:.1f} s, {source.reason}", flush=True)
                if best and goal:
                    for mark in marks:
                        totals[name, policy][mark].append(at(own, mark) / at(best, mark))
                if policy == "relevant_new" and not relevant and best:
                    samples = [answer.items for answer in source.graph.answers.values()]
                    sizes.append((site.host, site.size, source.size, schnabel(samples)))
            if best and goal:
                print(f"  {'oracle':20} {' '.join(f'{at(best, mark):6}' for mark in marks)}")
    print("\n# share of what the oracle knows, mean over sites")
    for (name, policy), found in totals.items():
        print(f"{name:6} {policy:20} " + " ".join(f"{mean(found[mark]):6.3f}" for mark in marks))
    print("\n# size: truth, Chao's bound, Schnabel")
    for host, size, chao, schnabels in sizes:
        print(f"{host:22} {size:6} {chao:9.0f} {schnabels:9.0f}")


if __name__ == "__main__":
    main()
