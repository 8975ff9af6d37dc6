"""The profile: all data that is kept about a person, as a document that the person can read and edit.

{
  "language": "en",
  "paused": false,
  "interests": {"caching": 2.31, "etag": 1.7, "football": -0.4},
  "never": ["mail.example"],
  "saved": ["https://..."],
  "dismissed": ["https://..."],
  "updated": "2026-11-22T23:40:00+00:00"
}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from crawlproject.errors import BadInput
from crawlproject.urls.hosts import is_within

MOST_URLS = 500  # the latest saved URLs, and as many dismissed ones
MOST_WEIGHT = 1_000_000  # largest weight that a person may give a word
_TOP = ("language", "paused", "interests", "never", "saved", "dismissed", "updated")


@dataclass
class Profile:
    """``interests`` are weights by word. The companion neither learns nor looks ahead from pages of the domains in ``never``.

    ``updated`` is the time of the last learning in seconds since the epoch, 0 if there was none.
    """

    language: str = "en"
    paused: bool = False
    interests: dict[str, float] = field(default_factory=dict)
    never: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    dismissed: list[str] = field(default_factory=list)
    updated: float = 0.0

    def is_excluded(self, host: str) -> bool:
        """Whether the person has excluded this host."""
        return is_within(host, self.never)

    def mark(self, url: str, verdict: str) -> None:
        """Record that the person has ``saved`` or ``dismissed`` a page; any other verdict removes the record."""
        for name, urls in (("saved", self.saved), ("dismissed", self.dismissed)):
            if url in urls:
                urls.remove(url)
            if name == verdict:
                urls.append(url)
                del urls[:-MOST_URLS]

    def text(self) -> str:
        """The profile as JSON, the strongest interests first."""
        ranked = sorted(self.interests.items(), key=lambda item: (-item[1], item[0]))
        updated = datetime.fromtimestamp(self.updated, UTC).isoformat(timespec="seconds") if self.updated else ""
        shown = {**vars(self), "interests": {word: round(weight, 3) for word, weight in ranked}, "updated": updated}
        return json.dumps({name: shown[name] for name in _TOP}, ensure_ascii=False, indent=2) + "\n"


def read_profile(text: str, place: str) -> Profile:
    """Parse a profile, which a person may have edited. Missing fields have their defaults. Raises ``BadInput``."""
    try:
        found = json.loads(text)
        json.dumps(found, ensure_ascii=False).encode()  # refuses lone surrogates such as \ud800
    except (ValueError, RecursionError) as wrong:
        raise BadInput(place, f"is not JSON ({wrong}); correct it, or delete the file to start over") from None
    if not isinstance(found, dict):
        raise BadInput(place, "expected a JSON object; correct it, or delete the file to start over")
    unknown = [name for name in found if name not in _TOP]
    if unknown:
        raise BadInput(place, f"there is no field {unknown[0]!r}; expected {', '.join(_TOP)}")
    return Profile(
        language=_checked(found, "language", "en", str, "a language code such as en", place) or "en",
        paused=_checked(found, "paused", False, bool, "true or false", place),
        interests=_weights(found, place),
        never=[domain.strip().lower() for domain in _texts(found, "never", place) if domain.strip()],
        saved=_texts(found, "saved", place),
        dismissed=_texts(found, "dismissed", place),
        updated=_time(_checked(found, "updated", "", str, "a time", place), place),
    )


def _checked(found: Mapping[str, Any], name: str, default: Any, kind: type, wish: str, place: str) -> Any:
    value = found.get(name, default)
    if not isinstance(value, kind):
        raise BadInput(f"{place}, {name}", f"expected {wish}")
    return value


def _weights(found: Mapping[str, Any], place: str) -> dict[str, float]:
    weights = _checked(found, "interests", {}, dict, "words with weights", place)
    for word, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not abs(weight) <= MOST_WEIGHT:
            raise BadInput(f"{place}, interests, {word}", f"expected a number of at most {MOST_WEIGHT:,}")
    return {word: float(weight) for word, weight in weights.items()}


def _texts(found: Mapping[str, Any], name: str, place: str) -> list[str]:
    texts: list[str] = _checked(found, name, [], list, "a list of texts", place)
    if not all(isinstance(text, str) for text in texts):
        raise BadInput(f"{place}, {name}", "expected a list of texts")
    return texts


def _time(text: str, place: str) -> float:
    try:
        seconds = datetime.fromisoformat(text).timestamp() if text else 0.0
        datetime.fromtimestamp(seconds, UTC)  # must work when the profile is written again
        return seconds
    except (ValueError, OverflowError):
        raise BadInput(f"{place}, updated", "expected a time such as 2026-11-22T23:40:00+00:00") from None
