"""The rehearsals of ``quality.py`` and their results: one line a run, in one file a topic."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import active_set
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import read_options
from crawlproject.errors import BadInput
from crawlproject.evaluation import measures
from crawlproject.evaluation.runs import REACHABLE, Run, RunFolder, load_run
from crawlproject.evaluation.simulation.runner import Runner
from crawlproject.orderings.registry import ordering_class
from crawlproject.records import Topic
from crawlproject.settings import CONCURRENT_REQUESTS
from crawlproject.storage.append_log import AppendLog, read_lines, write_atomically
from crawlproject.storage.read import read_info
from crawlproject.topic.parse import load_topic
from crawlproject.urls.canonical import canonical_or_none, make_canonicalizer
from crawlproject.webs.base import Web
from crawlproject.webs.open import open_web
from crawlproject.webs.page_cache import PageCacheFolder, location

AGENT = "topical-crawler"
OURS = ("adaptive",)  # orderings with front pages by default; published orderings have them only if their row says so
AS_IS, ACTIVE, K1, ACTIVE_K1 = CONTROLS = ("as_is", "active", "k1", "active_k1")


@dataclass(frozen=True, slots=True)
class Asked:
    """Checkpoints in pages and in seconds, each in ascending order. The last of each is the budget of a run.

    At most ``concurrency`` fetches are under way at a time (0: no limit).
    """

    pages: tuple[int, ...]
    seconds: tuple[float, ...]
    concurrency: int = CONCURRENT_REQUESTS

    @property
    def runs(self) -> dict[str, float]:
        """The values that determine a run: its budgets and its concurrency."""
        last = self.seconds[-1] if self.seconds else 0.0
        return {"pages": self.pages[-1], "seconds": last, "concurrency": self.concurrency}


@dataclass(frozen=True, slots=True)
class Row:
    """An ordering with its own settings, as they were spelled, under a control."""

    name: str
    settings: str
    control: str

    @classmethod
    def spelled(cls, text: str) -> Row:
        """Parse ``dom/k1`` or ``adaptive,CRAWL_SEED=2/as_is``. Raises ``BadInput``."""
        ordering, _, control = text.rpartition("/")
        name, _, settings = ordering.partition(",")
        ordering_class(name)
        if control not in CONTROLS or any("=" not in part for part in settings.split(",") if part):
            raise BadInput(text, f"expected NAME[,SETTING=VALUE]/CONTROL, with a control of {', '.join(CONTROLS)}")
        return cls(name, settings, control)

    def __str__(self) -> str:
        return "/".join(part for part in (",".join(filter(None, (self.name, self.settings))), self.control) if part)

    @property
    def given(self) -> dict[str, Any]:
        """The settings of its runs."""
        own = dict(part.split("=", 1) for part in self.settings.split(",") if part)
        front_pages = {} if self.name in OURS else {"CRAWL_FRONT_PAGES": "False"}
        return {**front_pages, **own, **({"FRONTIER_BATCH_SIZE": 1} if self.control.endswith(K1) else {})}


BOUND = Row("bound", "", "")  # the upper bound of any crawl


@dataclass(frozen=True, slots=True)
class Found:
    """``hits[i]`` is the number of the page that brought target ``i``, of ``targets``, in the run with a budget of pages;
    ``times[i]`` is the second at which target ``i`` came in the run with a budget of seconds.

    The first run stored ``pages`` pages in ``seconds``; ``cpu`` is the CPU time of both runs. The bound has no times.
    """

    targets: int
    hits: list[int]
    times: list[float] | None
    pages: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def recall_at_page(self, pages: int) -> float:
        return float(np.searchsorted(self.hits, pages, side="right")) / max(1, self.targets)

    def recall_at_second(self, seconds: float) -> float:
        if self.times is None:
            return float("nan")
        return float(np.searchsorted(self.times, seconds, side="right")) / max(1, self.targets)

    def mean_over(self, pages: int) -> float:
        """Mean recall over the first ``pages`` pages; a run that ended earlier keeps its last value."""
        return sum(max(0, pages + 1 - hit) for hit in self.hits) / pages / max(1, self.targets)

    @property
    def rate(self) -> float:
        """Pages a second of the virtual clock."""
        return self.pages / self.seconds if self.seconds else float("nan")


class Ledger:
    """The results so far, below ``folder``. Raises ``BadInput`` when the runs there were made with other options."""

    def __init__(self, folder: Path, asked: Asked) -> None:
        self._folder = folder
        path = folder / "asked.json"
        question = json.dumps(asked.runs)
        if path.exists() and path.read_text() != question:
            raise BadInput(f"--out {folder}", f"expected another folder: this one holds runs of {path.read_text()}")
        write_atomically(path, [question.encode()])

    def read(self) -> dict[str, dict[Row, Found]]:
        """The runs of each topic; a topic's name includes its web."""
        return {f"{path.parent.name}/{path.stem}": read_runs(path) for path in sorted(self._folder.glob("*/*.jsonl"))}


