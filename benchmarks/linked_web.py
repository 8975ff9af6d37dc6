"""A web of pages that consist only of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crawlproject.records import Reply
from crawlproject.webs.base import not_held


class LinkedWeb:
    """``links`` of each page by its URL, each in a paragraph on the topic ``reef``; a page takes ``latency`` seconds."""

    warnings: Sequence[str] = ()

    def __init__(self, links: Mapping[str, Sequence[str]], latency: float) -> None:
        self.latency = latency
        self._links = links

    def get(self, url: str) -> Reply:
        if url not in self._links:
            return not_held(url)
        body = "".join(f'<p>reef <a href="{link}">reef</a></p>' for link in self._links[url])
        return Reply(url, 200, {"content-type": "text/html"}, f"<title>{url}</title>{body}".encode(), self.latency)

    def urls(self) -> Iterator[str]:
        return iter(self._links)

    def __contains__(self, url: str) -> bool:
        return url in self._links

    def close(self) -> None:
        return None
