"""A blog, a forum, a database, trackers and a mailing list: WordPress, Spirit, Datasette, Roundup, Trac and MHonArc."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote

from benchmarks.served_sites import php
from benchmarks.served_sites.packages import run_quietly
from benchmarks.served_sites.repositories import GitSite
from benchmarks.served_sites.site import LOOPBACK, Place, Site, free_port, passed_on
from benchmarks.served_sites.static_trees import Tree
from benchmarks.served_sites.texts import KEYWORDS, PACKAGES, articles, written

INSIDE = Path(__file__).resolve().parent / "inside"
ARTICLES = 150

_WORDPRESS = """<?php
define('DB_NAME', 'site'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:{socket}'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('WP_HOME', 'http://{host}'); define('WP_SITEURL', 'http://{host}');
define('DISABLE_WP_CRON', true); define('WP_HTTP_BLOCK_EXTERNAL', true); define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""
_SPIRIT = """
ALLOWED_HOSTS = ["*"]
SECRET_KEY = "none"
ST_SITE_URL = "http://{host}/"
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = False
STORAGES = {{
    "default": {{"BACKEND": "django.core.files.storage.FileSystemStorage"}},
    "staticfiles": {{"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}},
}}
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": "{database}"}}}}
"""


class WordPress(Site):
    """Debian's WordPress with MariaDB, dated permalinks and threaded comments."""

    name = "wordpress"
    keywords = KEYWORDS
    unpacked = ("wordpress", "wordpress-theme-twentytwentythree", *PACKAGES)
    installed = (*php.PACKAGES, "php-mysql", "mariadb-server")

    def prepare(self, place: Place) -> None:
        root = place.folder / "blog"
        for package in ("wordpress", "wordpress-theme-twentytwentythree"):
            for folder in ("usr/share/wordpress", "var/lib/wordpress"):
                if (source := place.packages.unpacked(package) / folder).exists():
                    php.copied(source, root)
        (root / "wp-config.php").write_text(_WORDPRESS.format(socket=self._socket(place), host=self.host))
        data = place.folder / "database"
        run_quietly(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"],
            data.parent,
        )
        self._start(place)
        run_quietly(
            ["mariadb", "--no-defaults", "-u", "root", "-S", str(self._socket(place)), "-e", "CREATE DATABASE site"],
            data,
        )
        file = written(place.packages, place.folder / "articles.json", ARTICLES)
        php.run(str(INSIDE / "fill_wordpress.php"), self.host, str(file), within=root)

    def locations(self, place: Place) -> str:
        self._start(place)
        return php.locations(place, place.folder / "blog", "/index.php?$args")

    def content(self, split: SplitResult) -> str:
        dated = re.fullmatch(r"/(?:\d{4}/\d\d/)?([a-z0-9-]+)/", split.path)
        return dated[1] if dated and not split.query and dated[1] not in ("feed", "author", "category", "tag") else ""

    def expected(self, place: Place) -> set[str]:
        return {one.name for one in articles(place.packages, ARTICLES)}

    def _socket(self, place: Place) -> Path:
        return place.folder / "database.socket"

    def _start(self, place: Place) -> None:
        socket = self._socket(place)
        socket.unlink(missing_ok=True)
        server = ["/usr/sbin/mariadbd", "--no-defaults", f"--datadir={place.folder / 'database'}", f"--socket={socket}"]
        place.serve(
            [*server, "--skip-networking", "--user=root", f"--pid-file={place.folder / 'database.pid'}"], path=socket
        )


class Spirit(Site):
    """Spirit, a forum on Django, with a category for each part of the manuals, and paged replies."""

    name = "spirit"
    keywords = KEYWORDS
    unpacked = PACKAGES
    python = ("django-spirit", "setuptools<81", "waitress")

    def prepare(self, place: Place) -> None:
        tools = place.packages.python(self.name, self.python)
        found = {"PATH": f"{tools}:{os.environ['PATH']}"}  # it starts another command
        run_quietly([str(tools / "spirit"), "startproject", "forum"], place.folder, **found)
        project = place.folder / "forum"
        with (project / "forum/settings/prod.py").open("a") as settings:
            settings.write(_SPIRIT.format(host=self.host, database=project / "db.sqlite3"))
        python, chosen = str(tools / "python"), {"DJANGO_SETTINGS_MODULE": "forum.settings.prod"}
        for command in ("migrate", "createcachetable"):
            run_quietly([python, "manage.py", command], project, **chosen)
        file = written(place.packages, place.folder / "articles.json", ARTICLES)
        run_quietly([python, str(INSIDE / "fill_spirit.py"), str(file)], project, **chosen)

    def locations(self, place: Place) -> str:
        port = free_port()
        tools = place.packages.python(self.name, self.python)
        environment = {"DJANGO_SETTINGS_MODULE": "forum.settings.prod", "PATH": "/usr/bin:/bin"}
        server: list[str | Path] = [tools / "waitress-serve", f"--listen={LOOPBACK}:{port}", "forum.wsgi:application"]
        place.serve(server, port=port, env=environment, cwd=place.folder / "forum")
        return passed_on(port)

    def content(self, split: SplitResult) -> str:
        topic = re.fullmatch(r"/topic/(\d+)/[^/]+/", split.path)
        fields = parse_qs(split.query)
        return f"{topic[1]} page {fields.get('page', ['1'])[0]}" if topic and fields.keys() <= {"page"} else ""


class Datasette(Site):
    """Datasette with three tables, facets and a full-text index; a row is content."""

    name = "datasette"
    keywords = KEYWORDS
    unpacked = PACKAGES
    python = ("datasette", "setuptools<81")

    def prepare(self, place: Place) -> None:
        found = articles(place.packages, ARTICLES)
        numbers = {one.name: number for number, one in enumerate(found, 1)}
        with closing(sqlite3.connect(place.folder / "manuals.db")) as database:
            database.executescript(
                "CREATE TABLE section(id INTEGER PRIMARY KEY, name, title, part, text);"
                "CREATE TABLE link(id INTEGER PRIMARY KEY, source REFERENCES section(id), target REFERENCES section(id));"
                "CREATE TABLE paragraph(id INTEGER PRIMARY KEY, section REFERENCES section(id), number INTEGER, text);"
                "CREATE VIRTUAL TABLE found USING fts5(title, text, content='section', content_rowid='id');"
            )
            for number, one in enumerate(found, 1):
                row = (number, one.name, one.title, one.category, "\n\n".join(one.paragraphs[:5]))
                database.execute("INSERT INTO section VALUES (?, ?, ?, ?, ?)", row)
                pairs = [(number, numbers[name]) for name in one.links]
                database.executemany("INSERT INTO link(source, target) VALUES (?, ?)", pairs)
                texts = [(number, at, text) for at, text in enumerate(one.paragraphs[:4], 1)]
                database.executemany("INSERT INTO paragraph(section, number, text) VALUES (?, ?, ?)", texts)
            database.execute("INSERT INTO found(found) VALUES ('rebuild')")
            database.commit()

    def locations(self, place: Place) -> str:
        port = free_port()
        tool = place.packages.python(self.name, self.python) / "datasette"
        place.serve([tool, "serve", place.folder / "manuals.db", "-h", LOOPBACK, "-p", str(port)], port=port)
        return passed_on(port)

    def content(self, split: SplitResult) -> str:
        row = re.fullmatch(r"/manuals/(section|paragraph)/(\d+)", split.path)
        return f"{row[1]} {row[2]}" if row and not split.query else ""

    def expected(self, place: Place) -> set[str]:
        with closing(sqlite3.connect(place.folder / "manuals.db")) as database:
            count = database.execute("SELECT count(*) FROM paragraph").fetchone()[0]
        return {f"section {n + 1}" for n in range(ARTICLES)} | {f"paragraph {n + 1}" for n in range(count)}


class Roundup(Site):
    """Roundup's classic tracker; a page about an issue or a message is content."""

    name = "roundup"
    keywords = KEYWORDS
    unpacked = PACKAGES
    python = ("roundup", "setuptools<81", "waitress")

    def prepare(self, place: Place) -> None:
        tools = place.packages.python(self.name, self.python)
        tracker = place.folder / "tracker"
        admin = [str(tools / "roundup-admin"), "-i", str(tracker)]
        run_quietly([*admin, "install", "classic", "sqlite"], place.folder)
        configuration = tracker / "config.ini"
        text = re.sub(r"(?m)^#?web\s*=.*$", f"web = http://{self.host}/", configuration.read_text())
        for name, value in (("admin_email", "ann"), ("domain", "site.example"), ("host", "localhost")):
            text = re.sub(rf"(?m)^#?{name}\s*=.*NO DEFAULT.*$", f"{name} = {value}", text)
        text = re.sub(r"(?m)^debug = $", f"debug = {place.folder / 'mails'}", text)  # write mails, not send them
        configuration.write_text(text)
        run_quietly([*admin, "initialise", "not-a-secret-here"], place.folder)
        file = written(place.packages, place.folder / "articles.json", ARTICLES)
        run_quietly([str(tools / "python"), str(INSIDE / "fill_roundup.py"), str(tracker), str(file)], place.folder)

    def locations(self, place: Place) -> str:
        port = free_port()
        python = place.packages.python(self.name, self.python) / "python"
        script: list[str | Path] = [python, INSIDE / "serve_roundup.py", place.folder / "tracker", f"{LOOPBACK}:{port}"]
        place.serve(script, port=port)
        return passed_on(port)

    def content(self, split: SplitResult) -> str:
        item = re.fullmatch(r"/((?:issue|msg)\d+)", split.path)
        return item[1] if item and not split.query else ""

    def expected(self, place: Place) -> set[str]:
        return {f"issue{number + 1}" for number in range(ARTICLES)}


class Trac(GitSite):
    """Trac with wiki pages that have a history, tickets, and a git repository to browse."""

    name = "trac"
    installed = ("git",)
    python = ("trac", "setuptools<81")

    def prepare(self, place: Place) -> None:
        super().prepare(place)
        tools, environment = place.packages.python(self.name, self.python), place.folder / "trac"
        admin = [str(tools / "trac-admin"), str(environment)]
        run_quietly([*admin, "initenv", "Manuals", "sqlite:db/trac.db"], place.folder)
        for section, name, value in (
            ("trac", "base_url", f"http://{self.host}"),
            ("components", "tracopt.versioncontrol.git.*", "enabled"),
            ("repositories", "manuals.dir", str(self.repository(place))),
            ("repositories", "manuals.type", "git"),
        ):
            run_quietly([*admin, "config", "set", section, name, value], place.folder)
        run_quietly([*admin, "repository", "resync", "manuals"], place.folder)
        file = written(place.packages, place.folder / "articles.json", ARTICLES)
        run_quietly([str(tools / "python"), str(INSIDE / "fill_trac.py"), str(environment), str(file)], place.folder)

    def locations(self, place: Place) -> str:
        port = free_port()
        server = place.packages.python(self.name, self.python) / "tracd"
        place.serve([server, "-s", "--hostname", LOOPBACK, "--port", str(port), place.folder / "trac"], port=port)
        return passed_on(port)

    def content(self, split: SplitResult) -> str:
        path = unquote(split.path)
        if split.query:
            return ""
        if path.startswith("/browser/manuals/") and path.endswith(".txt"):
            return f"file {path.removeprefix('/browser/manuals/')}"
        return path if re.fullmatch(r"/(wiki/[^/]+|ticket/\d+|changeset/[0-9a-f]+/manuals)", path) else ""

    def expected(self, place: Place) -> set[str]:
        found = articles(place.packages, ARTICLES)
        tickets = {f"/ticket/{number + 1}" for number in range((ARTICLES + 1) // 2)}
        files = {name for name in super().expected(place) if name.startswith("file ")}
        return tickets | files | {f"/wiki/{one.name}" for one in found}


class MailArchive(Tree):
    """A mailing list archived by MHonArc: each article is a thread, each paragraph a message."""

    installed = ("mhonarc",)

    def __init__(self) -> None:
        super().__init__("mhonarc", "", "", *KEYWORDS)
        self.unpacked = PACKAGES
        self.entry = "/maillist.html"

    def prepare(self, place: Place) -> None:
        mailbox, moment = place.folder / "mailbox", 1_700_000_000
        with mailbox.open("wb") as file:
            for one in articles(place.packages, ARTICLES):
                for at, text in enumerate(one.paragraphs[:8]):
                    moment += 3_000
                    mail = EmailMessage()
                    author = ("Ann", "Ben", "Cleo")[at % 3]
                    mail["From"], mail["Date"] = f"{author} <{author.lower()}@site.example>", formatdate(moment)
                    mail["Subject"] = f"Re: {one.title}" if at else one.title
                    mail["Message-ID"] = f"<{one.name}-{at}@site.example>"
                    if at:
                        mail["In-Reply-To"] = f"<{one.name}-{at - 1}@site.example>"
                    mail.set_content(text)
                    file.write(b"From ann@site.example Mon Jan  1 00:00:00 2024\n" + mail.as_bytes() + b"\n")
        options = ["-quiet", "-multipg", "-idxsize", "60", "-outdir", str(self.root(place))]
        self.root(place).mkdir()
        run_quietly(["mhonarc", *options, str(mailbox)], place.folder)

    def root(self, place: Place) -> Path:
        return place.folder / "archive"

    def content(self, split: SplitResult) -> str:
        return split.path if split.path.startswith("/msg") else ""

    def expected(self, place: Place) -> set[str]:
        return {path for path in super().expected(place) if path.startswith("/msg")}


PUBLICATIONS: Sequence[Site] = (WordPress(), Spirit(), Datasette(), Roundup(), Trac(), MailArchive())
