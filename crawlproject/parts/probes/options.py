"""Settings of the part: probes for cloaking, personalised pages and soft 404s."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crawlproject.options import Count, Options, Share, StarterOnly


class ProbeOptions(Options):
    """Probes for cloaking, personalised pages and soft 404s."""

    crawl_cloaking_probe: Share = 0.0
    """share of pages | pages fetched again as a browser, to [compare](#probes); 0: none | Wu and Davison 2005"""
    crawl_cloaking_agent: Annotated[str, Field(pattern=r"^[\x20-\x7e]+$")] = (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
    )
    """`User-Agent` of these fetches"""
    crawl_cloaking_proxy: Annotated[
        str,
        Field(pattern=r"^$|^https?://\S+$", exclude=True),  # may carry a password
        StarterOnly("it sees what is fetched, also with a login"),
    ] = ""
    """proxy for these fetches at another address, `http://user:password@host:port`, since some sites cloak by address;
    empty: the proxy of the crawl, if any"""
    crawl_login_probe: Share = 0.0
    """share of pages of hosts with a [login](#logins) | pages fetched again without the login, to [compare](#probes);
    0: none | 004 section 8"""
    crawl_soft_404_probe: Count = 0
    """pages | pages of a host after which it is asked for one that [does not exist](#probes); 0: never. 3 is a good
    start | Bar-Yossef and others 2004"""
