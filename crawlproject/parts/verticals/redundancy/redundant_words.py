"""URLs that, by their words, show again what another page shows: in another order, for print, or with a form to reply.

What a forum, a blog or a shop links to beside its content: duplicate and uninformative pages (Cai et al., "iRobot: An Intelligent
Crawler for Web Forums", WWW 2008). Judged by names of parameters and segments that widespread software uses, so a list, not a
lesson: ``inspection/redundancy`` takes it for granted until the pages of a site say otherwise, and learns the rest.
"""

from __future__ import annotations

import re

_ORDERS = frozenset((
    "sort", "sortby", "sort_by", "sortdir", "sort_order", "sortorder", "order", "orderby", "order_by", "order_dir", "orderdir",
))  # fmt: skip
_PARAMETERS = _ORDERS | frozenset((
    "replytocom", "reply", "replyto", "quote", "print", "printable", "printview", "printpage", "share", "sharesource",
))  # fmt: skip
_ACTIONS = ("action", "act", "do", "mode", "view", "format", "task")
_DONE = (
    "reply",
    "print",
    "printable",
    "quote",
    "report",
    "share",
    "email",
    "post_reply",
    "newreply",
    "printpage",
    "printview",
)
_SEGMENTS = frozenset((
    "print", "printable", "printview", "reply", "newreply", "post-reply", "quote", "email-this", "report-post",
    "printthread.php", "newreply.php", "report.php", "sendmessage.php",
))  # fmt: skip
_PAIR = re.compile(r"(?:^|[&;])([^=&;]+)(?:=([^&;]*))?")


def is_redundant(url: str) -> bool:
    """Whether a canonical URL looks like another view of a page."""
    path, _, query = url.partition("?")
    if not _SEGMENTS.isdisjoint(path.lower().split("/")[3:]):
        return True
    for name, value in _PAIR.findall(query.lower()) if query else ():
        if name in _PARAMETERS or (name in _ACTIONS and value in _DONE):
            return True
    return False


def base_of(url: str) -> str:
    """The canonical URL that a redundant one shows in another order; empty when it is another kind of view."""
    path, _, query = url.partition("?")
    pairs = query.split("&")
    kept = [pair for pair in pairs if pair.partition("=")[0].lower() not in _ORDERS]
    if not query or len(kept) == len(pairs):
        return ""
    return f"{path}?{'&'.join(kept)}" if kept else path
