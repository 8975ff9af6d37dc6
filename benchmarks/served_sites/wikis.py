"""Wikis: MediaWiki with histories, talk pages and categories, and DokuWiki with namespaces and old revisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote
from xml.sax.saxutils import escape

from benchmarks.served_sites import php
from benchmarks.served_sites.site import Place, Site
from benchmarks.served_sites.texts import KEYWORDS, PACKAGES, Article, articles

ARTICLES = 150
REVISIONS = 3  # of each article of MediaWiki

_SETTINGS = """
$wgArticlePath = "/wiki/$1";
$wgUsePathInfo = true;
$wgJobRunRate = 0;
$wgMainCacheType = CACHE_ACCEL;
$wgEnableUploads = false;
$wgPingback = false;
"""
_PAGE = "<page><title>{title}</title><ns>{space}</ns>{revisions}</page>\n"
_REVISION = (
    "<revision><timestamp>2024-{month:02}-{day:02}T10:00:00Z</timestamp><contributor><username>{author}</username>"
    '</contributor><comment>{comment}</comment><model>wikitext</model><format>text/x-wiki</format><text xml:space="preserve">'
    "{text}</text></revision>"
)
_AUTHORS = ("Ann", "Ben", "Cleo")


class MediaWiki(Site):
    """Debian's MediaWiki with SQLite, and short URLs as its manual recommends; otherwise as installed."""

    name = "mediawiki"
    keywords = KEYWORDS
    unpacked = ("mediawiki", "mediawiki-classes", *PACKAGES)
    installed = (*php.PACKAGES, "php-sqlite3", "php-apcu")

    def prepare(self, place: Place) -> None:
        root = self._root(place)
        for package in ("mediawiki", "mediawiki-classes"):
            php.copied(place.packages.unpacked(package) / "usr/share/mediawiki", root)
        (root / "extensions").symlink_to("extensions-core")
        (place.folder / "images").mkdir()
        php.run(
            "maintenance/install.php", "--dbtype=sqlite", f"--dbpath={place.folder / 'data'}", "--dbname=wiki",
            f"--server=http://{self.host}", "--scriptpath=", "--pass=not-a-secret-here", "Manuals", "Ann", within=root,
        )  # fmt: skip
        with (root / "LocalSettings.php").open("a") as settings:
            settings.write(_SETTINGS)
        dump = place.folder / "dump.xml"
        dump.write_text(f"<mediawiki>{''.join(_pages(articles(place.packages, ARTICLES)))}</mediawiki>")
        php.run("maintenance/importDump.php", "--no-updates", str(dump), within=root)
        php.run(
            "maintenance/edit.php", "Main Page", within=root, said="Read the [[Manuals]], or see [[Special:AllPages]]."
        )
        for script in ("rebuildrecentchanges", "refreshLinks", "initSiteStats", "runJobs"):
            php.run(f"maintenance/{script}.php", *(["--update"] if script == "initSiteStats" else []), within=root)

    def locations(self, place: Place) -> str:
        return php.locations(place, self._root(place), "/index.php?$args")

    def content(self, split: SplitResult) -> str:
        fields = parse_qs(split.query)
        title = fields.pop("title", [""])[0] or unquote(split.path.removeprefix("/wiki/"))
        if fields or title.startswith("/"):
            return ""
        space, colon, _ = title.partition(":")
        return "" if colon and space not in ("Talk", "Category") else title.replace(" ", "_")

    def expected(self, place: Place) -> set[str]:
        found = articles(place.packages, ARTICLES)
        return {title for one in found for title in (_title(one), f"Talk:{_title(one)}")} | {
            f"Category:{one.category.replace(' ', '_')}" for one in found
        }

    def _root(self, place: Place) -> Path:
        return place.folder / "wiki"


