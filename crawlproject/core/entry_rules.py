"""Which canonical URLs may be fetched at all: scope, trap rules, hosts that were given up, and robots.txt where it is known.

Pure rules. A refusal reads ``component/rule``, the name under which ``refused.json`` counts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import TrapFilter

TOO_DEEP = "trap/too_deep"  # the one refusal that a URL may escape on another path


class HostFilter(Protocol):
    """What was learned about hosts: what is not fetched from them."""

    def refusal(self, url: str) -> str:
        """Why a canonical URL is not to be fetched, as ``component/rule``; empty: it may be."""
        ...


class EntryRules:
    """The rules of one crawl. ``domains`` is ``CRAWL_ALLOWED_DOMAINS``; empty: the whole web.

    ``redundant`` refuses URLs that show what others show; seeds are not asked about.
    """

    def __init__(
        self,
        domains: Iterable[str],
        traps: TrapFilter,
        host_filters: Sequence[HostFilter] = (),
        redundant: HostFilter | None = None,
    ) -> None:
        self.traps = traps
        self._domains = tuple(domain.lower().lstrip(".") for domain in domains)
        self._host_filters = host_filters
        self._redundant = redundant

    def refusal(self, url: str, depth: int, *, any_extension: bool = False) -> str | None:
        """Why a canonical URL ``depth`` links from a seed may not enter the frontier; None: it may.

        ``any_extension``: its file name may end as if it were no page.
        """
        if self._domains and not self._in_scope(host_of(url)):
            return "scope/domain"
        rule = self.traps.refusal(url, depth, any_extension=any_extension)
        if rule:
            return f"trap/{rule}"
        return (self._redundant.refusal(url) if self._redundant and depth else "") or self.host_refusal(url) or None

    def late_refusal(self, url: str, depth: int) -> str:
        """Why a URL that was admitted is not fetched after all, by what was learned since; empty: it is."""
        return self.host_refusal(url) or (self._redundant.refusal(url) if self._redundant and depth else "")

    def host_refusal(self, url: str) -> str:
        """Why ``url`` is not fetched, by what was learned about its host; empty: it may be."""
        for hosts in self._host_filters:
            if reason := hosts.refusal(url):
                return reason
        return ""

    def is_barred(self, url: str, depth: int) -> bool:
        """Whether a canonical URL may not enter, and on no other path either."""
        return self.refusal(url, depth) not in (None, TOO_DEEP)

    def _in_scope(self, host: str) -> bool:
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)
