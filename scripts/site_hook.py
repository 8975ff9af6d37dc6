"""Adds the site's pages from outside ``docs/`` (README and other root pages, the notebook) and redirects links out of ``docs/``.

MkDocs calls the functions that begin with ``on_`` (``mkdocs.yml``).
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from statistics import median
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
OF_THE_ROOT = {  # file of the root -> its page
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
}
NOTEBOOK, RENDERED = "library.ipynb", "library-notebook.md"
_LONG = 35  # characters in the longest cell of a row; from there on a table counts as one of texts
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_IMAGE = re.compile(r"(!\[[^\]]*\]\()(?![a-z]+:)([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from files outside ``docs/``."""
    for name, page in OF_THE_ROOT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=relinked(text, "", page, config.repo_url or "")))
    notebook = json.loads((ROOT / "docs" / NOTEBOOK).read_text(encoding="utf-8"))
    files.append(File.generated(config, RENDERED, content=rendered(notebook)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The Markdown of a page of ``docs/``, with its links adapted to the site."""
    source = page.file.src_uri
    if source in (*OF_THE_ROOT.values(), RENDERED):
        return markdown
    return relinked(markdown, posixpath.dirname(f"docs/{source}"), source, config.repo_url or "")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page with its tables of texts marked for ``docs/site.css``; other tables hold numbers to compare."""
    return re.sub(r"<table>.*?</table>", lambda table: _marked(table[0]), html, flags=re.DOTALL)


def relinked(text: str, folder: str, page: str, repository: str = "") -> str:
    """``text`` of a file in ``folder`` of the project, with its links adapted to ``page`` of the site.

    A link to a file outside the site leads to ``repository``; without a repository it becomes plain text.
    """

    def turned(link: re.Match[str]) -> str:
        words, anchor = link[1], link[3] or ""
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        if target == f"docs/{NOTEBOOK}":
            return f"[{words}]({_from(page, RENDERED)})"
        if target in OF_THE_ROOT:
            return f"[{words}]({_from(page, OF_THE_ROOT[target])}{anchor})"
        if target.startswith("docs/"):
            return f"[{words}]({_from(page, target.removeprefix('docs/'))}{anchor})"
        return f"[{words}]({repository.rstrip('/')}/blob/main/{target}{anchor})" if repository else words

    def drawn(image: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, image[2]))
        return f"{image[1]}{_from(page, target.removeprefix('docs/'))})"

    fenced = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if number % 2 else _IMAGE.sub(drawn, _LINK.sub(turned, part)) for number, part in enumerate(fenced)
    )


def rendered(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: texts, code, and what the code printed."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            parts.append(f"```text\n{''.join(shown).rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _marked(table: str) -> str:
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in table.split("<tr>")]
    longest = [max(len(re.sub("<[^>]+>", "", cell)) for cell in row) for row in rows if row]
    return table.replace("<table>", "<table data-texts>", 1) if median(longest or [0]) > _LONG else table


def _from(page: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(page) or ".")
