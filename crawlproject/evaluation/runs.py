"""Finds and reads the runs to compare: crawl folders of several topics and orderings below one folder.

Runs are compared at checkpoints: after a number of pages, or after a time.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from crawlproject.configuration import program
from crawlproject.core.stopping import PAGE_BUDGET
from crawlproject.errors import BadCrawlDir, BadInput
from crawlproject.evaluation.measures import Curve
from crawlproject.storage.read import MANIFEST, CrawlInfo, first_visits, read_info, read_json

REACHABLE = "reachable.json"
CONCURRENT_REQUESTS = "CONCURRENT_REQUESTS"  # in the manifest of rehearsals that simulate concurrent fetches
VIRTUAL_START = 0.0  # the start of a rehearsal's clock
SEED = "CRAWL_SEED"  # runs that differ only in these are repeats of one experiment
WISH = "expected numbers of pages or of seconds, after the folder, as in DIR --at 100 500 60s"

# Settings that do not distinguish runs: locations, those handled elsewhere, and ordering parameters, which appear by name.
_NO_TRAITS = {SEED, "CRAWL_DIR", "ORDERING", "ORDERING_PARAMETERS", "CRAWL_PROGRESS_SECONDS", "VIRTUAL_WEB"}


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of a run, with the topic and ordering under which it is compared. Its history is not read yet."""

    path: Path
    topic: str
    ordering: str
    info: CrawlInfo


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: its pages in crawl order.

    ``urls``, ``relevance`` and ``times`` (seconds after the start of the crawl) have one entry per page, each page once.
    ``untimed`` is the reason why the times cannot be used, or empty. ``cut_short``: the run ended because its page budget
    was spent. ``redirects`` maps URL to URL. ``targets`` are all targets of the topic; ``reachable`` are the targets that
    its seeds lead to, if that is known (``reachable.json`` beside the runs of a topic), else all.
    """

    topic: str
    ordering: str
    urls: tuple[str, ...]
    relevance: Curve
    redirects: Mapping[str, str]
    targets: frozenset[str]
    fetches: int
    seeds: frozenset[str] = frozenset()
    reachable: frozenset[str] = frozenset()
    times: Curve = field(default_factory=lambda: np.zeros(0))
    untimed: str = ""
    cut_short: bool = False

    @property
    def pages(self) -> int:
        return len(self.urls)

    @property
    def seconds(self) -> float:
        """The time of the last page, in seconds after the start."""
        return float(self.times[-1]) if len(self.times) else 0.0

    def pages_at(self, point: Checkpoint) -> int:
        """The number of pages at a checkpoint; for a number of pages that number, even if the crawl had fewer."""
        if isinstance(point, int):
            return point
        return int(np.searchsorted(self.times, point.seconds, side="right"))


def find_runs(folder: Path, warn: Callable[[str], object] | None = None) -> list[RunFolder]:
    """Every crawl folder at or below ``folder``, sorted by topic and ordering.

    A folder with a damaged manifest is left out after a call of ``warn``; without ``warn`` it raises ``BadCrawlDir``.

    The names of several runs of one ordering on one topic include what differs: parameters, settings, or augmented seeds, as
    in ``dom alpha=0.5``. Runs that differ only in ``CRAWL_SEED``, or have no seed in common, are repeats under one name.
    Raises ``BadInput`` when there is no run, or when two runs do not differ.
    """
    if not folder.is_dir():
        raise BadInput(str(folder), f"expected a folder of runs, made by `{program} rehearse ... --out DIR`")
    found = []
    for path in _crawl_folders(folder):
        try:
            found.append(_run_folder(path))
        except BadCrawlDir as damage:
            if warn is None:
                raise
            warn(f"left out because it is damaged: {damage}")
    if not found:
        raise BadInput(str(folder), f"expected crawl folders below it, but found no {MANIFEST}")
    runs = _name_apart(found)
    _refuse_twins(runs)
    return sorted(runs, key=lambda run: (run.topic, run.ordering))


def load_run(run: RunFolder) -> Run:
    """Read the history of a run. Raises ``BadCrawlDir`` when it is damaged."""
    pages: dict[str, float] = {}
    times: dict[str, float] = {}
    started = run.info.started or 0.0
    redirects: dict[str, str] = {}
    fetches = 0
    for visit in first_visits(run.path):
        fetches += 1
        if visit.md5:
            pages.setdefault(visit.url, visit.relevance)
            times.setdefault(visit.url, visit.at - started)
        if visit.redirect:
            redirects[visit.url] = visit.redirect
    relevance = np.fromiter(pages.values(), dtype=np.float64, count=len(pages))
    return Run(
        run.topic,
        run.ordering,
        tuple(pages),
        relevance,
        redirects,
        frozenset(run.info.targets),
        fetches,
        frozenset(run.info.seeds),
        reachable_targets(run.path, run.info),
        times=np.maximum.accumulate(np.fromiter(times.values(), dtype=np.float64, count=len(times))),
        untimed=_why_untimed(run),
        cut_short=run.info.reason == PAGE_BUDGET,
    )


def _why_untimed(run: RunFolder) -> str:
    """Why the times of a run cannot be used, as the ``wish`` of a ``BadInput``; empty if they can."""
    if run.info.started is None:
        return f"expected runs with times, but {run.path} does not say when it started"
    if run.info.started == VIRTUAL_START and CONCURRENT_REQUESTS not in run.info.settings:
        return (
            f"expected rehearsals with times, but {run.path} was made by an older version with another clock: repeat it"
        )
    return ""


def are_split(seeds: Collection[str], others: Collection[str]) -> bool:
    """Whether two runs have seeds but none in common, as with ``scrapy rehearse --split-seeds``."""
    return bool(seeds and others) and set(seeds).isdisjoint(others)


def reachable_targets(path: Path, info: CrawlInfo) -> frozenset[str]:
    """The targets that the seeds lead to; all targets if that is not known. Raises ``BadCrawlDir`` for a damaged file."""
    reachable = read_json(path.parent / REACHABLE)
    if reachable is None:
        return frozenset(info.targets)
    targets = reachable.get("targets")
    if not isinstance(targets, list):
        raise BadCrawlDir(str(path.parent / REACHABLE), 'expected {"targets": [url, ...]}')
    return frozenset(map(str, targets))


def _crawl_folders(folder: Path) -> Iterator[Path]:
    for path, folders, files in os.walk(folder):
        folders.sort()
        if MANIFEST in files:
            folders.clear()  # a crawl folder contains no other crawl, and its pages/ is large
            yield Path(path)


def _run_folder(path: Path) -> RunFolder:
    info = read_info(path)
    absolute = path.absolute()
    return RunFolder(path, info.topic or absolute.parent.name, info.ordering or absolute.name, info)


def _name_apart(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """Append to an ordering's name what varies between its runs on one topic."""
    seeds: dict[str, set[frozenset[str]]] = defaultdict(set)
    for run in runs:
        seeds[run.topic].add(frozenset(run.info.seeds))
    traits = [_traits(run.info, any(fewer < set(run.info.seeds) for fewer in seeds[run.topic])) for run in runs]
    varying: dict[str, set[str]] = defaultdict(set)
    families: dict[tuple[str, str], list[Mapping[str, object]]] = defaultdict(list)
    for run, own in zip(runs, traits, strict=True):
        families[run.topic, run.ordering].append(own)
    for (_, ordering), family in families.items():
        varying[ordering] |= _differences(family)
    return [
        replace(run, ordering=" ".join([run.ordering, *_spelled(own, varying[run.ordering])]))
        for run, own in zip(runs, traits, strict=True)
    ]


