"""Reads a crawl folder during a crawl, after it, or after a crash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

import orjson

from crawlproject.errors import BadCrawlDir
from crawlproject.records import GONE, LISTINGS, MOVED, QUERY, Topic, Visit
from crawlproject.storage.append_log import TailPosition, read_lines, unexpected, unreadable
from crawlproject.urls.hosts import is_name

MANIFEST = "crawl.json"
HISTORY = "history.jsonl"
LINKS = "links.jsonl"
REFUSED = "refused.json"

_FIELDS_IN_ORDER = tuple(item.name for item in fields(Visit))
_VISIT_FIELDS = frozenset(_FIELDS_IN_ORDER)
_NUMERIC = frozenset((bool, float, int))
_KINDS = {"int": _NUMERIC, "float": _NUMERIC, "str": frozenset((str,)), "Mapping[str, float]": frozenset((dict,))}
_BY_KIND = [
    (kind, [item.name for item in fields(Visit) if _KINDS.get(str(item.type)) is kind])
    for kind in dict.fromkeys(_KINDS.values())
]  # the types of the fields, but that of ``parent``
_CHECKED = [(kind, names, attrgetter(*names)) for kind, names in _BY_KIND]
_YEAR_10000 = 253_402_300_800.0  # in seconds since the epoch: no date is later

REMEDY = "crawl the same topic into this folder to rewrite it"  # for a damaged manifest
RELEVANT = 0.1  # threshold when the manifest has no PAGE_RELEVANT


@dataclass(frozen=True, slots=True)
class CrawlInfo:
    """The contents of ``crawl.json``. A running or killed crawl has no ``reason``, ``finished`` and ``stats``.

    ``targets`` are canonical; ``positive`` and ``negative`` are URLs or paths. The names of ``settings`` are in capitals. Times
    are seconds since the epoch; ``resumes`` are the times at which the crawl was resumed.
    """

    topic: str = ""
    keywords: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    language: str = ""
    description: str = ""
    targets: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    ordering: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    web: str = ""
    started: float | None = None
    finished: float | None = None
    reason: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    resumes: tuple[float, ...] = ()

    @property
    def threshold(self) -> float:
        """The relevance from which a page is relevant: ``PAGE_RELEVANT`` of the crawl."""
        return self.number("PAGE_RELEVANT", RELEVANT)

    def number(self, setting: str, default: float) -> float:
        """A numeric setting; ``default`` if the manifest lacks it."""
        value = self.settings.get(setting)
        return float(value) if isinstance(value, int | float) else default


@dataclass(frozen=True, slots=True)
class RefusalCounts:
    """Why links were not followed: ``count`` of them, and ``samples`` of (url, page it was found on)."""

    reason: str
    count: int
    samples: tuple[tuple[str, str | None], ...] = ()


def read_info(folder: Path) -> CrawlInfo:
    """Read the manifest of a crawl folder; missing keys get their defaults. Raises ``BadCrawlDir``."""
    try:
        found = read_json(folder / MANIFEST)
    except BadCrawlDir as damage:
        if isinstance(damage.__cause__, OSError):
            raise
        raise BadCrawlDir(damage.place, f"{damage.wish}; {REMEDY}") from None
    if found is None:
        raise BadCrawlDir(str(folder), f"expected a crawl folder, but it has no {MANIFEST}")
    topic = _mapping(found.get("topic"))
    return CrawlInfo(
        topic=str(topic.get("name") or ""),
        keywords=_strings(topic.get("keywords")),
        seeds=_strings(topic.get("seeds")),
        language=str(topic.get("language") or ""),
        description=str(topic.get("description") or ""),
        targets=_strings(topic.get("targets")),
        positive=_strings(topic.get("positive")),
        negative=_strings(topic.get("negative")),
        ordering=str(found.get("ordering") or ""),
        parameters=_mapping(found.get("parameters")),
        settings={str(name).upper(): value for name, value in _mapping(found.get("settings")).items()},
        web=str(found.get("web") or ""),
        started=_number(found.get("started")),
        finished=_number(found.get("finished")),
        reason=str(found.get("reason") or ""),
        stats=_mapping(found.get("stats")),
        resumes=_moments(found.get("resumes")),
    )


def topic_of(info: CrawlInfo, settings: Mapping[str, Any] | None = None) -> Topic:
    """The topic of a crawl from its manifest, with these ``settings``: the manifest lacks those of the topic file."""
    return Topic(
        info.topic,
        info.keywords,
        info.seeds,
        info.language or "en",
        info.description,
        info.targets,
        info.positive,
        info.negative,
        settings or {},
    )


def read_visits(folder: Path, behind: TailPosition | None = None) -> Iterator[Visit]:
    """Stream the history of a crawl in its order (for one host, by ``at``), without an incomplete last line.

    ``behind``: only the lines after this position. Unknown fields are ignored. Raises ``BadCrawlDir`` for a damaged line.
    """
    path = folder / HISTORY
    for number, line in enumerate(read_lines(path, behind), start=behind.lines + 1 if behind else 1):
        yield visit_from(line, f"{path}, line {number}")


def first_visits(folder: Path) -> Iterator[Visit]:
    """The first visit of each URL, in the order of the crawl, whatever its result. Raises as ``read_visits``."""
    return (visit for visit in read_visits(folder) if visit.number == 1)


def present_visits(folder: Path) -> Iterator[Visit]:
    """The first visit of each URL, with title, relevance and body data of the page as it is stored now.

    Pages that are gone or have moved are left out. Memory: one visit for each page that changed. Raises as ``read_visits``.
    """
    last: dict[str, Visit | None] = {}
    for visit in read_visits(folder):
        if visit.number > 1 and visit.change in (GONE, MOVED):
            last[visit.url] = None
        elif visit.number > 1 and visit.md5:
            last[visit.url] = visit
    for first in first_visits(folder):
        now = last.get(first.url, first)
        if now is first:
            yield first
        elif now is not None:
            yield replace(
                first, title=now.title, relevance=now.relevance, spam=now.spam, digest=now.digest, size=now.size
            )


def read_links(folder: Path, behind: TailPosition | None = None) -> Iterator[tuple[str, list[str]]]:
    """Stream the link graph of a crawl in crawl order: each page with its link targets. ``behind``: as in ``read_visits``.

    A rehearsal stores no links. Raises ``BadCrawlDir`` for a damaged file.
    """
    for source, links in groupby(_read_links(folder / LINKS, behind), key=itemgetter(0)):
        yield source, [target for _, target in links]


def _read_links(path: Path, behind: TailPosition | None) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path, behind), start=behind.lines + 1 if behind else 1):
        try:
            yield line["source"], line["target"]
        except (KeyError, TypeError) as damage:
            raise unexpected(path, number, damage) from None


def visit_from(line: Any, place: str) -> Visit:
    """Convert a parsed line of the history to a ``Visit``. Raises ``BadCrawlDir``, which names ``place``."""
    if not isinstance(line, dict):
        raise BadCrawlDir(place, f"expected an object with the fields of a fetch, not {str(line)[:80]}")
    if isinstance(line.get("signs", {}), dict) and isinstance(line.get("error", ""), str):
        _rename_kind(line)
    if tuple(line) == _FIELDS_IN_ORDER:
        visit = Visit(*line.values())  # by name takes four times as long
    else:
        try:
            visit = Visit(**{name: value for name, value in line.items() if name in _VISIT_FIELDS})
        except TypeError as missing:
            raise BadCrawlDir(place, f"expected the fields of a fetch: {missing}") from None
    if wrong := _wrong_field(visit):
        raise BadCrawlDir(place, f"expected a fetch, but its {wrong} is {str(getattr(visit, wrong))[:80]!r}")
    return visit


def _wrong_field(visit: Visit) -> str:
    """The first field whose value no crawl would write; empty if there is none."""
    for kind, names, values in _CHECKED:
        if not kind.issuperset(map(type, values(visit))):
            return next(name for name in names if type(getattr(visit, name)) not in kind)
    if not isinstance(visit.parent, str | None):
        return "parent"
    for name in ("signs", "parts", "topics"):
        if not _NUMERIC.issuperset(map(type, getattr(visit, name).values())):
            return name
    if "://" not in visit.url:
        return "url"
    if not 0 <= visit.at < _YEAR_10000:
        return "at"
    return "md5" if visit.md5 != "" and not is_name(visit.md5) else ""


def _rename_kind(line: dict[str, Any]) -> None:
    """Convert a line of an earlier version, which stored the kind of its URL as an error or as a sign."""
    if line.get("error") in LISTINGS:
        line["kind"], line["error"] = line["error"], ""
    elif QUERY in line.get("signs", ()):
        line["kind"] = QUERY
        line["signs"] = {name: value for name, value in line["signs"].items() if name not in (QUERY, "post")}


def read_refused(folder: Path) -> list[RefusalCounts]:
    """Refusals by reason, the most frequent first; empty without a file. Raises ``BadCrawlDir``."""
    found = read_json(folder / REFUSED) or {}
    samples = _mapping(found.get("samples"))
    counts = [(str(reason), _number(count)) for reason, count in _mapping(found.get("counts")).items()]
    refused = [RefusalCounts(reason, int(count), _samples(samples.get(reason))) for reason, count in counts if count]
    return sorted(refused, key=lambda refusal: (-refusal.count, refusal.reason))


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file, or None without a file. Raises ``BadCrawlDir`` if it is damaged or cannot be read."""
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    except orjson.JSONDecodeError as damage:
        raise BadCrawlDir(str(path), f"expected a JSON file ({damage})") from None
    if not isinstance(found, dict):
        raise BadCrawlDir(str(path), "expected a JSON object")
    return found


def _samples(value: object) -> tuple[tuple[str, str | None], ...]:
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2] if isinstance(value, list) else []
    return tuple((str(url), None if parent is None else str(parent)) for url, parent in pairs)


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(part) for part in value) if isinstance(value, list) else ()


def _moments(value: object) -> tuple[float, ...]:
    return tuple(float(one) for one in value if isinstance(one, int | float)) if isinstance(value, list) else ()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
