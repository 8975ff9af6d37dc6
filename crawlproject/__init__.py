"""A topical web crawler as a Scrapy project. Start reading at ``docs/architecture.md``.

``from crawlproject import crawl, rehearse, open_crawl, ordering, Topic``: each name is imported on first use
(``docs/library.md``). ``import crawlproject`` only collects the settings, which takes a fifth of a second.
"""

from importlib import import_module as _import_module

from crawlproject.moved import install as _install

__version__ = "0.6.2"
__all__ = ["Topic", "crawl", "open_crawl", "ordering", "rehearse"]


_install()


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module("crawlproject.library"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


_import_module("crawlproject.settings")  # must stay last: third-party parts may import names from this module
