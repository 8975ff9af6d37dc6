"""Learned rules about URLs with similar text: one canonical URL is crawled in place of its variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from crawlproject.urls.post import is_post


class UrlNormalizer(Protocol):
    """A learned rule: different URLs, similar text."""

    def normalized(self, url: str) -> str:
        """The canonical URL to crawl in place of ``url``; ``url`` itself when no rule applies.

        A URL that waits is asked about once more when its turn comes: the rule may be younger than it is.
        """
        ...


class Normalization:
    """The rules of a crawl, applied in turn."""

    def __init__(self, normalizers: Sequence[UrlNormalizer] = ()) -> None:
        self._normalizers = normalizers

    def rewrites(self, url: str) -> list[tuple[str, str]]:
        """Each URL on the way to the one to crawl in place of ``url``, with its successor; none when no rule applies.

        None applies to a POST.
        """
        found: list[tuple[str, str]] = []
        if is_post(url):
            return found
        for normalizer in self._normalizers:
            variant = normalizer.normalized(url)
            if variant != url:
                found.append((url, variant))
                url = variant
        return found

    def is_replaced(self, url: str, known: Callable[[str], bool]) -> bool:
        """Whether a variant that would be crawled in place of ``url`` is ``known``."""
        if is_post(url):
            return False
        variants = {normalizer.normalized(url) for normalizer in self._normalizers} - {url}
        return any(known(variant) for variant in variants)
