"""Trees of files as Debian ships them: manuals in many languages, generated documentation, directory listings."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import SplitResult, quote

from benchmarks.served_sites.site import HTML, LOOPBACK, TEXT, Place, Site, free_port

LANGUAGES = ("da", "de", "en", "es", "fr", "ja", "ko", "pt-br", "ru", "tr", "zh-cn")  # of the manual of Apache

_APACHE = """ServerRoot {folder}
ServerName {host}
UseCanonicalName Off
Listen {loopback}:{port}
PidFile {folder}/apache.pid
ErrorLog {folder}/apache.errors
Mutex file:{folder}
{modules}
TypesConfig /etc/mime.types
DirectoryIndex index.html
DocumentRoot {folder}/manual
AliasMatch "^/manual(?:/(?:{languages})(?=/))?(/.*)?$" "{folder}/manual$1"
RedirectMatch 301 "^/manual(?:/({languages})){{2,}}(/.*)?$" "/manual/$1$2"
SetEnvIf Request_URI "^/manual/({languages})/" prefer-language=$1
<Directory {folder}/manual>
    Options +Indexes +FollowSymLinks +MultiViews
    Require all granted
    RemoveType tr es
    {added}
    LanguagePriority {priority}
    ForceLanguagePriority Prefer Fallback
</Directory>
"""
_MODULES = ("mpm_event", "authz_core", "alias", "negotiation", "mime", "dir", "setenvif", "autoindex")
_TO_LANGUAGE = re.compile(rf'href="(?:\.\./)+({"|".join(LANGUAGES)})/'.encode())


class Tree(Site):
    """The folder ``root`` of a Debian package behind nginx, which lists folders without an index page."""

    installed: Sequence[str] = ()

    def __init__(self, name: str, package: str, root: str, *keywords: str, types: Sequence[str] = HTML) -> None:
        self.name = name
        self.unpacked = (package,) if package else ()
        self.keywords = keywords
        self.types = types
        self._root = root

    def root(self, place: Place) -> Path:
        """The folder that is served."""
        return (place.packages.unpacked(self.unpacked[0]) if self.unpacked else Path("/")) / self._root

    def locations(self, place: Place) -> str:
        return f"location / {{ root {self.root(place)}; autoindex on; default_type text/plain; }}"

    def expected(self, place: Place) -> set[str]:
        root = self.root(place)
        found = (Path(folder, name) for folder, _, names in os.walk(root, followlinks=True) for name in names)
        return {
            "/" + quote(str(path.relative_to(root))).removesuffix("index.html")
            for path in found
            if path.suffix in (".html", ".htm", ".xhtml") or (TEXT in self.types and path.name == "copyright")
        }

    def content(self, split: SplitResult) -> str:
        listed = TEXT in self.types and split.path.endswith("/")
        return "" if split.query or listed or split.path.endswith(".gz") else split.path.removesuffix("index.html")


class NegotiatedManual(Site):
    """The manual of Apache behind Apache, as its authors serve it: a URL without a language is subject to content negotiation.

    Each page is at ``/manual/de/x.html`` and at ``/manual/x.html``, which serves one of the languages. Debian adapted the
    links between languages to its folders, one level up; here they are as the authors wrote them.
    """

    name = "apache-negotiated"
    keywords = ("Apache HTTP Server", "directive", "module")
    unpacked = ("apache2-doc",)
    installed = ("apache2-bin", "media-types")
    entry = "/manual/"

    def prepare(self, place: Place) -> None:
        source = place.packages.unpacked("apache2-doc") / "usr/share/doc/apache2-doc/manual"
        for language in LANGUAGES:
            for path in (source / language).rglob("*.html"):
                within = path.relative_to(source / language)
                target = place.folder / "manual" / f"{within}.{language}"
                target.parent.mkdir(parents=True, exist_ok=True)
                up = b"./" + b"../" * (len(within.parts) - 1)
                target.write_bytes(_TO_LANGUAGE.sub(rb'href="' + up + rb"\1/", path.read_bytes()))

    def locations(self, place: Place) -> str:
        port = free_port()
        configuration = place.folder / "apache.conf"
        configuration.write_text(
            _APACHE.format(
                folder=place.folder,
                host=self.host,
                loopback=LOOPBACK,
                port=port,
                modules="\n".join(
                    f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in _MODULES
                ),
                languages="|".join(LANGUAGES),
                priority=" ".join(LANGUAGES),
                added="\n    ".join(f"AddLanguage {language} .{language}" for language in LANGUAGES),
            )
        )
        place.serve(["/usr/sbin/apache2", "-f", configuration, "-D", "FOREGROUND"], port=port)
        return f"location / {{ proxy_pass http://{LOOPBACK}:{port}; proxy_set_header Host $host; proxy_redirect off; }}"

    def expected(self, place: Place) -> set[str]:
        manual = place.folder / "manual"
        found = (path.relative_to(manual) for path in manual.rglob("*.html.*"))
        return {
            f"/manual/{path.suffix[1:]}/{quote(str(path.with_suffix(''))).removesuffix('index.html')}" for path in found
        }

    def content(self, split: SplitResult) -> str:
        language = split.path.removeprefix("/manual/").partition("/")[0]
        return split.path.removesuffix("index.html") if language in LANGUAGES else ""


TREES: Sequence[Site] = (
    Tree("apache-manual", "apache2-doc", "usr/share/doc/apache2-doc/manual", "Apache HTTP Server", "directive", "module"),
    NegotiatedManual(),
    Tree("debian-handbook", "debian-handbook", "usr/share/doc/debian-handbook/html", "Debian", "administrator", "package"),
    Tree("linux-doc", "linux-doc-6.1", "usr/share/doc/linux-doc-6.1/html", "Linux kernel", "driver", "kernel API"),
    Tree("python-doc", "python3.11-doc", "usr/share/doc/python3.11/html", "Python", "module", "function"),
    Tree("javadoc", "openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless", "Java", "class", "interface"),
    Tree("doxygen", "libeigen3-doc", "usr/share/doc/libeigen3-dev/html", "Eigen", "matrix", "linear algebra"),
    Tree("boost-doc", "libboost1.74-doc", "usr/share/doc/libboost1.74-doc/doc/html", "Boost", "C++", "library"),
    Tree("postgresql-doc", "postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "PostgreSQL", "query", "index"),
    Tree("maxima-doc", "maxima-doc", "usr/share/doc/maxima-doc/html", "Maxima", "function", "matrix"),
    Tree("sqlite-doc", "sqlite3-doc", "usr/share/doc/sqlite3", "SQLite", "query", "index"),
    Tree("usr-share-doc", "", "usr/share/doc", "changelog", "copyright", "documentation", types=(*HTML, TEXT)),
)  # fmt: skip
