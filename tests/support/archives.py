"""The archived webs and change histories, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_data(place: str) -> Path:
    """Return the file or folder ``place`` of the archives; skip the test when it is absent."""
    root = Path(os.environ.get("TOPICAL_SHARED", Path(__file__).parents[3] / "shared"))
    path = root / "data" / place
    if not path.exists():
        pytest.skip("the archived webs are absent")
    return path
