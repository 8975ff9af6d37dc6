"""Where the extension for browsers lies."""

from __future__ import annotations

from pathlib import Path

from crawlproject.errors import BadInput


def extension_folder() -> Path:
    """The folder that a browser loads. Raises ``BadInput`` when the package is in a zip file."""
    folder = Path(__file__).parent / "browser"
    if not (folder / "manifest.json").is_file():
        raise BadInput("companion --extension", "the crawler is in a zip file; unpack it to load the extension")
    return folder.resolve()
