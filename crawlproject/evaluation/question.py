"""What to compare (``Question``), and the curves of one topic's runs that answer it.

``ClickLog`` supports crawls whose objective is search relevance (paper 004 section 4.1; Fetterly, Craswell and Vinay, SIGIR
2009). Curves are those of ``evaluation.measures``: element ``i`` is the value after ``i + 1`` pages.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import log2
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crawlproject.errors import BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.measures import Curve, Scores, final_url
from crawlproject.evaluation.runs import Checkpoint, Run, are_split, of_time
from crawlproject.evaluation.significance import PairedTest, paired_t_test, wilcoxon_test
from crawlproject.storage.click_file import clicks_by_url, read_clicks
from crawlproject.storage.read import CrawlInfo

MEASURES = {
    "recall": "target recall",
    "reachable": "recall of the targets that the seeds lead to",
    "harvest": "harvest rate",
    "relevance": "relevance of the latest pages",
    "precision": "average precision",
    "coverage": "weighted coverage",
    "top": "coverage of the top pages",
    "rank": "mean rank, from 0 (worst) to 1",
    "overlap": "overlap of crawls from split seeds",
    "clicks": "share of the clicks",
    "ndcg": "MaxNDCG of the queries",
}
OF_PAIRS = {"overlap"}  # measures of two runs; all others measure one run
OF_CLICKS = {"clicks", "ndcg"}  # measures that need a click log
OF_TARGETS = ("recall", "reachable")  # measures that need targets: all of a topic (003 eq. 4), or those within reach
TESTS: Mapping[str, Callable[[Sequence[float], Sequence[float]], PairedTest]] = {
    "t": paired_t_test,
    "wilcoxon": wilcoxon_test,
}
HALF = 0.5  # share of the targets whose search length is reported
ROBUST_AT = (0.25, 0.5, 0.75, 1.0)  # shares of the targets at which the overlap is reported
Scorer = Callable[[CrawlInfo, Sequence[str]], Scores]
"""Maps each URL of a pool to its importance for the topic of a crawl."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to compare.

    ``measure`` is a key of ``MEASURES``. ``at`` holds the checkpoints, numbers of pages and times; if empty, the default
    checkpoints up to the longest run. ``threshold`` is the relevance from which a page counts as relevant (``harvest``),
    ``window`` the number of latest pages (``relevance``), ``top`` the number of top pages (``top``). ``test`` is a key of
    ``TESTS``. ``importance`` names the importance that replaces the relevance recorded by the crawls; empty: use that
    relevance. ``clicks`` is the log for the measures ``clicks`` and ``ndcg``.
    """

    measure: str = "recall"
    at: tuple[Checkpoint, ...] = ()
    threshold: float = 0.1
    window: int = 50
    top: int = 100
    test: str = "t"
    importance: str = ""
    clicks: ClickLog | None = None

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise BadInput("--measure", f"expected one of {', '.join(MEASURES)}, not {self.measure}")
        if not math.isfinite(self.threshold):
            raise BadInput("--threshold", f"expected a number, not {self.threshold}")
        if self.importance and self.measure in OF_TARGETS:
            raise BadInput(
                "--importance", f"expected a measure other than {self.measure}, which depends on targets only"
            )
        if self.measure in OF_CLICKS and self.clicks is None:
            raise BadInput(f"--measure {self.measure}", "expected --clicks FILE")

    @property
    def recall(self) -> str:
        """The measure of recall for search length, share of the omniscient crawl and robustness."""
        return self.measure if self.measure in OF_TARGETS else "recall"

    @property
    def measures(self) -> list[str]:
        """The measures of a single run that can be computed, provided that there are targets."""
        return [name for name in MEASURES if name not in OF_PAIRS and (self.clicks or name not in OF_CLICKS)]


class TopicRuns:
    """All runs on one topic. Their pages form the pool in which pages are ranked.

    The redirects of the runs are merged, since they crawled the same web, and so are their targets, since recall must count
    the same targets whatever the seeds. ``info`` is the manifest of any of the runs.
    """

    def __init__(self, question: Question, runs: Sequence[Run], info: CrawlInfo, scorer: Scorer | None = None) -> None:
        self._question = question
        self._redirects = measures.merge_redirects(run.redirects for run in runs)
        self._targets = {
            "recall": frozenset[str]().union(*(run.targets for run in runs)),
            "reachable": frozenset[str]().union(*(run.reachable for run in runs)),
        }
        noted: dict[str, float] = {}
        for run in runs:
            noted.update(zip(run.urls, run.relevance.tolist(), strict=True))
        self.scores: Scores = scorer(info, tuple(noted)) if scorer else noted

    @cached_property
    def _top(self) -> frozenset[str]:
        return measures.top_pages(self.scores, self._question.top)

    @cached_property
    def _ranks(self) -> Mapping[str, float]:
        return measures.ranks(self.scores)

    def curve(self, run: Run, measure: str) -> Curve:
        """The curve of a measure for a run; ``measure`` is a key of ``MEASURES`` that is not in ``OF_PAIRS``."""
        match measure:
            case "recall" | "reachable":
                return measures.target_recall(run.urls, self._targets[measure], self._redirects)
            case "harvest":
                return measures.harvest_rate(self._scored(run), self._question.threshold)
            case "relevance":
                return measures.windowed_relevance(self._scored(run), self._question.window)
            case "precision":
                return measures.precision(self._scored(run))
            case "coverage":
                return measures.weighted_coverage(run.urls, self.scores)
            case "top":
                return measures.top_coverage(run.urls, self._top)
            case "rank":
                return measures.rank_quality(run.urls, self._ranks)
            case "clicks" if self._question.clicks:
                return self._question.clicks.click_share(run.urls, self._redirects)
            case "ndcg" if self._question.clicks:
                return self._question.clicks.max_ndcg(run.urls, self._redirects)
        raise ValueError(measure)

    def _scored(self, run: Run) -> npt.NDArray[np.float64]:
        return np.fromiter((self.scores[url] for url in run.urls), dtype=np.float64, count=len(run.urls))


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one ordering on one topic, averaged over repeats.

    ``curve`` is the curve of the measure in question, empty if it cannot be computed; ``recall`` is that of
    ``Question.recall`` (None without targets). ``others`` has the values of every measure that can be computed, at several
    checkpoints. ``half`` is the search length: pages until half of the targets were found, None if some repeat never found
    them. ``pages`` is the length of the shortest repeat. ``seconds`` is the duration of the longest repeat; ``cut_short`` is
    the time at which the page budget first ended a repeat, infinite if it ended none. ``time_area`` is the mean recall over
    time up to the last checkpoint that is a time (None without such a checkpoint or without targets). ``robustness`` is the
    overlap of crawls from split seeds when both have found each share ``ROBUST_AT`` of the targets, NaN where they never do
    or without such crawls.
    """

    curve: Curve
    recall: Curve | None
    others: Mapping[str, Curve]
    half: float | None
    pages: int
    seconds: float
    cut_short: float
    time_area: float | None
    robustness: tuple[float, ...]


