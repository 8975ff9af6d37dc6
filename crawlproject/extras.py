"""Packages that a default install does not have, and the extra of ours that brings them (``pyproject.toml``).

Who needs one imports it where it is used. What a setting asks for is looked up before the crawl begins (``need``); what a
command asks for is an error of that command (``named``). To add an extra: its packages in ``pyproject.toml``, a line here, and
one in ``docs/dependencies.md``.
"""

from __future__ import annotations

from importlib.util import find_spec

from crawlproject.errors import MissingExtra

EXTRAS = {  # extra -> name in ``import`` -> name of the package
    "search": {"tantivy": "tantivy"},
    "export": {"pyarrow": "pyarrow", "surt": "surt"},
    "frames": {"pandas": "pandas", "polars": "polars", "pyarrow": "pyarrow"},
    "content": {"resiliparse": "resiliparse"},
    "documents": {"pypdf": "pypdf", "docx": "python-docx"},
    "warc": {"fastwarc": "fastwarc"},
    "map": {"resvg_py": "resvg-py"},
    "learn": {"sklearn": "scikit-learn", "scipy": "scipy"},
    "nlp": {"spacy": "spacy", "scipy": "scipy"},
    "redis": {"hiredis": "hiredis", "redis": "redis", "scrapy_redis": "scrapy-redis"},
    "metrics": {"prometheus_client": "prometheus-client"},
    "mcp": {"mcp": "mcp", "resiliparse": "resiliparse", "tantivy": "tantivy"},
    "remote": {"fsspec": "fsspec"},
}


def need(what: str, extra: str, *modules: str) -> None:
    """Raise ``MissingExtra`` when a package of the extra, of ``modules`` if any are named, is missing that ``what`` needs."""
    for module in modules or EXTRAS[extra]:
        if find_spec(module) is None:
            raise _missing(what, extra, module)


def named(failure: ModuleNotFoundError, what: str) -> Exception:
    """The ``MissingExtra`` that a failed import amounts to; the failure itself when the package is in no extra."""
    module = (failure.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if module in packages:
            return _missing(what, extra, module)
    return failure


def _missing(what: str, extra: str, module: str) -> MissingExtra:
    return MissingExtra(f"{what} needs {EXTRAS[extra][module]}", f'pip install "topical-crawler[{extra}]"')
