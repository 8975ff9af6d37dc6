"""Parameters of a URL that name a visitor or a campaign and not a resource, and the order of those that stay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_plus, unquote_to_bytes

# Names that only advertisers, mailers and statistics use. Never ``ref``, ``source`` or ``id``, which name content too.
TRACKING = (
    "utm_*", "pk_*", "piwik_*", "mtm_*", "matomo_*", "hsa_*",
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ysclid", "twclid", "ttclid",
    "igshid", "li_fat_id", "rb_clickid", "wickedid", "_openstat", "_ga", "_gl", "mc_cid", "mc_eid", "mkt_tok",
    "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking", "oly_anon_id", "oly_enc_id", "vero_id",
)  # fmt: skip

# Names that session handlers of servers generate.
SESSIONS = ("phpsessid", "jsessionid", "aspsessionid*", "cfid", "cftoken", "oscsid", "zenid")

# Names that mean a session only when the value is a token; a conference may well have ``?session_id=12``.
_SESSIONS_WHEN_OPAQUE = frozenset(("sid", "sessid", "sess_id", "sessionid", "session_id"))
_OPAQUE = re.compile(r"(?=.*[0-9])[0-9A-Za-z_-]{16,}")

# ``/a;jsessionid=1`` (Java). Never after ``/.`` or ``/..``, which would become dot segments.
_PATH_PARAMETER = re.compile(r"(?<!/\.)(?<!/\.\.);(?:jsessionid|phpsessid)=[^/;]*", re.IGNORECASE)

# ``/(S(24 characters))/`` (ASP.NET).
_PATH_SEGMENT = re.compile(r"/\(S\([0-9a-z]{24}\)\)(?=/|\Z)", re.IGNORECASE)


def path_without_session(path: str) -> str:
    """Drop session ids from a path."""
    if ";" in path:
        path = _PATH_PARAMETER.sub("", path)
    if "/(" in path:
        path = _PATH_SEGMENT.sub("", path)
    return path


class ParameterRules:
    """Which query parameters to drop. ``extra``: more names, or prefixes such as ``utm_*``; case does not matter."""

    def __init__(self, extra: Iterable[str] = ()) -> None:
        patterns = [*TRACKING, *SESSIONS, *(name.lower() for name in extra)]
        self._names = frozenset(name for name in patterns if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in patterns if name.endswith("*"))

    def apply(self, query: str) -> str:
        """Drop the unwanted parameters and the empty ones; sort the rest by decoded name, then value.

        Repeated parameters and blank values stay. ``query`` has its one spelling (``escapes.spell_form``).
        """
        kept = [pair for pair in query.split("&") if pair and not self._unwanted(pair)]
        if "%3D" in query:
            kept = [_bare_equals(pair) for pair in kept]
        if len(kept) > 1:
            kept.sort(key=_decoded if "%" in query or "+" in query else _parted)
        return "&".join(kept)

    def _unwanted(self, pair: str) -> bool:
        name, _, value = pair.partition("=")
        if "%" in name or "+" in name:
            name = unquote_plus(name)
        name = name.lower()
        if name in _SESSIONS_WHEN_OPAQUE:
            return _OPAQUE.fullmatch(value) is not None
        return name in self._names or name.startswith(self._prefixes)


def _bare_equals(pair: str) -> str:
    """Only the first ``=`` delimits: in the value it is data."""
    name, mark, value = pair.partition("=")
    return name + mark + value.replace("%3D", "=")


def _parted(pair: str) -> tuple[str, str, str]:
    """The sort key of a pair in which nothing is encoded: as ``_decoded`` would order it."""
    return pair.partition("=")


def _decoded(pair: str) -> tuple[bytes, bytes, str]:
    """The sort key: w3lib's (name and value, decoded), and the spelling for pairs that decode alike."""
    name, _, value = pair.replace("+", " ").partition("=")
    return unquote_to_bytes(name), unquote_to_bytes(value), pair