def _traits(info: CrawlInfo, augmented: bool) -> dict[str, object]:
    """What may distinguish a run from others. ``augmented``: another run of the topic had only some of its seeds."""
    settings = {name: value for name, value in info.settings.items() if name not in _NO_TRAITS}
    return {**settings, **info.parameters, "seeds": "augmented" if augmented else "given"}


def _differences(family: Sequence[Mapping[str, object]]) -> set[str]:
    names = {name for traits in family for name in traits}
    return {name for name in names if len({str(traits.get(name)) for traits in family}) > 1}


def _spelled(traits: Mapping[str, object], names: Collection[str]) -> list[str]:
    return [f"{name}={traits[name]}" for name in sorted(names) if name in traits]


def _refuse_twins(runs: Sequence[RunFolder]) -> None:
    seen: dict[tuple[str, str, object], list[RunFolder]] = defaultdict(list)
    for run in runs:
        others = seen[run.topic, run.ordering, run.info.settings.get(SEED)]
        twin = next((other for other in others if not are_split(run.info.seeds, other.info.seeds)), None)
        if twin:
            wish = f"expected one run of {run.ordering} on {run.topic}; {twin.path} is another; move one of them away"
            raise BadInput(str(run.path), wish)
        others.append(run)


@dataclass(frozen=True, slots=True, order=True)
class Elapsed:
    """A time in seconds after the start of a crawl, by its own clock, which is virtual in a rehearsal."""

    seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:g}s"


Checkpoint = int | Elapsed  # an int is a number of pages


def read_checkpoints(words: Iterable[str], option: str = "--at") -> tuple[Checkpoint, ...]:
    """Parse ``["100,250", "60s"]``. Raises ``BadInput``, which names ``option``."""
    return tuple(_checkpoint(part.strip(), option) for word in words for part in word.split(",") if part.strip())


def _checkpoint(text: str, option: str) -> Checkpoint:
    try:
        amount = float(text[:-1]) if text.endswith("s") else int(text)
    except ValueError:
        raise BadInput(f"{option} {text}", WISH) from None
    if isinstance(amount, int):
        if amount < 1:
            raise BadInput(f"{option} {text}", "expected a number of at least 1")
        return amount
    if not 0 < amount < math.inf:
        raise BadInput(f"{option} {text}", "expected a finite number of seconds above 0")
    return Elapsed(amount)


def of_pages(checkpoints: Iterable[Checkpoint]) -> tuple[int, ...]:
    """The numbers of pages among ``checkpoints``, sorted, each once."""
    return tuple(sorted({point for point in checkpoints if isinstance(point, int)}))


def of_time(checkpoints: Iterable[Checkpoint]) -> tuple[Elapsed, ...]:
    """The times among ``checkpoints``, sorted, each once."""
    return tuple(sorted({point for point in checkpoints if isinstance(point, Elapsed)}))


def in_words(point: Checkpoint) -> str:
    """As text: ``500 pages``, ``60 s``."""
    return f"{point.seconds:,g} s" if isinstance(point, Elapsed) else f"{point:,} pages"


def short(point: Checkpoint) -> str:
    """The heading of a column: ``@500``, ``@60s``."""
    return f"@{point}" if isinstance(point, Elapsed) else f"@{point:,}"


def equation(point: Checkpoint) -> str:
    """As an equation: ``N = 500``, ``t = 60 s``."""
    return f"t = {in_words(point)}" if isinstance(point, Elapsed) else f"N = {point:,}"
