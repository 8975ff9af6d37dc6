"""Host, origin and folder of a canonical URL, by slicing, since canonical URLs need no parser; the registrable domain of a
host; and the names of stored pages, the MD5 hash of the canonical URL (paper 000 section 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import cache, lru_cache
from hashlib import md5

_REMEMBERED = 50_000
_ENDS_OF_ADDRESSES = "]0123456789"  # a top-level domain ends with a letter


def host_of(url: str) -> str:
    """Return the lower-case host name of a canonical URL: the unit of politeness and of host rotation.

    The port is left out; an IPv6 address keeps its brackets.
    """
    authority = url.split("/", 3)[2]
    if ":" not in authority:
        return authority
    return authority[: authority.index("]") + 1] if authority[0] == "[" else authority.partition(":")[0]


def origin_of(url: str) -> str:
    """Return ``scheme://host[:port]`` of a canonical URL: the unit of robots.txt (RFC 9309 section 2.3)."""
    return url[: url.index("/", 8)]


def folder_of(url: str) -> str:
    """Return a URL up to, but without, its last slash."""
    return url.rpartition("/")[0]


def domain_of(url: str) -> str:
    """Return the registrable domain of a canonical URL: ``example.co.uk`` for ``http://www.example.co.uk/a``.

    A host without one (an IP address, ``localhost``, a public suffix) is returned as it is. Private suffixes such
    as ``github.io`` count as suffixes: each of their users has a registrable domain.
    """
    return registrable_domain(host_of(url))


def is_within(host: str, domains: Container[str]) -> bool:
    """Whether a host is one of these domains or a subdomain of one. The time does not depend on how many there are in a set."""
    while host not in domains:
        _, dot, host = host.partition(".")
        if not dot:
            return False
    return True


def sites_linked(url: str, links: Iterable[str]) -> dict[str, None]:
    """Return the other sites that a page at ``url`` links to, in the order of its links."""
    sites = dict.fromkeys(map(registrable_domain, dict.fromkeys(map(host_of, links))))
    sites.pop(domain_of(url), None)
    return sites


@lru_cache(_REMEMBERED)
def registrable_domain(host: str) -> str:
    """Return the registrable domain of a lower-case host name; below an unlisted suffix, its last two labels."""
    domain, suffix = _suffix_list()(host)
    if domain or suffix or host[-1:] in _ENDS_OF_ADDRESSES:
        return domain or host
    return ".".join(host.split(".")[-2:])


@cache
def _suffix_list() -> Callable[[str], tuple[str, str]]:
    """Return a function from host to domain and suffix. It uses tldextract's bundled list: no fetch, no cache on disk."""
    from tldextract import TLDExtract

    extract = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)

    def split(host: str) -> tuple[str, str]:
        parts = extract.extract_str(host)
        return parts.top_domain_under_public_suffix, parts.suffix

    return split


def page_name(url: str) -> str:
    """Return the MD5 of a canonical URL in 32 hexadecimal digits.

    ``http://www.uiowa.edu/`` is ``160766577426e1d01fcb7735091ec584``, the paper's example.
    """
    return md5(url.encode("utf-8"), usedforsecurity=False).hexdigest()


def is_name(found: object) -> bool:
    """Whether this can be the name of a page. A folder from elsewhere may have others, such as paths."""
    return isinstance(found, str) and found.isalnum()


def page_path(name: str) -> str:
    """Return the path of a page below the pages folder: ``16/07/160766577426e1d01fcb7735091ec584``.

    Two levels of 256 folders keep each folder small up to tens of millions of pages.
    """
    return f"{name[:2]}/{name[2:4]}/{name}"
