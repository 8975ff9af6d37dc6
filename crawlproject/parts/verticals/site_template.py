"""What the template of a site knows: the units of its pages, the next page of a series, and which URLs show nothing new.

``SiteTemplate`` is the only interface. ``detector.py`` makes a template from pages of a site; the setting
``CRAWL_SITE_TEMPLATES`` sets a custom one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.parts.verticals.options import VerticalOptions
from crawlproject.parts.verticals.series import next_page

# Kinds of units, then kinds of pages.
POST = "post"  # of a forum thread, or a comment: several on a page
ARTICLE = "article"  # news or a blog post, in full
ENTRY = "entry"  # of a listing: a name, a line or two, a link to more

THREAD = "thread"
LISTING = "listing"
OTHER = "other"
KINDS = (THREAD, ARTICLE, LISTING, OTHER)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of content. ``kind``: ``POST``, ``ARTICLE`` or ``ENTRY``.

    ``url`` is its own address as the page gives it, made absolute; empty when it has none. ``published`` is ``YYYY-MM-DD``, or
    empty.
    """

    kind: str
    text: str
    title: str = ""
    url: str = ""
    author: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The kind of a page, of ``KINDS``, and its units in document order: none, or at least two; an ``ARTICLE`` may have one."""

    kind: str = OTHER
    units: tuple[Unit, ...] = ()


@runtime_checkable
class SiteTemplate(Protocol):
    """What is known of the pages of one site. Pure: the same arguments give the same answer; no network, no clock."""

    def layout(self, url: str, body: bytes, content_type: str = "") -> Layout:
        """The kind of the page at ``url``, and its units. Never raises, whatever the markup."""
        ...

    def next(self, url: str, links: Iterable[tuple[str, str]], related: Iterable[tuple[str, str]] = ()) -> str:
        """The next page of the series of the page at ``url``, empty when there is none; arguments as for ``series.next_page``."""
        ...

    def skip(self, url: str) -> bool | None:
        """Whether a canonical URL leads only to what other pages show; None: the template does not know."""
        ...


class GeneralTemplate:
    """The template of an unknown site: each page is examined on its own. The base class of custom templates."""

    def layout(self, url: str, body: bytes, content_type: str = "") -> Layout:
        from crawlproject.parts.verticals.layout import layout_of

        return layout_of(url, body, content_type)

    def next(self, url: str, links: Iterable[tuple[str, str]], related: Iterable[tuple[str, str]] = ()) -> str:
        return next_page(url, links, related)

    def skip(self, url: str) -> bool | None:
        return None


class SiteTemplates:
    """The custom templates of sites, by host: that of ``example.org`` holds for ``forum.example.org``, too."""

    def __init__(self, own: Mapping[str, SiteTemplate] | None = None) -> None:
        self._own = dict(own or {})

    def __bool__(self) -> bool:
        return bool(self._own)

    def of(self, url: str) -> SiteTemplate | None:
        """The custom template of the site of a canonical URL; None when it has none."""
        if not self._own:
            return None
        host = urlsplit(url).hostname or ""
        while host:
            if (found := self._own.get(host)) is not None:
                return found
            host = host.partition(".")[2]
        return None

    def register(self, host: str, template: SiteTemplate) -> None:
        """Use ``template`` for ``host`` and its subdomains."""
        self._own[host.lower().strip(".")] = template


def chosen_templates(options: Options) -> SiteTemplates:
    """The templates of ``CRAWL_SITE_TEMPLATES``: by host, ``package.module.Class``. Raises ``BadSetting``."""
    templates = SiteTemplates()
    for host, name in options.of(VerticalOptions).crawl_site_templates.items():
        module, _, attribute = name.rpartition(".")
        try:
            template = getattr(importlib.import_module(module), attribute)()
        except Exception as error:
            said = f"expected package.module.Class for {host}, a class without arguments; {name}: {error}"
            raise BadSetting("setting CRAWL_SITE_TEMPLATES", said) from error
        if not isinstance(template, SiteTemplate):
            raise BadSetting(
                "setting CRAWL_SITE_TEMPLATES", f"expected the methods layout, next and skip of SiteTemplate in {name}"
            )
        templates.register(host, template)
    return templates
