"""Software in PHP behind nginx and php-fpm."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks.served_sites.packages import CannotBeHad, run_quietly
from benchmarks.served_sites.site import Place

PACKAGES = ("php-fpm", "php-cli", "php-xml", "php-mbstring", "php-intl", "php-gd")

_POOL = """[global]
error_log = {folder}/php.errors
[site]
listen = {folder}/php.socket
{user}
pm = static
pm.max_children = 3
pm.max_requests = 2000
php_admin_value[memory_limit] = 256M
"""
_LOCATIONS = """root {root};
location / {{ try_files $uri $uri/ {otherwise}; }}
location ~ \\.php(/|$) {{
    fastcgi_split_path_info ^(.+\\.php)(/.*)?$;
    include /etc/nginx/fastcgi_params;
    fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
    fastcgi_param PATH_INFO $fastcgi_path_info;
    fastcgi_param SERVER_PORT 80;
    fastcgi_pass unix:{socket};
}}
"""


def copied(source: Path, target: Path) -> Path:
    """A writable copy of a package's files, without links to the places where it would be installed."""
    return shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=_links_out)


def _links_out(folder: str, names: Sequence[str]) -> set[str]:
    links = {name: Path(folder, name) for name in names if Path(folder, name).is_symlink()}
    return {name for name, path in links.items() if path.readlink().is_absolute() or not path.exists()}


def locations(place: Place, root: Path, otherwise: str) -> str:
    """Start php-fpm; return the locations of nginx. ``otherwise`` answers a path without a file."""
    servers = sorted(Path("/usr/sbin").glob("php-fpm*"))
    if not servers:
        raise CannotBeHad("there is no php-fpm")
    socket, pool = place.folder / "php.socket", place.folder / "php.conf"
    socket.unlink(missing_ok=True)
    is_root = os.geteuid() == 0
    pool.write_text(_POOL.format(folder=place.folder, user="user = root\ngroup = root" if is_root else ""))
    place.serve([servers[-1], "-F", "-y", pool, *(["-R"] if is_root else [])], path=socket)
    return _LOCATIONS.format(root=root, otherwise=otherwise, socket=socket)


def run(script: str, *arguments: str, within: Path, said: str = "") -> str:
    """Run a script of the software on the command line; ``said`` is its input."""
    return run_quietly(["php", "-d", "memory_limit=512M", script, *arguments], within, said=said)
