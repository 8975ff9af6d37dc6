"""Files at an address that fsspec understands, such as ``s3://bucket/key``. Each file appears complete, or not at all.

An object store (S3, Google, Azure) shows an object once it is complete: a small one is one request, a large one a multipart
upload that is completed at the end. On other file systems, a file gets its name when it is complete. Credentials come from the
environment or the configuration of fsspec, never from an address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawlproject.errors import BadInput, MissingExtra, StorageFailed
from crawlproject.extras import need
from crawlproject.storage.crawl_files import refuse_crawl_file

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_SMALL = 8 * 2**20  # bytes that are sent in one request
_AT_ONCE = 8  # parallel requests
_PERMISSION = re.compile(r"(?:Credential|Token|Profile|Auth)\w*(?:Error|NotFound)$")  # names of exceptions
_SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|KEY", re.IGNORECASE)  # names of variables


def is_remote(target: str) -> bool:
    """Whether ``target`` is an address rather than a path on this machine."""
    return _ADDRESS.match(target) is not None


class Remote:
    """The place at ``address``: a file, or a folder whose ``keys`` are relative paths with ``/``.

    Raises ``BadInput`` for an address that cannot be used, ``MissingExtra`` if a package is missing. The methods raise
    ``BadInput`` if a person has to act (no bucket, no credentials, access refused), and ``StorageFailed`` for failures that may
    pass.
    """

    def __init__(self, address: str) -> None:
        if not is_remote(address) or "::" in address:
            raise BadInput(address, "expected an address such as s3://bucket/folder")
        if "@" in urlsplit(address).netloc or "?" in address:
            shown = address.partition("://")[0] + "://..."
            raise BadInput(shown, "an address must have no user, password or query; credentials are in the environment")
        self.address = address.rstrip("/")
        scheme, _, path = self.address.partition("://")
        if not path.strip("/"):
            raise BadInput(address, "expected a bucket or a folder after ://")
        self._files, self._path = _opened(scheme.lower(), self.address)
        if scheme.lower() in ("file", "local"):
            refuse_crawl_file(Path(self._path))
        self._folders: set[str] = set()

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rpartition("/")[2]

    def send(self, source: Path, key: str = "") -> int:
        """Send a file; return its size in bytes. Raises ``FileNotFoundError`` when ``source`` is not there."""
        size = source.stat().st_size
        if size <= _SMALL:
            data = source.read_bytes()
            self.put(key, data)
            return len(data)
        with self._failing(key):
            # By default, s3fs and gcsfs hold ten pieces of 50 MB in memory.
            pieces = {"chunksize": _SMALL} if {"s3", "gs"} & {*self._files.protocol} else {}
            self._place(key, lambda path: self._files.put_file(str(source), path, **pieces))
        return size

    def put(self, key: str, data: bytes) -> None:
        """Write ``data`` as a file."""
        with self._failing(key):
            self._place(key, lambda path: self._files.pipe_file(path, data))

    def read(self, key: str, start: int | None = None, end: int | None = None) -> bytes:
        """The content from byte ``start`` to ``end``. Raises ``StorageFailed``, also if there is no file."""
        with self._failing(key, "read"):
            try:
                return bytes(self._files.cat_file(self._at(key), start=start, end=end))
            except FileNotFoundError:
                raise StorageFailed(f"cannot read {self.address}/{key}: it is not there") from None

    def names(self, folder: str = "") -> list[str]:
        """The names of the files and folders in a folder; empty if it does not exist."""
        with self._failing(folder, "read"):
            self._files.invalidate_cache()
            try:
                found = self._files.ls(self._at(folder), detail=False)
            except FileNotFoundError:
                return []
            names = [str(path).rstrip("/").rpartition("/")[2] for path in found]
            return [name for name in names if not name.startswith(".")]

    def below(self, folder: str) -> Remote:
        """The place of a folder inside this one."""
        return Remote(f"{self.address}/{folder}")

    def get(self, key: str) -> bytes | None:
        """The content of a file; None if there is none, or it may not be read."""
        with self._failing(key):
            try:
                return bytes(self._files.cat_file(self._at(key)))
            except (FileNotFoundError, PermissionError):
                return None

    def remove(self, key: str) -> None:
        """Remove a file if it exists."""
        with self._failing(key), suppress(FileNotFoundError):
            self._files.rm_file(self._at(key))

    def is_empty(self) -> bool:
        """Whether the place contains nothing."""
        with self._failing():
            self._files.invalidate_cache()
            try:
                return not [*islice(self._files.ls(self._path, detail=False), 1)]
            except FileNotFoundError:
                return True

    def send_all(self, sources: Sequence[tuple[Path, str]]) -> int:
        """Send these files to these keys, several at a time; return their bytes. Missing files are left out."""

        def sent(each: tuple[Path, str]) -> int:
            try:
                return self.send(*each)
            except FileNotFoundError:
                return 0

        with ThreadPoolExecutor(_AT_ONCE, "upload") as pool:
            return sum(pool.map(sent, sources))

    def send_folder(self, folder: Path) -> None:
        """Send the files in a folder to ``address``. If that fails, remove what was sent."""
        sources = [(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*")) if path.is_file()]
        try:
            self.send_all(sources)
        except BaseException:
            with suppress(BadInput, StorageFailed):
                for _, key in sources:
                    self.remove(key)
            raise

    def _place(self, key: str, write: Any) -> None:
        path = self._at(key)
        if self._files.async_impl:  # an object store has no folders: making one might make a bucket
            write(path)
            return
        folder, _, name = path.rpartition("/")
        if folder not in self._folders:
            self._files.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        draft = f"{folder}/.{name}.part"
        try:
            write(draft)
            self._files.mv(draft, path)
        except BaseException:
            with suppress(Exception):
                self._files.rm_file(draft)
            raise

    def _at(self, key: str) -> str:
        return f"{self._path}/{key}" if key else self._path

    @contextmanager
    def _failing(self, key: str = "", what: str = "write") -> Iterator[None]:
        """Turn any exception that a file system raises inside into an error of ours that names the address."""
        place = f"{self.address}/{key}" if key else self.address
        try:
            yield
        except (BadInput, StorageFailed):
            raise
        except FileNotFoundError as failure:
            raise BadInput(place, f"there is no such bucket or folder ({_told(failure)})") from None
        except Exception as failure:
            if isinstance(failure, PermissionError):
                raise BadInput(place, f"the server refuses: {_told(failure)}") from None
            if _PERMISSION.search(type(failure).__name__):
                wish = (
                    "give credentials in the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3://"
                )
                raise BadInput(place, f"{_told(failure)}; {wish}") from None
            raise StorageFailed(f"cannot {what} {place}: {_told(failure)}") from None


def _opened(scheme: str, address: str) -> tuple[Any, str]:
    """The file system of fsspec for an address, and the path in it."""
    need(f"{scheme}://", "remote")
    import fsspec

    if scheme not in fsspec.available_protocols():
        raise BadInput(address, f"fsspec has no file system for {scheme}://")
    try:
        files, path = fsspec.core.url_to_fs(address)
    except ImportError as failure:
        raise MissingExtra(address, f"{failure}; for s3://, pip install s3fs") from None
    except Exception as failure:  # raised by a file system whose configuration is wrong
        raise BadInput(address, _told(failure)) from None
    return files, str(path)


def _told(failure: BaseException) -> str:
    """The failure on one line, without the secrets of the environment."""
    said = " ".join(str(failure).split()) or type(failure).__name__
    for name, value in os.environ.items():
        if len(value) > 7 and _SECRET.search(name):
            said = said.replace(value, "***")
    return said[:300]
