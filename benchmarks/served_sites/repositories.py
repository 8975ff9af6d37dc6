"""Repository browsers: cgit, gitweb and fossil, with a repository that grows paragraph by paragraph from real text."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote

from benchmarks.served_sites.packages import Packages, run_quietly
from benchmarks.served_sites.site import Place, Site, free_port, passed_on
from benchmarks.served_sites.texts import KEYWORDS, PACKAGES, articles

FILES = 80
COMMITS = 300
CHECKINS = 80
TICKETS = 60

_FASTCGI = """location {where} {{
    include /etc/nginx/fastcgi_params;
    fastcgi_param SCRIPT_FILENAME {script};
    {parameters}
    fastcgi_pass unix:{socket};
}}
"""
_FOLLOWED = "sub_filter 'index, nofollow' 'index, follow'; sub_filter_types application/xhtml+xml;"


def commits(packages: Packages, count: int) -> Iterator[tuple[str, str, str]]:
    """Yield file, present text and message: files start one after the other and grow by a paragraph at a time."""
    files = [(f"{one.category.lower().replace(' ', '-')}/{one.name}.txt", one) for one in articles(packages, FILES)]
    made = 0
    for length in range(1, 1000):
        for path, one in files:
            if length > len(one.paragraphs):
                continue
            if made == count:
                return
            made += 1
            message = f"{one.title}: {'begin' if length == 1 else f'paragraph {length}'}\n\n{one.paragraphs[length - 1][:200]}"
            yield path, "\n\n".join((one.title, *one.paragraphs[:length])) + "\n", message


class GitSite(Site):
    """A site that shows a git repository. Content is a file in any version, and a commit with or without its diff."""

    unpacked = PACKAGES
    keywords = KEYWORDS

    def repository(self, place: Place) -> Path:
        """The bare repository."""
        return place.folder / "manuals.git"

    def prepare(self, place: Place) -> None:
        repository = self.repository(place)
        run_quietly(["git", "init", "--quiet", "--bare", "--initial-branch=master", str(repository)], place.folder)
        (repository / "description").write_text("Manuals, paragraph by paragraph\n")
        stream: list[bytes] = []
        for number, (path, text, message) in enumerate(commits(place.packages, COMMITS)):
            body, said = text.encode(), message.encode()
            author = b"Ann Author <ann@site.example> %d +0000" % (1_600_000_000 + 40_000 * number)
            stream += [b"commit refs/heads/master\n", b"committer %s\n" % author, b"data %d\n%s\n" % (len(said), said)]
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(body), body))
            if number % 60 == 59:
                tag = b"v%d" % (number // 60 + 1)
                stream.append(b"reset refs/tags/%s\nfrom refs/heads/master\n\n" % tag)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=repository, input=b"".join(stream), check=True)

    def expected(self, place: Place) -> set[str]:
        listed = run_quietly(["git", "ls-tree", "-r", "--name-only", "master"], self.repository(place)).split()
        made = run_quietly(["git", "rev-list", "master"], self.repository(place)).split()
        return {f"file {path}" for path in listed} | {f"commit {commit}" for commit in made}


class Cgit(GitSite):
    """cgit as Debian configures it, except ``robots``: with the default "nofollow" an obedient crawler sees one page."""

    name = "cgit"
    installed = ("cgit", "fcgiwrap", "git")

    def locations(self, place: Place) -> str:
        (place.folder / "cgitrc").write_text(
            "css=/cgit.css\nlogo=/cgit.png\nvirtual-root=/\nrobots=index, follow\nenable-index-links=1\nenable-log-filecount=1\n"
            f"enable-commit-graph=1\nrepo.url=manuals\nrepo.path={self.repository(place)}\nrepo.desc=Manuals\n"
        )
        configured = f"fastcgi_param CGIT_CONFIG {place.folder / 'cgitrc'}; fastcgi_param PATH_INFO $uri;"
        pictures = "location ~ ^/cgit\\.(css|png)$ { root /usr/share/cgit; }\n"
        return pictures + cgi(place, "/usr/lib/cgit/cgit.cgi", configured)

    def content(self, split: SplitResult) -> str:
        fields = parse_qs(split.query)
        if split.path.startswith("/manuals/tree/") and split.path.endswith(".txt"):
            return f"file {unquote(split.path.removeprefix('/manuals/tree/'))}"
        if split.path == "/manuals/commit/" and fields.keys() == {"id"}:
            return f"commit {fields['id'][0]}"
        return ""


class Gitweb(GitSite):
    """gitweb as Debian configures it; nginx removes the "nofollow" of its pages, which cannot be switched off."""

    name = "gitweb"
    installed = ("gitweb", "fcgiwrap", "git", "libcgi-pm-perl")

    def locations(self, place: Place) -> str:
        configuration = place.folder / "gitweb.conf"
        configuration.write_text(f'$projectroot = "{place.folder}"; $site_name = "Manuals";\n')
        pictures = "location /static/ { root /usr/share/gitweb; }\n"
        return pictures + cgi(
            place,
            "/usr/share/gitweb/gitweb.cgi",
            f"fastcgi_param GITWEB_CONFIG {configuration}; {_FOLLOWED}",
            where="= /",
        )

    def content(self, split: SplitResult) -> str:
        fields = parse_qs(split.query.replace(";", "&"))
        action = fields.get("a", [""])[0]
        if action == "blob" and "f" in fields:
            return f"file {fields['f'][0]}"
        if action in ("commit", "commitdiff") and "h" in fields:
            return f"commit {fields['h'][0]}"
        return ""


class Fossil(Site):
    """Fossil with check-ins, wiki pages and tickets. Anonymous visitors see links, as on sites that want to be found."""

    name = "fossil"
    unpacked = PACKAGES
    installed = ("fossil",)
    keywords = KEYWORDS

    def prepare(self, place: Place) -> None:
        tree, repository = place.folder / "tree", place.folder / "manuals.fossil"
        tree.mkdir()
        run = _Fossil(place.folder, repository)
        run("init", "--admin-user", "ann", "--project-name", "Manuals", str(repository), within=place.folder)
        run("open", str(repository), within=tree)
        for number, (path, text, message) in enumerate(commits(place.packages, CHECKINS)):
            (tree / path).parent.mkdir(exist_ok=True)
            (tree / path).write_text(text)
            run("addremove", within=tree)
            date = f"2024-{1 + number // 28:02}-{1 + number % 28:02}T12:00:00"
            run("commit", "--no-warnings", "--allow-older", "-m", message, "--date-override", date, within=tree)
        for one in articles(place.packages, FILES):
            links = "".join(f"\n* [{name}]" for name in one.links[:8])
            (place.folder / "page.txt").write_text("\n\n".join(one.paragraphs) + "\n" + links)
            run("wiki", "create", one.name, str(place.folder / "page.txt"), within=tree)
        (place.folder / "page.txt").write_text("Manuals, section by section: see the list of all pages, [/wcontent].\n")
        run("wiki", "create", "Manuals", str(place.folder / "page.txt"), within=tree)
        for one in articles(place.packages, FILES)[:TICKETS]:
            run("ticket", "add", "title", one.title, "status", "Open", "comment", one.paragraphs[0], within=tree)
        run("user", "capabilities", "nobody", "ghjorz", "-R", str(repository), within=tree)

    def locations(self, place: Place) -> str:
        port = free_port()
        server = ["fossil", "server", str(place.folder / "manuals.fossil"), "--port", str(port), "--localhost"]
        place.serve([*server, "--baseurl", f"http://{self.host}"], port=port, env=_home(place.folder))
        return passed_on(port)

    def content(self, split: SplitResult) -> str:
        fields = parse_qs(split.query)
        parts = unquote(split.path).strip("/").split("/", 1)
        name = fields.get("name", parts[1:])
        match parts[0]:
            case "wiki" | "tktview" | "info" | "vinfo" if name and fields.keys() <= {"name"}:
                return f"{parts[0].removeprefix('v')} {name[0][:10] if parts[0] != 'wiki' else name[0]}"
            case "file" if name and name[0].endswith(".txt"):
                return f"file {name[0]}"
        return ""

    def expected(self, place: Place) -> set[str]:
        return {"wiki Manuals", *(f"wiki {one.name}" for one in articles(place.packages, FILES))}


class _Fossil:
    """Runs ``fossil`` with a separate home folder."""

    def __init__(self, home: Path, repository: Path) -> None:
        self._environment = {"FOSSIL_HOME": str(home), "FOSSIL_USER": "ann", "USER": "ann"}
        self._repository = repository

    def __call__(self, *arguments: str, within: Path) -> None:
        run_quietly(["fossil", *arguments], within, **self._environment)


def _home(folder: Path) -> dict[str, str]:
    return {"FOSSIL_HOME": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}


def cgi(place: Place, script: str, parameters: str, *, where: str = "/") -> str:
    """The ``location`` block with which nginx runs a CGI script through fcgiwrap."""
    socket = place.folder / "cgi.socket"
    socket.unlink(missing_ok=True)
    place.serve(["/usr/sbin/fcgiwrap", "-c", "2", "-s", f"unix:{socket}"], path=socket)
    return _FASTCGI.format(where=where, script=script, parameters=parameters, socket=socket)


REPOSITORIES: Sequence[Site] = (Cgit(), Gitweb(), Fossil())
