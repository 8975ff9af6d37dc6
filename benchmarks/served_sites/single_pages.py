"""Sites made by scripts: VitePress, whose pages are prerendered, and Docsify, whose pages only a browser sees."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from urllib.parse import SplitResult

from benchmarks.served_sites.packages import run_quietly
from benchmarks.served_sites.site import Place, Site
from benchmarks.served_sites.texts import KEYWORDS, PACKAGES, Article, articles

ARTICLES = 150

_VITEPRESS = """export default {{
  title: "Manuals",
  ignoreDeadLinks: true,
  themeConfig: {{
    sidebar: [{sidebar}],
    search: {{ provider: "local" }},
  }},
}}
"""
_DOCSIFY = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Manuals</title></head>
<body><div id="app"></div>
<script>window.$docsify = {{ name: "Manuals", loadSidebar: true, alias: {{ "/.*/_sidebar.md": "/_sidebar.md" }},
routerMode: "history", el: "#app" }};</script>
<script src="/{script}"></script></body></html>
"""


def markdown(one: Article, suffix: str) -> str:
    """An article with its links, as Markdown."""
    links = "".join(f"\n- [{name}](/{name}{suffix})" for name in one.links[:15])
    paragraphs = (text.replace("<", "\\<").replace("{{", "{ {") for text in one.paragraphs)
    return f"# {one.title}\n\n" + "\n\n".join(paragraphs) + f"\n\n## See also\n{links}\n"


class VitePress(Site):
    """VitePress, built with its default theme."""

    name = "vitepress"
    keywords = KEYWORDS
    unpacked = PACKAGES
    node = ("vitepress",)

    def prepare(self, place: Place) -> None:
        modules, source = place.packages.node(self.name, self.node), place.folder / "docs"
        (source / ".vitepress").mkdir(parents=True)
        found = articles(place.packages, ARTICLES)
        for one in found:
            (source / f"{one.name}.md").write_text(markdown(one, ""))
        (source / "index.md").write_text("# Manuals\n\nSection by section.\n")
        parts = dict.fromkeys(one.category for one in found)
        sidebar = ", ".join(
            f"{{ text: {part!r}, items: [{', '.join(_entry(one) for one in found if one.category == part)}] }}"
            for part in parts
        )
        (source / ".vitepress/config.mjs").write_text(_VITEPRESS.format(sidebar=sidebar))
        (place.folder / "node_modules").symlink_to(modules / "node_modules")
        run_quietly(["node", str(modules / "node_modules/vitepress/bin/vitepress.js"), "build", "docs"], place.folder)

    def locations(self, place: Place) -> str:
        return f"root {place.folder / 'docs/.vitepress/dist'}; location / {{ try_files $uri $uri.html $uri/ =404; }}"

    def content(self, split: SplitResult) -> str:
        return split.path.removesuffix("index.html").removesuffix(".html") if not split.query else ""

    def expected(self, place: Place) -> set[str]:
        return {"/", *(f"/{one.name}" for one in articles(place.packages, ARTICLES))}


def _entry(one: Article) -> str:
    return f"{{ text: {one.title!r}, link: '/{one.name}' }}"


class Docsify(Site):
    """Docsify: every path answers with the same shell, and a script fetches Markdown. Our crawler renders pages that need it."""

    name = "docsify"
    keywords = KEYWORDS
    unpacked = PACKAGES
    node = ("docsify",)
    settings = ("CRAWL_RENDER=needed",)

    def prepare(self, place: Place) -> None:
        modules = place.packages.node(self.name, self.node) / "node_modules/docsify"
        root = place.folder / "root"
        root.mkdir()
        script = next(path for name in ("dist", "lib") if (path := modules / name / "docsify.min.js").exists())
        shutil.copy(script, root)
        found = articles(place.packages, ARTICLES)
        for one in found:
            (root / f"{one.name}.md").write_text(markdown(one, ""))
        (root / "_sidebar.md").write_text("".join(f"- [{one.title}](/{one.name})\n" for one in found[::5]))
        (root / "README.md").write_text("# Manuals\n\nSection by section.\n")
        (root / "index.html").write_text(_DOCSIFY.format(script=script.name))

    def locations(self, place: Place) -> str:
        types = "types { text/html html; text/markdown md; text/javascript js; }"
        shell = "location ~ \\.(md|js)$ { try_files $uri =404; }\nlocation / { try_files $uri /index.html; }"
        return f"root {place.folder / 'root'}; {types} {shell}"

    def content(self, split: SplitResult) -> str:
        """The article whose Markdown was fetched: the log does not show what a browser made of the shell."""
        return split.path.removesuffix(".md") if split.path.endswith(".md") else ""

    types = ("text/markdown",)

    def expected(self, place: Place) -> set[str]:
        return {f"/{one.name}" for one in articles(place.packages, ARTICLES)}


SINGLE_PAGES: Sequence[Site] = (VitePress(), Docsify())
