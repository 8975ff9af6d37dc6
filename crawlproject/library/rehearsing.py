"""Rehearsals in this process: crawls of a virtual web, also with orderings defined in a notebook."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from crawlproject import settings as defaults
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.configuration import default_settings, read_options
from crawlproject.evaluation.measures import target_recall, value_at
from crawlproject.evaluation.simulation.plan import Plan, rehearse_here
from crawlproject.library.crawling import appoint, checked_settings
from crawlproject.orderings.registry import ordering_class
from crawlproject.records import Topic, Visit
from crawlproject.storage.read import read_info, read_visits
from crawlproject.topic.folder import find_topic
from crawlproject.topic.parse import checked_topic

if TYPE_CHECKING:
    from crawlproject.parts.judges.base import Judge


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """One run of one ordering on one topic. ``folder`` contains its history, but no pages.

    ``harvest`` is the share of its pages with a relevance of at least ``PAGE_RELEVANT``. ``recall`` is the share of the
    topic's targets that it found, as counted by ``scrapy compare``, or None for a topic without targets.
    """

    topic: str
    ordering: str
    folder: Path
    pages: int
    fetches: int
    harvest: float
    recall: float | None

    def visits(self) -> Iterator[Visit]:
        """Every finished fetch in the order of the crawl; times are those of the virtual clock."""
        return read_visits(self.folder)


class Rehearsals(Sequence[Rehearsal]):
    """The runs, topic by topic, in the order of the orderings. Without ``out``, their folders exist as long as this object."""

    def __init__(self, runs: Sequence[Rehearsal], temporary: tempfile.TemporaryDirectory[str] | None) -> None:
        self._runs = tuple(runs)
        self._temporary = temporary

    @overload
    def __getitem__(self, place: int) -> Rehearsal: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Rehearsal]: ...
    def __getitem__(self, place: int | slice) -> Rehearsal | Sequence[Rehearsal]:
        return self._runs[place]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        rows = [f"{'topic':<16} {'ordering':<16} {'pages':>6} {'harvest':>8} {'recall':>7}"]
        for run in self:
            recall = "" if run.recall is None else f"{run.recall:.3f}"
            rows.append(f"{run.topic:<16} {run.ordering:<16} {run.pages:>6} {run.harvest:>8.3f} {recall:>7}")
        return "\n".join(rows)


def rehearse(
    web: str | Path,
    topics: str | Path | Topic | Sequence[str | Path | Topic],
    orderings: str | Sequence[str] = "",
    *,
    pages: int = 1000,
    out: str | Path | None = None,
    concurrency: int = 1,
    judge: str | type[Judge] = "",
    **settings: Any,
) -> Rehearsals:
    """Crawl a virtual web on each topic with each ordering, as ``scrapy rehearse`` does, but in this process.

    ``web`` is a WARC file, a folder of ``<host>/<path>``, a crawl folder or ``sample``. ``orderings`` are names, also of
    classes registered with ``ordering``; by default the setting ``ORDERING``. Finished runs in ``out`` are kept and not
    repeated: name another folder after changing an ordering. ``judge`` is as for ``crawl``. Raises ``BadInput``.
    """
    chosen = checked_settings(settings)
    appoint(judge, chosen)
    asked = [topics] if isinstance(topics, str | Path | Topic) else topics
    found = tuple(checked_topic(topic) if isinstance(topic, Topic) else find_topic(str(topic)) for topic in asked)
    names = [orderings] if isinstance(orderings, str) and orderings else [*orderings]
    names = names or [read_options(chosen).ordering]
    for name in names:
        ordering_class(name)
    temporary = None if out else tempfile.TemporaryDirectory(prefix="rehearsals-")
    plan = Plan(
        web=str(web),
        topics=found,
        settings=tuple({**default_settings(), **topic.settings, **chosen} for topic in found),
        orderings=tuple(dict.fromkeys(names)),
        pages=pages,
        out=Path(out or (temporary.name if temporary else "")),
        cache_dir=cache_dir(),
        agent=chosen.get("USER_AGENT", defaults.USER_AGENT),
        concurrency=concurrency,
    )
    runs = [_run(line["topic"], line["ordering"], Path(line["folder"])) for line in rehearse_here(plan, _warn)]
    return Rehearsals(runs, temporary)


def _warn(sentence: str) -> None:
    import warnings

    warnings.warn(sentence, stacklevel=2)


def _run(topic: str, ordering: str, folder: Path) -> Rehearsal:
    info = read_info(folder)
    visits = list(read_visits(folder))
    stored = [visit for visit in visits if visit.md5]
    relevant = sum(visit.relevance >= info.threshold for visit in stored)
    redirects = {visit.url: visit.redirect for visit in visits if visit.redirect}
    found = target_recall([visit.url for visit in stored], info.targets, redirects)
    recall = value_at(found, len(stored)) if info.targets else None
    harvest = relevant / len(stored) if stored else 0.0
    return Rehearsal(topic, ordering, folder, len(stored), len(visits), harvest, recall)
