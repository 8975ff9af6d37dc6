"""The data of a person on disk: the profile, and the token by which the browser proves that it belongs to this person."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from crawlproject.companion.profile import Profile, read_profile
from crawlproject.errors import BadInput, trying_to
from crawlproject.options import Options
from crawlproject.storage.append_log import write_atomically

PROFILE, TOKEN = "profile.json", "token"


def default_folder() -> Path:
    """The folder in the user's data directory (XDG base directory specification)."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "topical-crawler" / "companion"


def person_folder(options: Options) -> PersonFolder:
    """The folder that ``COMPANION_DIR`` names, or the default. Raises ``StorageFailed``."""
    return PersonFolder(Path(options.companion_dir) if options.companion_dir else default_folder())


class PersonFolder:
    """``profile.json`` and ``token`` in a folder that only its owner may read. Raises ``StorageFailed``."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / PROFILE
        self._folder = folder
        self._seen: tuple[int, int] | None = None  # stamp of the profile when this object last read or wrote it
        with trying_to("make the folder", folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def token(self) -> str:
        """The token of this folder. It stays the same until its file is deleted."""
        path = self._folder / TOKEN
        with suppress(OSError, UnicodeDecodeError):
            if len(found := path.read_text().strip()) >= 32:
                return found
        token = secrets.token_urlsafe(32)
        write_atomically(path, [token.encode()], private=True)
        return token

    def load(self) -> Profile:
        """The profile on disk; an empty one if there is none. Raises ``BadInput`` if it cannot be read."""
        seen = self._stamp()
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            text = "{}"
        except (OSError, UnicodeDecodeError) as wrong:
            raise BadInput(
                str(self.path), f"cannot be read ({wrong}); correct it, or delete the file to start over"
            ) from None
        profile = read_profile(text, str(self.path))
        self._seen = seen
        return profile

    def is_changed(self) -> bool:
        """Whether the profile was written or deleted elsewhere since it was last loaded or saved."""
        return self._stamp() != self._seen

    def save(self, profile: Profile) -> None:
        """Write the profile. Raises ``StorageFailed``, and ``BadInput`` if it was edited meanwhile."""
        if self.is_changed():
            raise BadInput(str(self.path), "was edited meanwhile; try again")
        write_atomically(self.path, [profile.text().encode()], sync=False, private=True)
        self._seen = self._stamp()

    def delete(self) -> None:
        """Remove the profile. Raises ``StorageFailed``."""
        with trying_to("delete", self.path):
            self.path.unlink(missing_ok=True)
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def extension_folder() -> Path:
    """The folder of the browser extension, for a browser to load. Raises ``BadInput`` if the package is in a zip file."""
    folder = Path(__file__).parent / "browser"
    if not (folder / "manifest.json").is_file():
        raise BadInput("companion --extension", "the crawler is in a zip file; unpack it to load the extension")
    return folder.resolve()
