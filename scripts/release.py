"""Makes a release of the version in ``crawlproject/__init__.py``: sdist, wheel and tag. It pushes nothing: ``make release``."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent


def obstacles(version: str, changelog: str, changed: str, tags: str, today: str) -> list[str]:
    """The reasons why a version cannot be released, a sentence each.

    ``changed`` is what ``git status --porcelain`` prints, ``tags`` what ``git tag`` prints.
    """
    cut = re.search(rf"^## \[{re.escape(version)}\] - (.+)$", changelog, re.MULTILINE)
    unreleased = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## )", changelog, re.MULTILINE | re.DOTALL)
    found = []
    if changed:
        found.append("the working tree has changes: commit them")
    if not cut:
        found.append(f"CHANGELOG.md has no section [{version}] with a date")
    elif cut[1] != today:
        found.append(f"the section [{version}] of CHANGELOG.md is of {cut[1]}, today is {today}")
    if unreleased is None or unreleased[1].strip():
        found.append("CHANGELOG.md needs an empty section [Unreleased] on top: what it has belongs to the version")
    if f"v{version}" in tags.split():
        found.append(f"the tag v{version} exists: raise __version__")
    return found


def main() -> int:
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "crawlproject/__init__.py").read_text(), re.MULTILINE)[1]  # type: ignore[index]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    today = datetime.now(UTC).date().isoformat()
    if found := obstacles(version, changelog, _git("status", "--porcelain"), _git("tag"), today):
        print(*(f"no release: {obstacle}" for obstacle in found), sep="\n", file=sys.stderr)
        return 1
    dist = ROOT / "dist" / version
    shutil.rmtree(dist, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "build"], check=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)], check=True)
    _git("tag", "--annotate", f"v{version}", "--message", f"Version {version}")
    print(
        f"{dist}: {', '.join(sorted(path.name for path in dist.iterdir()))}\nTagged v{version}. To publish: git push --tags"
    )
    return 0


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
