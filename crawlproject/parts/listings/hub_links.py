"""The hubs that a feed names, and the URL by which they know it (WebSub, section 4): in ``Link`` headers, or in the feed."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_HUBS = 5
MAX_LENGTH = 2_048  # characters of a URL
_MAX_HEADER = 16_384  # characters that are looked at
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_LINK = re.compile(rf'<([^<>]*)>((?:[^",<]|{_QUOTED})*)')  # RFC 8288 section 3
_PARAMETER = re.compile(rf';\s*(\w+)\s*=\s*({_QUOTED}|[^\s;"]+)')


class HubLinks(NamedTuple):
    """URLs as written; ``topic`` is the feed's own (``rel=self``), empty: not said."""

    topic: str = ""
    hubs: tuple[str, ...] = ()

    def with_link(self, rel: str, href: str) -> HubLinks:
        """These, and another link, if its relations, separated by spaces, are of this kind."""
        names = rel.lower().split()
        if not href or len(href) > MAX_LENGTH:
            return self
        topic = href if "self" in names and not self.topic else self.topic
        is_hub = "hub" in names and href not in self.hubs and len(self.hubs) < MAX_HUBS
        return HubLinks(topic, (*self.hubs, href) if is_hub else self.hubs)


NO_LINKS = HubLinks()


def links_in_header(header: str) -> HubLinks:
    """What the ``Link`` headers of a response, joined by commas, say. Any text gives an answer."""
    found = NO_LINKS
    for href, parameters in _LINK.findall(header[:_MAX_HEADER]):
        named = {
            name.lower(): value for name, value in reversed(_PARAMETER.findall(parameters))
        }  # the first of a name counts
        found = found.with_link(named.get("rel", "").strip('"'), href.strip())
    return found
