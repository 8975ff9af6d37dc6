"""Host and origin of a canonical URL, by slicing; canonical URLs need no parser."""

from __future__ import annotations


def host_of(url: str) -> str:
    """The lower-case host name of a canonical URL: the unit of politeness and of host rotation.

    Without the port; an IPv6 address keeps its brackets.
    """
    authority = url.split("/", 3)[2]
    if ":" not in authority:
        return authority
    return authority[: authority.index("]") + 1] if authority[0] == "[" else authority.partition(":")[0]


def origin_of(url: str) -> str:
    """``scheme://host[:port]`` of a canonical URL: the unit of robots.txt (RFC 9309 section 2.3)."""
    return url[: url.index("/", 8)]


def folder_of(url: str) -> str:
    """A URL up to its last slash, which is left out."""
    return url.rpartition("/")[0]
