"""Which canonical URLs may be fetched at all: scope, trap rules, what the parts refuse, and robots.txt where it is known.

Pure rules. A refusal reads ``component/rule``, the name under which ``refused.json`` counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from crawlproject.core.part import Parts
from crawlproject.urls.hosts import host_of
from crawlproject.urls.traps import TrapFilter

TOO_DEEP = "trap/too_deep"  # the one refusal that a URL may escape on another path


class EntryRules:
    """The rules of one crawl. ``domains`` is ``CRAWL_ALLOWED_DOMAINS``; empty: the whole web.

    ``robots`` says why the robots.txt that is known forbids a URL.
    """

    def __init__(
        self, domains: Iterable[str], traps: TrapFilter, parts: Parts, robots: Callable[[str], str] = lambda url: ""
    ) -> None:
        self.traps = traps
        self._domains = tuple(domain.lower().lstrip(".") for domain in domains)
        self._parts = parts
        self._robots = robots

    def refusal(self, url: str, depth: int, *, any_extension: bool = False) -> str | None:
        """Why a canonical URL ``depth`` links from a seed may not enter the frontier; None: it may.

        ``any_extension``: its file name may end as if it were no page.
        """
        if self._domains and not self._in_scope(host_of(url)):
            return "scope/domain"
        rule = self.traps.refusal(url, depth, any_extension=any_extension)
        if rule:
            return f"trap/{rule}"
        return self.late_refusal(url, depth) or None

    def late_refusal(self, url: str, depth: int = 0) -> str:
        """Why a URL that was admitted is not fetched after all, by what was learned since; empty: it is.

        ``depth`` 0 is for what was fetched before, too.
        """
        return self._parts.refusal(url, depth) or self._robots(url)

    def is_barred(self, url: str, depth: int) -> bool:
        """Whether a canonical URL may not enter, and on no other path either."""
        return self.refusal(url, depth) not in (None, TOO_DEEP)

    def _in_scope(self, host: str) -> bool:
        return any(host == domain or host.endswith("." + domain) for domain in self._domains)