def measured(runs: TopicRuns, repeats: Sequence[Run], question: Question, points: Sequence[Checkpoint]) -> Measured:
    """Average the repeats of an ordering on a topic; each measure in ``others`` has a value for each of ``points``."""
    missing = {
        "recall": any(not run.targets for run in repeats),
        "reachable": any(not run.reachable for run in repeats),
    }
    wanted = [name for name in question.measures if not missing.get(name)]
    recalls, known = question.recall, not missing[question.recall]
    named = {name: [runs.curve(run, name) for run in repeats] for name in wanted}
    counts = [[run.pages_at(point) for point in points] for run in repeats]
    counted = dict.fromkeys(named, counts)
    split = [(i, j) for i, j in combinations(range(len(repeats)), 2) if are_split(repeats[i].seeds, repeats[j].seeds)]
    if split:
        named["overlap"] = [measures.robustness(repeats[i].urls, repeats[j].urls) for i, j in split]
        counted["overlap"] = [list(map(min, counts[i], counts[j])) for i, j in split]
    robust = (
        [_robustness(named["overlap"][pair], named[recalls][i], named[recalls][j]) for pair, (i, j) in enumerate(split)]
        if known
        else []
    )
    halves = [measures.search_length(curve, HALF) for curve in named[recalls]] if known else [None]
    return Measured(
        curve=mean_curve(named[question.measure]) if question.measure in named else np.zeros(0),
        recall=mean_curve(named[recalls]) if known else None,
        others={
            name: np.mean(list(map(measures.values_at, curves, counted[name])), axis=0)
            for name, curves in named.items()
        },
        half=None if None in halves else float(np.mean([half for half in halves if half is not None])),
        pages=min(run.pages for run in repeats),
        seconds=max(run.seconds for run in repeats),
        cut_short=min((run.seconds for run in repeats if run.cut_short), default=math.inf),
        time_area=_time_area(named[recalls], repeats, question) if known else None,
        robustness=tuple(np.mean(robust, axis=0).tolist()) if robust else (math.nan,) * len(ROBUST_AT),
    )


