"""How stored records tell what their URL is fetched for: by the key, and where that is not enough by the kind beside it."""

from __future__ import annotations

from crawlproject.records import PAGE, PROBE, SITEMAP

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


def _kind_of(key: str, parent: str | None) -> str:
    if _PROBE_MARK in key:
        return PROBE
    if parent is not None and parent.endswith("/robots.txt") and parent.count("/") == 3:
        return SITEMAP
    return PAGE
