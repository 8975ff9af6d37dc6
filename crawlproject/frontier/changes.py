"""What can happen to a frontier: the smallest changes, each a fact that can be written down and done again.

An operation of the contract makes a few of them: ``take`` is ``Leased`` and ``Picked``. They hold results, not
requests (the time of a host's next visit, not the delay it came from), so that doing them again needs no clock, no
generator and no setting.

Stored records tell what their URL is fetched for by the key, and where that is not enough by the kind beside it; those of earlier
versions tell its precedence class by the score.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from crawlproject.records import ACTIVE, FIRST, PAGE, PLANTED, PROBE, REREADS, REVISITS, SITEMAP, CrawlUrl

LEAST_CLASS_SCORE = 2.5e17  # of records of earlier versions: a lower score is one

_REVISIT_SCORE = 2e18
_PROBE_MARK = f"#{PROBE}/"


class Waits(NamedTuple):
    """A URL waits, or the record of a waiting URL is another one."""

    record: CrawlUrl


class Rescored(NamedTuple):
    """A waiting URL has a new score."""

    url: str
    score: float


class Reclassed(NamedTuple):
    """A waiting URL waits in another precedence class."""

    url: str
    precedence: int


class Leased(NamedTuple):
    """A waiting URL is being fetched."""

    url: str


class Held(NamedTuple):
    """A waiting URL is not taken before ``until``; 0: it may be taken at any time."""

    url: str
    until: float


class Returned(NamedTuple):
    """A leased URL waits again, until ``not_before`` at least."""

    url: str
    not_before: float


class Finished(NamedTuple):
    """A leased URL was fetched, and waits for its next visit, with this score."""

    url: str
    refetch_at: float
    score: float


class Ended(NamedTuple):
    """A URL is done, whether it was leased, waited, or is new."""

    url: str


class Forgotten(NamedTuple):
    """A URL that was done is not known any more."""

    url: str


class Recorded(NamedTuple):
    """The history has so many lines."""

    lines: int


class Evicted(NamedTuple):
    """A waiting URL left without a fetch; ``total`` were dropped until now. None: only the total is known."""

    url: str | None
    total: int


class Picked(NamedTuple):
    """The host was picked, under the k rule. ``host`` is a key of the store (see ``url_store.UrlStore``)."""

    host: Any


class GaveBack(NamedTuple):
    """The host's last pick does not count."""

    host: Any


class Rests(NamedTuple):
    """The host is not visited before ``until``."""

    host: Any
    until: float


class Asks(NamedTuple):
    """The host of this name asks for ``seconds`` between visits."""

    host: str
    seconds: float


class Blocked(NamedTuple):
    """No URL of the host of this name is taken before ``until``; 0: the block is lifted."""

    host: str
    until: float


Change = (
    Waits
    | Rescored
    | Reclassed
    | Held
    | Leased
    | Returned
    | Finished
    | Ended
    | Forgotten
    | Recorded
    | Evicted
    | Picked
    | GaveBack
    | Rests
    | Asks
    | Blocked
)
METHODS: dict[type[Change], str] = {
    Waits: "wait",
    Rescored: "rescore",
    Reclassed: "set_precedence",
    Held: "hold",
    Leased: "lease",
    Returned: "give_back",
    Finished: "refetch",
    Ended: "end",
    Forgotten: "forget",
    Recorded: "record_lines",
    Evicted: "evict",
    Picked: "pick",
    GaveBack: "give_back_pick",
    Rests: "rest",
    Asks: "ask",
    Blocked: "block",
}
"""The method of a store (``url_store.UrlStore``) that makes each change, from its fields in order."""
_CODES: dict[type[Change], str] = {
    **METHODS,
    Rescored: "score",
    Reclassed: "class",
    Returned: "return",
    Recorded: "history",
    GaveBack: "unpick",
}
_KINDS: dict[str, type[Change]] = {code: kind for kind, code in _CODES.items()}


