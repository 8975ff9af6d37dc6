"""Optional packages, and the extras that install them (``pyproject.toml``).

A module imports an optional package where it is used. If a setting needs one, its presence is checked before the crawl begins
(``need``); if a command needs one, a failed import becomes an error of that command (``named``). To add an extra, add its
packages to ``pyproject.toml``, a line here, and a line in ``docs/dependencies.md``.
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
    """Raise ``MissingExtra`` if a package of the extra (or one of ``modules``, if given), which ``what`` needs, is missing."""
    for module in modules or EXTRAS[extra]:
        if find_spec(module) is None:
            raise _missing(what, extra, module)


def named(failure: ModuleNotFoundError, what: str) -> Exception:
    """Return the ``MissingExtra`` for a failed import; the failure itself if the package is in no extra."""
    module = (failure.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if module in packages:
            return _missing(what, extra, module)
    return failure


def _missing(what: str, extra: str, module: str) -> MissingExtra:
    return MissingExtra(f"{what} needs {EXTRAS[extra][module]}", f'pip install "topical-crawler[{extra}]"')
