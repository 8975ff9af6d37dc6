"""Pages that may change together: those of a host, and those of a host whose URLs look alike."""

from __future__ import annotations

from hashlib import blake2b

from crawlproject.urls.hosts import host_of


class PageGroups:
    """Numbers hosts and templates from 0. About 100 bytes of memory for each."""

    def __init__(self) -> None:
        self._hosts: dict[int, int] = {}
        self._templates: dict[int, int] = {}

    def of(self, url: str) -> tuple[int, int]:
        """The numbers of the host and of the template of a URL.

        The template of a path is its first folder and how many segments it has; a query counts as one more.
        """
        host = host_of(url)
        path, _, query = url.partition("//")[2].partition("?")
        folders = path.split("/")[1:]
        first = folders[0] if len(folders) > 1 else ""
        template = f"{host}/{first}/{len(folders)}{'?' if query else ''}"
        return _number(self._hosts, host), _number(self._templates, template)


def _number(numbers: dict[int, int], name: str) -> int:
    key = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return numbers.setdefault(key, len(numbers))
