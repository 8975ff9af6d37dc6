"""Opens a virtual web by name: a WARC, a folder of hosts, an earlier crawl, or ``sample``."""

from __future__ import annotations

from pathlib import Path

from crawlproject.errors import BadWeb
from crawlproject.records import Reply
from crawlproject.webs.base import Web
from crawlproject.webs.crawl_folder import CrawledWeb, is_crawl_folder
from crawlproject.webs.host_folder import HostFolder
from crawlproject.webs.sample import SampleWeb
from crawlproject.webs.warc_file import WarcWeb

__all__ = ["WEB_WISH", "Reply", "Web", "open_web"]

WEB_WISH = (
    "expected a WARC file (.warc, .warc.gz), a folder of <host>/<path> files, a crawl folder, or the word `sample`"
)


def open_web(name: str | Path, *, cache_dir: Path) -> Web:
    """Open the web ``name``: a WARC file, a folder of ``<host>/<path>`` files, a crawl folder, or
    ``sample``.

    ``cache_dir`` holds the indexes of archives, so that an archive is parsed only once; it is created if missing.
    Raises ``BadWeb`` for an unknown web.
    """
    if str(name) == "sample":
        return SampleWeb()
    path = Path(name)
    if path.is_dir():
        return CrawledWeb(path) if is_crawl_folder(path) else HostFolder(path)
    if path.is_file():
        return WarcWeb(path, cache_dir=cache_dir)
    if path.exists():
        raise BadWeb(f"web {str(name)!r}", f"neither a file nor a folder; {WEB_WISH}")
    raise BadWeb(f"web {str(name)!r}", f"there is no such file or folder; {WEB_WISH}")
