"""One spelling per resource (paper 000 section 2.4, RFC 3986 section 6, the WHATWG URL standard).

In this order:

1.  White space around the URL, tabs and newlines in it, and the fragment go; a relative reference is resolved.
2.  The WHATWG parser reads it as browsers do: scheme and host in lower case, international names in punycode, odd
    spellings of IPv4 and IPv6 addresses made one, ``\\`` read as ``/``, ``.`` and ``..`` resolved, default ports
    dropped, an empty path made ``/``, characters outside ASCII encoded as UTF-8.
3.  User name and password go: they name a visitor. So does the final dot of a host.
4.  Percent-encoding gets one spelling, ``~`` for ``%7E``; see ``escapes``.
5.  Session ids and tracking parameters go, the other parameters are sorted; see ``parameters``. A query that ends up
    empty loses its ``?``.
6.  The name of a default page goes, when no query follows.

Sorting, ``+`` for a space and blank values kept are what ``w3lib.url.canonicalize_url`` does too. That function makes
keys to compare; this one makes URLs to fetch. So where w3lib would write ``?q`` as ``?q=``, or encode ``/`` and ``;``
in a query, the spelling that servers expect is kept. Scrapy fetches every canonical URL letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

import ada_url

from crawlproject.errors import InvalidUrl
from crawlproject.urls.parameters import ParameterRules, path_without_session
from crawlproject.urls.percent_encoding import spell_form, spell_path, spell_query
from crawlproject.urls.resolve import MAX_LENGTH, absolute, cleaned

DEFAULT_PAGES = frozenset(
    (
        "index.html", "index.htm", "index.shtml", "index.xhtml",
        "index.php", "index.php3", "index.phtml", "index.asp", "index.aspx", "index.jsp", "index.cfm", "index.cgi",
        "default.html", "default.htm", "default.asp", "default.aspx",
    )
)  # fmt: skip

_MAX_CACHED_LENGTH = 512
_ABSOLUTE = ("http://", "https://")
_CACHED_URLS = 32_768

# A URL that the steps above leave as it is, but for the default page. Anything doubtful does not match.
_CLEAN = re.compile(
    r"https?://(?=[^/]{1,253}/)(?![^/]*xn--)(?:[a-z0-9-]{1,63}\.)*[a-z]{1,63}"
    r"(?:/(?!\.)(?:[A-Za-z0-9\-._~!$&'*+,=:@]|%(?:[89A-F][0-9A-F]|2[0-9A-CF]))*)+"
)
_HOST_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")


class Canonicalizer:
    """``canonicalizer(url, base=None) -> str``: the one spelling of ``url``, read as a link on the page ``base``.

    ``default_pages``: True for ``DEFAULT_PAGES``, False to keep them, or the names to remove (case does not matter).
    ``strip_parameters``: names, or prefixes such as ``utm_*``, to drop besides those of ``parameters``.
    ``query_rules``: False leaves parameters, their order and session ids alone.
    Raises InvalidUrl for what is not an http or https URL.

    Idempotent for every string. The answers for the last 32,768 short URLs are remembered: most links of a page stand
    on its neighbours too.
    """

    def __init__(
        self,
        *,
        default_pages: bool | Iterable[str] = True,
        strip_parameters: Iterable[str] = (),
        query_rules: bool = True,
    ) -> None:
        if isinstance(default_pages, bool):
            default_pages = DEFAULT_PAGES if default_pages else ()
        self._default_pages = frozenset(name.lower() for name in default_pages)
        self._parameters = ParameterRules(strip_parameters) if query_rules else None
        self._remembered = lru_cache(maxsize=_CACHED_URLS)(self._canonical)

    def __call__(self, url: str, base: str | None = None) -> str:
        if len(url) > MAX_LENGTH:
            raise InvalidUrl(url, f"longer than {MAX_LENGTH} characters")
        if len(url) <= _MAX_CACHED_LENGTH and url.startswith(_ABSOLUTE):
            return self._remembered(url)
        href = cleaned(url)
        if base is not None:
            href = absolute(href, base)
        if len(href) <= _MAX_CACHED_LENGTH:
            return self._remembered(href)
        canonical = self._canonical(href)
        if len(canonical) > MAX_LENGTH:
            raise InvalidUrl(url, f"longer than {MAX_LENGTH} characters when resolved and encoded")
        return canonical

    def _canonical(self, url: str) -> str:
        """The canonical spelling of what needs no base any more; white space and a fragment may still be there."""
        if _CLEAN.fullmatch(url):
            return self._without_default_page(url)
        return self._rewritten(cleaned(url))

    def _rewritten(self, url: str) -> str:
        scheme, authority, path, query = _parsed(url)
        path = spell_path(path)
        if self._parameters is None:
            query = spell_query(query)
        else:
            path = path_without_session(path) or "/"
            query = self._parameters.apply(spell_form(query)) if query else ""
        if query:
            return f"{scheme}://{authority}{path}?{query}"
        return f"{scheme}://{authority}{self._without_default_page(path)}"

    def _without_default_page(self, url: str) -> str:
        """``url`` has no query, so that it ends with the path."""
        name_at = url.rfind("/") + 1
        return url[:name_at] if url[name_at:].lower() in self._default_pages else url


def _parsed(url: str) -> tuple[str, str, str, str]:
    """``(scheme, authority, path, query)`` as the WHATWG parser sees them, the authority being ``host[:port]``."""
    try:
        href = ada_url.normalize_url(url)
    except ValueError:
        raise InvalidUrl(url, "no absolute URL with a valid host and port") from None
    scheme, mark, rest = href.partition("://")
    if scheme not in ("http", "https") or not mark:
        raise InvalidUrl(url, "neither http nor https")
    document, _, query = rest.partition("?")
    authority, _, path = document.partition("/")
    return scheme, _checked(authority.rpartition("@")[2], url), f"/{path}", query


def _checked(authority: str, url: str) -> str:
    """The authority without the final dot of the host. Raises InvalidUrl for a host that no name server can know."""
    if authority.startswith("["):
        return authority
    host, colon, port = authority.partition(":")
    host = host.removesuffix(".")
    if len(host) > 253 or not _HOST_NAME.fullmatch(host):
        raise InvalidUrl(url, "the host is not a host name (RFC 1123)")
    return host + colon + port


canonical_url = Canonicalizer()


def canonical_or_none(canonicalize: Callable[..., str], url: str, base: str | None = None) -> str | None:
    """The canonical spelling of ``url``, relative to ``base`` when there is one, or None for what is no URL."""
    try:
        return canonicalize(url, base)
    except InvalidUrl:
        return None
