"""Where a document sends its reader at once: an instant refresh, or a script that does nothing else."""

from __future__ import annotations

import re

INSTANT = 10.0  # seconds: a refresh that waits longer is for a reader who has read; it stays a link

# The content of <meta http-equiv="refresh"> that leads elsewhere (HTML standard, section 4.2.5.3, "shared declarative
# refresh steps").
_REFRESH = re.compile(
    r"""\s*(?P<seconds>[\d.]+)(?:\s*[;,]|\s)\s*+(?:url\s*=\s*+|(?!url\s*=))(?P<quote>["']?)(?P<url>[^"']+)(?P=quote)""",
    re.IGNORECASE,
)
_LONGEST_SCRIPT = 600  # characters; a script that does nothing else is short
_OBJECT = r"(?:(?:window|document|self|top|parent|this) ?\. ?){0,2}"
_TARGET = r"""(?P<quote>["'])(?P<url>[^"'\s\\]{1,500})(?P=quote)"""
_SCRIPT = re.compile(  # of a script whose white space is folded
    r"(?:<!-- ?|// ?<!\[CDATA\[ ?)?(?:['\"]use strict['\"]; ?)?"
    r"(?:(?:window\.)?setTimeout ?\( ?(?:function ?\( ?\) ?\{ ?|\( ?\) ?=> ?(?:\{ ?)?|[\"'])?)?"
    rf"{_OBJECT}location ?(?:\. ?href ?)?(?:= ?|\. ?(?:replace|assign) ?\( ?){_TARGET} ?\)? ?;?"
    r"(?: ?[}\"']? ?, ?\d{1,5} ?\) ?;?)?(?: ?return (?:true|false) ?;?)?(?: ?// ?-->| ?// ?\]\]>| ?-->)?"
)


def refresh_of(content: str) -> tuple[str, float]:
    """Where a refresh leads, as written, and after how many seconds; an empty target when it leads nowhere else."""
    found = _REFRESH.match(content)
    if found is None:
        return "", 0.0
    try:
        return found["url"].strip(), float(found["seconds"])
    except ValueError:  # "1.2.3"
        return found["url"].strip(), 0.0


def script_target(script: str) -> str:
    """Where a script sends the reader, as written, when it does nothing else; empty when it does not, or does more."""
    if "location" not in script[:_LONGEST_SCRIPT] or len(script) > _LONGEST_SCRIPT:
        return ""
    found = _SCRIPT.fullmatch(" ".join(script.split()))
    return found["url"] if found else ""
