"""URLs as people type them."""

from __future__ import annotations

import re

_NO_SCHEME = re.compile(r"(?:[\w-]+\.)+[^\W\d_][\w-]+\.?(?::\d+)?(?:[/?#].*)?", re.DOTALL)


def with_scheme(text: str) -> str:
    """``www.reef.example/a`` as ``https://www.reef.example/a``, as browsers do it; any other text unchanged."""
    text = text.strip()
    return f"https://{text}" if _NO_SCHEME.fullmatch(text) else text