def to_json(change: Change) -> list[Any]:
    """A change as a list for JSON: its code, then its fields in order."""
    if isinstance(change, Waits):
        record = change.record
        kind = written_kind(record.key, record.parent, record.kind)
        more = [kind, record.precedence] if record.precedence != ACTIVE else [kind] if kind else []
        return [
            "wait",
            record.key,
            json_number(record.score),
            record.depth,
            record.parent,
            record.anchor,
            json_number(record.context_score),
            record.not_before,
            list(map(json_number, record.inherited)),
            record.request,
            *more,
        ]
    if isinstance(change, Rescored):
        return ["score", change.url, json_number(change.score)]
    if isinstance(change, Finished):
        return ["refetch", change.url, change.refetch_at, json_number(change.score)]
    return [_CODES[type(change)], *change]


def from_json(fields: list[Any]) -> Change:
    """The change of a list that ``to_json`` made. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for others."""
    code, *values = fields
    if code == "wait":
        key, score, depth, parent, anchor, context_score, not_before, inherited, request, *more = values
        named = more[0] if more else None
        precedence = more[1] if len(more) > 1 else ACTIVE
        url, kind, variant = read_key(key, parent, named)
        inherited_by_links = tuple(map(float, inherited))
        return Waits(
            CrawlUrl(
                url,
                float(score),
                depth,
                parent,
                anchor,
                float(context_score),
                float(not_before),
                inherited_by_links,
                request,
                kind,
                variant,
                precedence,
            )
        )
    if code == "score":
        url, score = values
        return Rescored(url, float(score))
    if code == "refetch":
        url, refetch_at, score = values
        return Finished(url, refetch_at, float(score))
    return _KINDS[code](*values)


def json_number(value: float) -> float | str:
    """JSON has no infinity and no NaN: these travel as text."""
    return value if math.isfinite(value) else str(value)


def written_kind(key: str, parent: str | None, kind: str) -> str | None:
    """The kind as it is stored beside the key; None where ``read_key`` knows it without."""
    return None if kind == PAGE and read_key(key, parent)[1] == PAGE else kind


def read_key(key: str, parent: str | None, kind: str | None = None) -> tuple[str, str, str]:
    """``url``, ``kind`` and ``variant`` of a stored record, of which ``key``, ``parent`` and perhaps ``kind`` were written.

    Records without a kind are pages, except those of earlier versions: a probe is known by its key, a sitemap by the
    robots.txt that is its parent.
    """
    if kind is None:
        if _PROBE_MARK in key:
            kind = PROBE
        elif parent is not None and parent.endswith("/robots.txt") and parent.count("/") == 3:
            kind = SITEMAP
        else:
            return key, PAGE, ""
    url, _, variant = key.partition(f"#{kind}/")
    return url, kind, variant


def class_in_score(score: float) -> tuple[int, float]:
    """The class and the score of a record of an earlier version, where scores above all others stood for classes."""
    if score < LEAST_CLASS_SCORE:
        return ACTIVE, score
    if score >= 8e18:
        return REREADS, 0.0
    if score >= _REVISIT_SCORE:
        return REVISITS, score / _REVISIT_SCORE - 1.0
    return (FIRST if score >= 1e18 else PLANTED), 0.0


def best_of_paths(old: CrawlUrl, new: CrawlUrl) -> CrawlUrl:
    """The record of a waiting URL that another link was found to; ``old`` itself when nothing changes.

    The record of the lower class, or of the higher score in one class, the old one of two equals; with the least depth, and
    what the better path hands down.
    """
    takes_over = (new.precedence, -new.score) < (old.precedence, -old.score)
    best, other = (new, old) if takes_over else (old, new)
    inherited = larger_of_each(best.inherited, other.inherited)
    if other.depth >= best.depth and inherited == best.inherited:
        return best
    return replace(best, depth=min(best.depth, other.depth), inherited=inherited)


def larger_of_each(values: tuple[float, ...], others: tuple[float, ...]) -> tuple[float, ...]:
    """Of what two paths hand down, the larger of each value; the first when the paths hand down different things."""
    if values == others or len(values) != len(others):
        return values
    return tuple(map(max, values, others))
