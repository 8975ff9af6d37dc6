"""Opens a crawl from a folder, from the folders of several workers, or from a remote address, as one crawl folder."""

from __future__ import annotations

from pathlib import Path

from crawlproject.adapters.subcommand import cache_dir
from crawlproject.exporting.selection import whole_folder
from crawlproject.parts.registry import part_module
from crawlproject.storage.append_log import write_atomically
from crawlproject.storage.remote import is_remote

_MERGED = "merged"  # file in a view with the state of its workers at the last merge


def crawl_folder(place: str | Path, *, archives: bool = False) -> Path:
    """The folder of the crawl at ``place``. From a remote address, only needed files are copied, with ``archives`` on request.

    Raises ``BadCrawlDir``, ``BadInput`` and ``StorageFailed``.
    """
    return _view_of(place, archives=archives) or whole_folder(Path(place))


def indexed_folder(place: str | Path) -> Path:
    """The same for callers that need only the index: folders of local workers are used as merged for the index."""
    return _view_of(place) or Path(place)


def _view_of(place: str | Path, *, archives: bool = False) -> Path | None:
    """The local view of a remote address; None for a crawl folder on this machine."""
    view = part_module("mirror", "view")
    if view is None or not (is_remote(str(place)) or view.is_store(Path(place))):
        return None
    address = str(place) if is_remote(str(place)) else Path(place).resolve().as_uri()
    folder: Path
    folder, state = view.open_view(address, cache_dir() / "crawls", archives=archives)
    merged = folder / _MERGED
    if not merged.exists() or merged.read_text() != state:
        whole_folder(folder)
        write_atomically(merged, [state.encode()], sync=False)
    return folder
