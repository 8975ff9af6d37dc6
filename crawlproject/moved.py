"""Modules that moved after 0.1.0: their old paths, which users have in settings and programs, still work.

An import of an old path returns the module at the new path, and issues a ``FutureWarning``, because Python hides a
``DeprecationWarning`` where Scrapy loads a path from the settings. The finder is last in ``sys.meta_path``: it only sees imports
that no other finder can answer.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

_HERE = "crawlproject."
_PACKAGES = {"components", "components.extensions", "pages.verticals"}  # empty parent packages of old paths
_MOVED = {
    "components.http_handler": "http.http_handler",
    "components.scheduler": "adapters.scheduler",
    "components.extensions.change_hook": "parts.revisits.change_hook",
    "components.extensions.dashboard": "dashboard.extension",
    "components.extensions.judgments": "parts.judgments.watch",
    "components.extensions.pushed_seeds": "parts.workers.pushed_seeds",
    "components.extensions.websub": "parts.websub.extension",
    "parts.revisits.websub": "parts.websub.extension",
    **{
        f"components.extensions.{name}": f"adapters.extensions.{name}"
        for name in ("failures", "finished", "log_formatter", "metrics", "plain_log", "progress", "report", "warc")
    },
    "pages.verticals.site_template": "parts.verticals.site_template",
    "storage.items": "storage.page_files",
    "urls.naming": "urls.hosts",
    **{
        f"pipelines.{name}": "pipelines.steps"
        for name in ("examine", "frontier", "history", "links", "pages", "relevance")
    },
}


class _Moved:
    """Finder and loader of the old paths."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        old = name.removeprefix(_HERE)
        if (old == name and not name.startswith("pipelines.")) or not (old in _MOVED or old in _PACKAGES):
            return None  # in a checkout, the pipelines are next to this package
        return ModuleSpec(name, _Moved(), is_package=old in _PACKAGES)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Let the import system create an empty module, as usual."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        name = module.__name__
        old = name.removeprefix(_HERE)
        if new := _MOVED.get(old):
            import warnings

            new = name.removesuffix(old) + new
            warnings.warn(f"{name} is now {new}", FutureWarning, stacklevel=2)
            sys.modules[name] = import_module(new)  # the import statement returns this entry


def install() -> None:
    """Register the finder of the old paths."""
    sys.meta_path.append(_Moved)
