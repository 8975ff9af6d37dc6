"""URL canonicalization: one URL per resource (paper 000 section 2.4, RFC 3986 section 6, the WHATWG URL standard).

The steps, in this order:

1.  Surrounding white space, tabs, newlines and the fragment are removed; a relative reference is resolved.
2.  The WHATWG parser reads it as browsers do: scheme and host in lower case, international names in punycode, IPv4 and
    IPv6 addresses normalised, ``\\`` read as ``/``, ``.`` and ``..`` resolved, default ports dropped, an empty path
    replaced by ``/``, characters outside ASCII encoded as UTF-8, the query of a link in the encoding of its
    page (``encode_query``).
3.  User name and password, which identify a visitor, and the final dot of a host are removed.
4.  Percent-encoding is normalised, as in ``~`` for ``%7E``; see ``percent_encoding``.
5.  Session ids and tracking parameters are removed, and the other parameters sorted; see ``parameters``. An empty query
    loses its ``?``.
6.  The name of a default page is removed if no query follows.

Like ``w3lib.url.canonicalize_url`` this sorts parameters, writes a space as ``+`` and keeps blank values. That function
makes keys to compare, this one URLs to fetch: where w3lib would write ``?q`` as ``?q=``, or encode ``/`` and ``;`` in a
query, this keeps the form that servers expect. Scrapy requests a canonical URL without changing it.
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

# A URL that the steps above do not change, except for the default page. Doubtful cases do not match.
_CLEAN = re.compile(
    r"https?://(?=[^/]{1,253}/)(?![^/]*xn--)(?:[a-z0-9-]{1,63}\.)*+[a-z]{1,63}"
    r"(?:/(?!\.)(?:[A-Za-z0-9\-._~!$&'*+,=:@]++|%(?:[89A-F][0-9A-F]|2[0-9A-CF]))*+)++"
)
_HOST_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")


class Canonicalizer:
    """``canonicalizer(url, base=None) -> str``: the canonical form of ``url``, as a link on the page ``base``.

    ``default_pages``: True for ``DEFAULT_PAGES``, False to keep them, or the names to remove (case does not matter).
    ``strip_parameters``: names, or prefixes such as ``utm_*``, to drop besides those of ``parameters``.
    ``query_rules``: False leaves parameters, their order and session ids alone.
    Raises InvalidUrl for anything but an http or https URL.

    Idempotent for every string. The results for the last 32,768 short URLs are cached, since neighbouring pages share most
    of their links.
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
        if len(url) <= _MAX_CACHED_LENGTH and url.startswith(_ABSOLUTE):
            return self._remembered(url)
        if len(url) > MAX_LENGTH:
            raise InvalidUrl(url, f"longer than {MAX_LENGTH} characters")
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
        """The canonical form of an absolute URL, which may still have white space and a fragment."""
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
        """Remove the default page of a ``url`` without a query."""
        name_at = url.rfind("/") + 1
        return url[:name_at] if url[name_at:].lower() in self._default_pages else url


def _parsed(url: str) -> tuple[str, str, str, str]:
    """``(scheme, authority, path, query)`` from the WHATWG parser, with ``host[:port]`` as authority."""
    try:
        href = ada_url.normalize_url(url)
    except ValueError:
        raise InvalidUrl(url, "not an absolute URL with a valid host and port") from None
    scheme, mark, rest = href.partition("://")
    if scheme not in ("http", "https") or not mark:
        raise InvalidUrl(url, "neither http nor https")
    document, _, query = rest.partition("?")
    authority, _, path = document.partition("/")
    return scheme, _checked(authority.rpartition("@")[2], url), f"/{path}", query


def _checked(authority: str, url: str) -> str:
    """The authority without the final dot of the host. Raises InvalidUrl for an invalid host name."""
    if authority.startswith("["):
        return authority
    host, colon, port = authority.partition(":")
    host = host.removesuffix(".")
    if len(host) > 253 or not _HOST_NAME.fullmatch(host):
        raise InvalidUrl(url, "the host name is invalid (RFC 1123)")
    return host + colon + port


canonical_url = Canonicalizer()


def canonical_or_none(canonicalize: Callable[..., str], url: str, base: str | None = None) -> str | None:
    """The canonical form of ``url``, relative to ``base`` if there is one, or None for an invalid URL."""
    try:
        return canonicalize(url, base)
    except InvalidUrl:
        return None