def _robustness(overlap: Curve, one: Curve, other: Curve) -> list[float]:
    """The overlap when both crawls have found each share ``ROBUST_AT`` of the targets; NaN if one of them never does."""
    both = [(measures.search_length(one, share), measures.search_length(other, share)) for share in ROBUST_AT]
    return [math.nan if None in pair else measures.value_at(overlap, max(filter(None, pair))) for pair in both]


def _time_area(curves: Sequence[Curve], repeats: Sequence[Run], question: Question) -> float | None:
    if not (times := of_time(question.at)):
        return None
    areas = [
        measures.area_over_time(curve, run.times, times[-1].seconds) for curve, run in zip(curves, repeats, strict=True)
    ]
    return float(np.mean(areas))


def mean_curve(curves: Iterable[Curve]) -> Curve:
    """The mean of several curves, as long as the longest; a shorter curve keeps its last value, an empty one has 0."""
    several = list(curves)
    if len(several) == 1:
        return several[0]
    longest = max(map(len, several))
    extended = [np.pad(c, (0, longest - len(c)), mode="edge") if len(c) else np.zeros(longest) for c in several]
    return np.asarray(np.mean(extended, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class ClickLog:
    """How often users of a search engine clicked each page: ``clicks[query][url]``, above 0; URLs are canonical."""

    clicks: Mapping[str, Mapping[str, float]]

    @classmethod
    def read(cls, path: Path) -> ClickLog:
        """The clicks of a file (``storage.click_file``). Raises ``BadInput``."""
        return cls(read_clicks(path))

    def click_share(self, pages: Sequence[str], redirects: Mapping[str, str]) -> Curve:
        """The clicks that the crawled pages attracted, as a share of all clicks."""
        weights = dict(clicks_by_url(self._final(redirects)))
        found = [weights.pop(page, 0.0) for page in pages]
        return np.cumsum(np.array(found, dtype=np.float64)) / self._total

    def max_ndcg(self, pages: Sequence[str], redirects: Mapping[str, str]) -> Curve:
        """MaxNDCG: the mean NDCG of the queries over the best possible ranking of the crawled pages.

        The gain of a page is its number of clicks; the discount at rank r is ``log2(r + 1)``. The ideal ranking contains all
        clicked pages of the query.
        """
        queries = self._final(redirects)
        ideal = {query: _dcg(sorted(gains.values())) for query, gains in queries.items()}
        clicked: defaultdict[str, list[str]] = defaultdict(list)
        for query, gains in queries.items():
            for url in gains:
                clicked[url].append(query)
        found: defaultdict[str, list[float]] = defaultdict(list)
        rises = np.zeros(len(pages))
        for position, page in enumerate(pages):
            for query in clicked.pop(page, ()):
                before = _dcg(found[query])
                insort(found[query], queries[query][page])
                rises[position] += (_dcg(found[query]) - before) / ideal[query]
        return np.cumsum(rises) / len(queries)

    @cached_property
    def _total(self) -> float:
        return sum(sum(query.values()) for query in self.clicks.values())

    def _final(self, redirects: Mapping[str, str]) -> Mapping[str, Mapping[str, float]]:
        """The clicks of each query by final URL, after redirects."""
        moved: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for query, clicks in self.clicks.items():
            for url, number in clicks.items():
                moved[query][final_url(url, redirects)] += number
        return moved


def _dcg(gains: Sequence[float]) -> float:
    """The discounted cumulative gain of the best ranking; ``gains`` are sorted in ascending order."""
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(reversed(gains), start=1))
