"""Setting of the part: where the logins are."""

from __future__ import annotations

from crawlproject.options import Options


class LoginOptions(Options):
    """Logins for some hosts."""

    crawl_logins: str = ""
    """a file with [cookies, passwords and headers](#logins) for some hosts; empty: none"""