def read_runs(path: Path) -> dict[Row, Found]:
    """The runs of a topic."""
    return {Row(**line.pop("row")): Found(**line) for line in read_lines(path)}


def attempt(*arguments: Any) -> tuple[str, tuple[str, str] | None]:
    """Call ``measure`` in another process; return the topic, and the parts of a ``BadInput`` if the input was wrong."""
    try:
        return measure(*arguments), None
    except BadInput as wrong:
        return "", (wrong.place, wrong.wish)


def measure(web_name: str, topic_path: Path, rows: Sequence[Row], asked: Asked, out: Path) -> str:
    """Rehearse the missing runs of a topic; return its name."""
    topic = load_topic(topic_path)
    folder = out / Path(web_name).name.partition(".")[0]
    ledger = folder / f"{topic_path.name.removesuffix('.toml')}.jsonl"
    scratch = ledger.with_suffix(".runs")
    done = read_runs(ledger)
    missing = [row for row in (*rows, BOUND) if row not in done]
    if missing:
        with closing(open_web(web_name, cache_dir=cache_dir())) as web, closing(AppendLog(ledger)) as log:
            stage = _Stage(web, PageCacheFolder(cache_dir(), web_name), topic, asked, scratch)
            for row in missing:
                if row != BOUND:
                    log.append({"row": asdict(row), **asdict(stage.rehearse(row))})
            if BOUND in missing:
                log.append({"row": asdict(BOUND), **asdict(_bound(next(scratch.glob(f"*/{REACHABLE}"))))})
            stage.close()
        shutil.rmtree(scratch)
    return topic.name


class _Stage:
    """Rehearses one topic repeatedly, reading each page only once."""

    def __init__(self, web: Web, shelf: PageCacheFolder, topic: Topic, asked: Asked, scratch: Path) -> None:
        self._web, self._topic, self._asked, self._scratch = web, topic, asked, scratch
        self._settings: Mapping[str, Any] = {}
        self._targets: set[str] | None = None
        self._runner = Runner(
            web,
            lambda _: self._settings,
            pages=0,
            agent=AGENT,
            concurrency=asked.concurrency,
            shelf=shelf,
            cache_dir=cache_dir(),
        )
        self.close = self._runner.close

    def rehearse(self, row: Row) -> Found:
        """Run a crawl with a budget of pages and, if asked, one with a budget of seconds; each may adapt to its budget."""
        before = _cpu()
        name = active_set.register(row.name) if row.control in (ACTIVE, ACTIVE_K1) else row.name
        settings = {**self._topic.settings, **row.given}
        run, hits = self._run(name, settings, self._asked.pages[-1])
        times = None
        if self._asked.seconds:
            timed, in_time = self._run(name, {**settings, "CRAWL_MAX_SECONDS": self._asked.seconds[-1]}, pages=0)
            times = [round(float(timed.times[hit - 1]), 3) for hit in in_time]
        return Found(len(self._targets or ()), hits, times, run.pages, run.seconds, _cpu() - before)

    def _run(self, name: str, settings: Mapping[str, Any], pages: int) -> tuple[Run, list[int]]:
        """Run one crawl; return it and the numbers of the pages that were targets."""
        self._settings, self._runner.pages = settings, pages
        ((_, folder, _),) = self._runner.rehearse(self._topic, [name], self._scratch)
        run = load_run(RunFolder(folder, self._topic.name, name, read_info(folder)))
        shutil.rmtree(folder)
        if self._targets is None:
            self._targets = _ends(self._web, run.reachable, self._topic)
        page_of = {url: number for number, url in enumerate(run.urls, start=1)}
        return run, sorted(page_of[url] for url in self._targets if url in page_of)


def _ends(web: Web, targets: frozenset[str], topic: Topic) -> set[str]:
    """The targets, each as the URL that it redirects to."""
    canonicalize = make_canonicalizer(read_options(topic.settings))
    redirects: dict[str, str] = {}
    waiting = list(targets)
    while waiting:
        url = waiting.pop()
        href = location(web.get(url))
        target = canonical_or_none(canonicalize, href, url) if href else None
        if target and url not in redirects:
            redirects[url] = target
            waiting.append(target)
    return {measures.final_url(target, redirects) for target in targets}


def _bound(path: Path) -> Found:
    """The best possible curve of any crawl."""
    noted = json.loads(path.read_text())
    return Found(len(noted["targets"]), noted["least_pages"], None)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