def _pages(found: Sequence[Article]) -> Iterator[str]:
    by_name = {one.name: one for one in found}
    for number, one in enumerate(found):
        links = "".join(f"\n* [[{_title(by_name[name])}]]" for name in one.links[:15])
        texts = []
        for revision in range(1, REVISIONS + 1):
            shown = one.paragraphs[: max(1, len(one.paragraphs) * revision // REVISIONS)]
            texts.append("\n\n".join(shown) + f"\n== See also =={links}\n[[Category:{one.category}]]")
        yield _page(_title(one), 0, texts, number)
        yield _page(f"Talk:{_title(one)}", 1, [f"== {one.title} ==\n{one.paragraphs[-1]} ~~~"], number + 1)
    categories = dict.fromkeys(one.category for one in found)
    for number, category in enumerate(categories):
        yield _page(f"Category:{category}", 14, [f"Sections of the part {category}.\n[[Category:Manuals]]"], number)
    listed = "\n".join(f"* [[:Category:{category}]]" for category in [*categories, "Manuals"])
    yield _page("Manuals", 0, [f"Manuals by part:\n{listed}"], 27)


def _page(title: str, space: int, texts: Sequence[str], number: int) -> str:
    revisions = "".join(
        _REVISION.format(
            month=1 + at + (number // 28) % 9, day=1 + number % 28, author=_AUTHORS[(number + at) % 3],
            comment=f"part {at + 1}", text=escape(text),
        )
        for at, text in enumerate(texts)
    )  # fmt: skip
    return _PAGE.format(title=escape(title), space=space, revisions=revisions)


def _title(one: Article) -> str:
    words = one.name.replace("-", "_")
    return words[0].upper() + words[1:]


class DokuWiki(Site):
    """Debian's DokuWiki, which everybody may read and only its owner may edit; without its five-day delay of indexing."""

    name = "dokuwiki"
    keywords = KEYWORDS
    unpacked = ("dokuwiki", *PACKAGES)
    installed = (*php.PACKAGES, "php-geshi", "libphp-simplepie", "php-phpseclib")

    def prepare(self, place: Place) -> None:
        package, root = place.packages.unpacked("dokuwiki"), self._root(place)
        for folder in ("usr/share/dokuwiki", "var/lib/dokuwiki"):
            php.copied(package / folder, root)
        (root / "inc/preload.php").unlink()  # Debian's file, which points to /etc
        php.copied(package / "etc/dokuwiki", root / "conf")
        (root / "conf/local.php").write_text(
            "<?php $conf['title'] = 'Manuals'; $conf['savedir'] = './data'; $conf['useacl'] = 1; $conf['superuser'] = 'ann';\n"
            "$conf['indexdelay'] = 0;\n"
        )
        (root / "conf/acl.auth.php").write_text("*\t@ALL\t1\n")
        (root / "conf/users.auth.php").write_text("ann:!:Ann:ann@site.example:admin,user\n")
        for folder in (
            "pages",
            "attic",
            "meta",
            "media",
            "media_meta",
            "media_attic",
            "cache",
            "index",
            "locks",
            "tmp",
            "log",
        ):
            (root / "data" / folder).mkdir(parents=True, exist_ok=True)
        found = articles(place.packages, ARTICLES)
        names = {one.name: _identifier(one) for one in found}
        for one in found:
            links = "".join(f"\n  * [[{names[name]}]]" for name in one.links[:15])
            for shown in (one.paragraphs[: len(one.paragraphs) // 2 + 1], one.paragraphs):
                text = f"====== {one.title} ======\n\n" + "\n\n".join(shown) + f"\n\n===== See also ====={links}\n"
                _commit(root, names[one.name], text)
        listed = "\n".join(f"  * [[{names[one.name]}|{one.title}]]" for one in found[::5])
        _commit(root, "start", f"====== Manuals ======\n\n{listed}\n")

    def locations(self, place: Place) -> str:
        closed = "location ~ ^/(data|conf|bin|inc|vendor)/ { deny all; }\n"
        return closed + php.locations(place, self._root(place), "/doku.php?id=$uri&$args")

    def content(self, split: SplitResult) -> str:
        fields = parse_qs(split.query)
        if split.path == "/" and not fields:
            return "start"
        return fields["id"][0].strip(":") if split.path == "/doku.php" and fields.keys() == {"id"} else ""

    def expected(self, place: Place) -> set[str]:
        return {"start", *map(_identifier, articles(place.packages, ARTICLES))}

    def _root(self, place: Place) -> Path:
        return place.folder / "wiki"


def _identifier(one: Article) -> str:
    return f"{one.category.lower().replace(' ', '_')}:{one.name}"


def _commit(root: Path, page: str, text: str) -> None:
    draft = root / "draft.txt"
    draft.write_text(text)
    php.run("bin/dwpage.php", "commit", "-m", "a part more", str(draft), page, within=root)


WIKIS: Sequence[Site] = (MediaWiki(), DokuWiki())
