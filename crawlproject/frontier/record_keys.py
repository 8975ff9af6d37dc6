"""How stored records tell what their URL is fetched for: by the key, and where that is not enough by the kind beside it.

And how those of earlier versions tell its precedence class: by the score.
"""

from __future__ import annotations

from crawlproject.records import ACTIVE, FIRST, PAGE, PLANTED, PROBE, REREADS, REVISITS, SITEMAP

LEAST_CLASS_SCORE = 2.5e17  # of records of earlier versions: a lower score is one
_REVISIT_SCORE = 2e18
_PROBE_MARK = f"#{PROBE}/"


def written_kind(key: str, parent: str | None, kind: str) -> str | None:
    """The kind as it is stored beside the key; None where ``read_key`` knows it without."""
    return None if kind == PAGE and _kind_of(key, parent) == PAGE else kind


def read_key(key: str, parent: str | None, kind: str | None = None) -> tuple[str, str, str]:
    """``url``, ``kind`` and ``variant`` of a stored record, of which ``key``, ``parent`` and perhaps ``kind`` were written.

    Records without a kind are pages, except those of earlier versions: a probe is known by its key, a sitemap by the
    robots.txt that is its parent.
    """
    if kind is None:
        kind = _kind_of(key, parent)
        if kind == PAGE:
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


def _kind_of(key: str, parent: str | None) -> str:
    if _PROBE_MARK in key:
        return PROBE
    if parent is not None and parent.endswith("/robots.txt") and parent.count("/") == 3:
        return SITEMAP
    return PAGE
