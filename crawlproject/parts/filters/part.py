"""URLs that a person excludes, even while the crawl runs, for example when the owner of a site complains."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from crawlproject.core.part import Part, Setup
from crawlproject.errors import BadSetting
from crawlproject.parts.filters.options import FilterOptions
from crawlproject.urls.canonical import Canonicalizer
from crawlproject.urls.hosts import host_of, registrable_domain

_canonical = Canonicalizer(default_pages=False, query_rules=False)
_warn = cache(logging.getLogger(__name__).warning)  # each warning only once


class Filters(Part):
    """The rules of ``CRAWL_EXCLUDED`` and of ``CRAWL_EXCLUDED_FILE``, one per line; the file is read again when it changes."""

    name = "filters"

    def __init__(self, rules: list[str], file: str, canonicalize: Callable[[str], str] = _canonical) -> None:
        self._canonicalize = canonicalize
        self._own = [("setting CRAWL_EXCLUDED", rule) for rule in rules]
        self._file, self._looked_at, self._text = Path(file) if file else None, 0.0, "unread"
        self._look()

    @classmethod
    def make(cls, setup: Setup) -> Filters | None:
        options = setup.options.of(FilterOptions)
        rules, file = options.crawl_excluded, options.crawl_excluded_file
        return cls(rules, file, setup.canonicalize) if rules or file else None

    def refusal(self, url: str, depth: int) -> str:
        name = host_of(url)
        if name in self._rules["host"]:
            return "filter/host"
        while name and name not in self._rules["domain"]:
            name = name.partition(".")[2]
        return "filter/domain" if name else "filter/pattern" if self._pattern.search(url) else ""

    def end_reason(self, now: float) -> str:
        """Always empty. The hook is called before each URL has its turn, so it checks the file, at most once a second."""
        if self._file and abs(now - self._looked_at) >= 1.0:
            self._looked_at = now
            try:
                self._look()
            except BadSetting as wrong:
                _warn("%s; the previous rules stay in force", str(wrong))
        return ""

    def _look(self) -> None:
        """Read the rules if the file has changed. If that raises ``BadSetting``, the old rules stay in force."""
        try:
            text = self._file.read_text("utf-8-sig", "replace") if self._file else ""
        except OSError as error:
            raise BadSetting("setting CRAWL_EXCLUDED_FILE", f"cannot be read: {error}") from None
        if text != self._text:
            self._text = text
            lines = [(f"{self._file}, line {number}", line) for number, line in enumerate(text.splitlines(), 1)]
            said = [(at, rule) for at, line in self._own + lines if (rule := f" {line}".split(" #")[0].strip())]
            rules = [_read(at, rule, self._canonicalize) for at, rule in said]
            self._rules = {kind: {rule for of, rule in rules if of == kind} for kind in ("host", "domain", "pattern")}
            self._pattern = re.compile("|".join(f"(?:{rule})" for rule in sorted(self._rules["pattern"])) or "(?!)")


def _read(place: str, rule: str, canonicalize: Callable[[str], str]) -> tuple[str, str]:
    """The kind of a rule, and what it excludes. A URL excludes all URLs that begin with it, over http and https. The form that
    this crawl gives it, such as one without ``index.html``, may begin more URLs than were meant, so that form is excluded alone.
    """
    name = rule.removeprefix("*").removeprefix(".")
    with suppress(ValueError, re.error):
        if len(rule) > 2 and rule[0] == rule[-1] == "/" and not re.compile(f"(?:{rule[1:-1]})").groups:
            return "pattern", rule[1:-1]
        if "://" in rule:
            begins, same = (re.escape(spelled(rule).partition(":")[2]) for spelled in (_canonical, canonicalize))
            return "pattern", f"^https?:(?:{begins}|{same}$)"
        if re.fullmatch(r"[^\s/?#@:\\]+", name):
            host = host_of(_canonical(f"http://{name}/"))
            return "domain" if name != rule or registrable_domain(host) == host else "host", host
    raise BadSetting(place, f"expected a host, a domain, a URL or a /pattern/ without groups, not {rule!r}")
