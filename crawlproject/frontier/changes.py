"""What can happen to a frontier: the smallest changes, each a fact that can be written down and applied again.

An operation of the contract makes a few of them: ``take`` makes ``Leased`` and ``Picked``. A change holds a result, not a
request (the time of a host's next visit, not the delay it came from), so applying it again needs no clock, no random
generator and no setting.

In a stored record, the key says what its URL is fetched for; where the key is not enough, the kind is stored beside it. In
records of earlier versions, the score encodes the precedence class.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from crawlproject.records import ACTIVE, FIRST, PAGE, PLANTED, PROBE, REREADS, REVISITS, SITEMAP, CrawlUrl

LEAST_CLASS_SCORE = 2.5e17  # in records of earlier versions, a score from here on encodes a class; below, it is a score

_REVISIT_SCORE = 2e18
_PROBE_MARK = f"#{PROBE}/"


class Waits(NamedTuple):
    """A URL waits, or the record of a waiting URL has changed."""

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
    """A leased URL waits again, at least until ``not_before``."""

    url: str
    not_before: float


class Finished(NamedTuple):
    """A leased URL was fetched, and waits for its next visit with this score."""

    url: str
    refetch_at: float
    score: float


class Ended(NamedTuple):
    """A URL is done, whether it was leased, was waiting, or is new."""

    url: str


class Forgotten(NamedTuple):
    """A URL that was done is no longer known."""

    url: str


class Recorded(NamedTuple):
    """The history has this many lines."""

    lines: int


class Evicted(NamedTuple):
    """A waiting URL was evicted without a fetch, the ``total``-th so far. ``url`` None: only the total is known."""

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
    """No URL of the host with this name is taken before ``until``; 0: the block is lifted."""

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
    """Read a list that ``to_json`` made. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for any other list."""
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
    """The number for JSON, which has no infinity and no NaN: these become text."""
    return value if math.isfinite(value) else str(value)


def written_kind(key: str, parent: str | None, kind: str) -> str | None:
    """The kind that is stored beside the key; None where ``read_key`` can do without it."""
    return None if kind == PAGE and read_key(key, parent)[1] == PAGE else kind


def read_key(key: str, parent: str | None, kind: str | None = None) -> tuple[str, str, str]:
    """``url``, ``kind`` and ``variant`` of a stored record, from its ``key``, its ``parent`` and, if it was stored, its ``kind``.

    Records without a kind are pages, except in earlier versions: a probe is recognised by its key, a sitemap by its parent, a
    robots.txt.
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
    """The class and score of a record of an earlier version, in which scores above all others encoded classes."""
    if score < LEAST_CLASS_SCORE:
        return ACTIVE, score
    if score >= 8e18:
        return REREADS, 0.0
    if score >= _REVISIT_SCORE:
        return REVISITS, score / _REVISIT_SCORE - 1.0
    return (FIRST if score >= 1e18 else PLANTED), 0.0


def best_of_paths(old: CrawlUrl, new: CrawlUrl) -> CrawlUrl:
    """The record of a waiting URL to which another link was found; ``old`` itself if nothing changes.

    It is the record with the lower class, then the higher score, then ``old``. It gets the lesser depth of the two, and the
    larger of each inherited value.
    """
    takes_over = (new.precedence, -new.score) < (old.precedence, -old.score)
    best, other = (new, old) if takes_over else (old, new)
    inherited = larger_of_each(best.inherited, other.inherited)
    if other.depth >= best.depth and inherited == best.inherited:
        return best
    return replace(best, depth=min(best.depth, other.depth), inherited=inherited)


def larger_of_each(values: tuple[float, ...], others: tuple[float, ...]) -> tuple[float, ...]:
    """The larger of each inherited value of two paths; ``values`` if the paths hand down different numbers of values."""
    if values == others or len(values) != len(others):
        return values
    return tuple(map(max, values, others))
