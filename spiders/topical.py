"""The topical spider turns each response into at most one ``PageItem``. It contains no scoring and no policy."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.exceptions import IgnoreRequest

from crawlproject import settings as project
from crawlproject.adapters.feeds import PageItem, refuse_feeds
from crawlproject.adapters.refused import NoRedirect, Refused
from crawlproject.adapters.request_json import lease_of
from crawlproject.adapters.running import (
    ANY_TYPE,
    ENDED_AT,
    LEASE,
    NO_LOGIN,
    SECRETS,
    TAKEN_AT,
    UNREAD,
    apply_topic_settings,
    attach,
    fetch_of,
    memory_error,
    robots_agent,
    stopped,
    stopping,
    time,
)
from crawlproject.adapters.scrapy_settings import (
    refuse_replaced_components,
    refuse_wrong_components,
    refuse_wrong_values,
)
from crawlproject.adapters.subcommand import cache_dir
from crawlproject.assembly import assemble
from crawlproject.configuration import read_options, refuse_unknown
from crawlproject.core.address_policy import ADDRESS, PORT, make_safety
from crawlproject.core.crawl import Crawl
from crawlproject.core.process_tuning import tune_process
from crawlproject.core.responses import FLOOD, modified, stated_lifetime, validator
from crawlproject.core.services import TOO_MANY_REDIRECTS
from crawlproject.errors import FATAL, BadInput
from crawlproject.http.connection_failures import ExchangeLost, connection_failure, refuse_tls_settings
from crawlproject.pages.text.printable import printable
from crawlproject.pages.text.relevance import refuse_wordless
from crawlproject.parts.registry import module_beside
from crawlproject.records import CrawlUrl, Reply, Topic
from crawlproject.topic.folder import find_topic
from crawlproject.urls.post import FORM_TYPE, POST
from crawlproject.webs.open import open_web

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

MAX_CONTENT_TYPE = 200  # characters of the header that are kept
ARGUMENTS = ("topic", "topics", "ordering", "judge")
ASSEMBLE = "assemble"  # argument for programs, not for the command line: a replacement for ``assemble``
SCRAPYD = "_"  # prefix of arguments that Scrapyd adds
logger = logging.getLogger(__name__)

_ALLOWING = {ADDRESS: "CRAWL_ALLOWED_ADDRESSES", PORT: "CRAWL_ALLOWED_PORTS"}
# Components of Scrapy that a topical crawl does not need: its spider yields no requests, and admission knows the scope.
_IDLE = {
    "DOWNLOADER_MIDDLEWARES_BASE": ("scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",),
    "SPIDER_MIDDLEWARES_BASE": (
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
    ),
}
_LIMITS = ("CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_ITEMCOUNT")  # Scrapy's own budgets of pages
VIRTUAL_HANDLER = "crawlproject.http.virtual_web_handler.VirtualWebDownloadHandler"


class TopicalSpider(scrapy.Spider):
    """``scrapy crawl topical -a topic=TOPIC [-a ordering=NAME] [-a judge=NAME]``, or ``-a topics=DIR`` for a folder of topics.

    ``topic`` is a topic file (TOML), the name of a topic of the project, the text of a topic file, or a ``Topic``. Its
    ``[crawl]`` table overrides the project's settings, and is overridden by ``-s`` and by settings of a script; ``ordering``
    overrides the setting ``ORDERING``, ``judge`` the setting ``TOPIC_RELEVANCE``. Raises ``BadInput`` if any of them is wrong.
    """

    name = "topical"
    crawl: Crawl
    _hinted: set[str]  # refusal reasons for which a setting was suggested

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        unknown = [name for name in kwargs if name not in (*ARGUMENTS, ASSEMBLE) and not name.startswith(SCRAPYD)]
        if unknown:
            raise BadInput(f"-a {unknown[0]}", f"there is no such argument; expected {', '.join(ARGUMENTS)}")
        put_together = kwargs.pop(ASSEMBLE, assemble)
        if not callable(put_together):
            raise BadInput(f"-a {ASSEMBLE}", f"there is no such argument; expected {', '.join(ARGUMENTS)}")
        topic = _asked_topic(kwargs.get("topic"), kwargs.get("topics"))
        apply_topic_settings(crawler.settings, topic.settings)
        for argument, setting in (("ordering", "ORDERING"), ("judge", "TOPIC_RELEVANCE")):
            if kwargs.get(argument):
                crawler.settings.set(setting, kwargs[argument], priority="cmdline")
        refuse_unknown(crawler.settings)
        refuse_tls_settings(crawler.settings)
        refuse_wrong_values(crawler.settings)
        options = read_options(crawler.settings)
        file = str(kwargs.get("topic")).strip()
        for each in topic.members or (topic,):
            refuse_wordless(each, options, file if file.endswith(".toml") else f"topic {each.name!r}")
        make_safety(options)  # raises for a wrong entry before anything starts
        if options.virtual_web:
            open_web(options.virtual_web, cache_dir=cache_dir()).close()  # raises for a wrong name, likewise
            for scheme in ("http", "https"):
                crawler.settings["DOWNLOAD_HANDLERS"][scheme] = VIRTUAL_HANDLER
        for setting, names in _IDLE.items():
            for name in crawler.settings[setting].keys() & names:
                crawler.settings[setting][name] = None
        tune_process()
        spider = super().from_crawler(crawler, *args, **kwargs)
        folder = _folder_under_scrapyd(crawler, kwargs.get("_job"), topic.name)
        agent = robots_agent(crawler.settings)
        refuse_wrong_components(crawler.settings)
        refuse_replaced_components(crawler.settings, vars(project))
        refuse_feeds(crawler.settings, options.own_folder(folder or options.folder(topic.name)))
        spider._hinted = set()
        spider.crawl = put_together(
            topic, options, clock=time, folder=folder, cache_dir=cache_dir(), agent=agent, token=token_urlsafe
        )
        attach(crawler, spider.crawl)
        if any(crawler.settings.getint(name) for name in _LIMITS):
            spider.crawl.admission.scarcity.limit_pages()
        for part in spider.crawl.parts:
            if adapter := module_beside(part.name, "adapter"):
                adapter.connect(crawler, spider.crawl, kwargs)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Yield no requests: the seeds already wait in the frontier, so that even the first take is the best of all."""
        nothing: tuple[scrapy.Request, ...] = ()
        for request in nothing:
            yield request

    def page_request(self, url: CrawlUrl) -> scrapy.Request:
        """Make the request for a URL taken from the frontier."""
        plan = self.crawl.plan(url)
        meta: dict[str, Any] = {LEASE: url.key} if url.variant or plan.post else {}
        if plan.one_try:
            meta |= {"dont_redirect": True, "dont_retry": True}
        if plan.any_type:
            meta |= {ANY_TYPE: True, "dont_obey_traps": True}
        if plan.without_login:
            meta[NO_LOGIN] = True
        if plan.proxy:
            meta["proxy"] = plan.proxy
        headers = {**plan.headers, **({"User-Agent": plan.user_agent} if plan.user_agent else {})} or None
        if plan.post is None:
            return scrapy.Request(url.url, callback=self.parse, errback=self.failed, headers=headers, meta=meta)
        return scrapy.Request(
            plan.post.url,
            method=POST,
            body=plan.post.body,
            callback=self.parse,
            errback=self.failed,
            headers={**(headers or {}), "Content-Type": FORM_TYPE},
            meta=meta,
        )

    def parse(self, response: Response, **kwargs: Any) -> Iterator[PageItem]:
        """Turn a response into at most one item; a response that is not a page ends here with a reason."""
        request = response.request
        lease = lease_of(self.crawl, request) if request and not stopped(self.crawler) else None
        if request is None or lease is None:
            return
        headers = _headers_of(response)
        content_type = printable(headers["content-type"][:MAX_CONTENT_TYPE])
        fetch = replace(
            fetch_of(request, response.status, time()),
            content_type=content_type,
            etag=validator(headers["etag"]),
            last_modified=modified(headers, request.meta.get(TAKEN_AT, time())),
            lifetime=stated_lifetime(headers, time()),
        )
        page = None
        with stopping(self.crawler):
            unread = request.meta.get(UNREAD, "")
            reply = Reply(request.url, response.status, headers, response.body, unread=unread)
            page = self.crawl.receive(lease, reply, fetch)
        if page is not None:
            body = response.body[: self.crawl.options.page_max_bytes]
            cookies = response.headers.getlist(b"Set-Cookie")
            logged_in = bool(request.meta.get(SECRETS))
            yield PageItem(page, body, lease, fetch, headers["x-robots-tag"], cookies, logged_in=logged_in)

    def failed(self, failure: Failure) -> None:
        """Handle a fetch without a response, or a request that a middleware refused."""
        request = failure.request  # type: ignore[attr-defined]
        lease = None if stopped(self.crawler) else lease_of(self.crawl, request)
        if lease is None:
            return
        with stopping(self.crawler):
            if isinstance(failure.value, FATAL):  # raised while a middleware updated the frontier
                raise failure.value
            if lacking := memory_error(failure.value):
                raise lacking
            if isinstance(failure.value, ExchangeLost):
                self.crawl.wait_again(lease, fetch_of(request, 0, time()))
                return
            if isinstance(failure.value, NoRedirect):
                self.crawl.fail(lease, str(failure.value), fetch_of(request, failure.value.status, time()))
                return
            reason = failure.value.reason if isinstance(failure.value, Refused) else ""
            self._hint_at(reason, lease.url)
            if error := connection_failure(failure.value) if failure.value else "":
                self.crawl.unreachable(lease, error, fetch_of(request, 0, time()))
                return
            fetched = ENDED_AT in request.meta or reason.startswith(FLOOD)
            if isinstance(failure.value, IgnoreRequest) and not fetched:
                self.crawl.refuse(lease, reason or "scrapy/ignored")
                return
            if reason:  # refused while or after it was received
                self.crawl.folder.refusals.add(reason, lease.url, lease.parent)
            elif request.meta.get("redirect_times", 0) >= self.crawler.settings.getint("REDIRECT_MAX_TIMES"):
                reason = TOO_MANY_REDIRECTS
            self.crawl.fail(lease, reason or type(failure.value).__name__, fetch_of(request, 0, time()))

    def _hint_at(self, reason: str, url: str) -> None:
        """Log which setting allows a URL that was refused for safety, once per reason: useful when crawling a private network."""
        setting = _ALLOWING.get(reason)
        if setting and reason not in self._hinted:
            self._hinted.add(reason)
            logger.warning(
                "%s is refused (%s), like all such URLs; to allow them, see the setting %s", url, reason, setting
            )


def _asked_topic(topic: Any, topics: Any) -> Topic:
    """The topic to crawl, or the combined topics of a folder."""
    if topic and topics:
        raise BadInput("topic", "expected either -a topic=TOPIC, or -a topics=DIR for those in a folder")
    if not (topic or topics):
        raise BadInput("topic", "say which topic to crawl: -a topic=TOPIC, or -a topics=DIR for those in a folder")
    if topics:
        from crawlproject.topic.folder import load_topics

        return load_topics(topics)
    return topic if isinstance(topic, Topic) else find_topic(topic)


def _headers_of(response: Response) -> dict[str, str]:
    """The headers that are read, under their lower-case names."""
    headers = response.headers
    return {
        "content-type": (headers.get(b"Content-Type") or b"").decode("latin-1"),
        "link": b",".join(headers.getlist(b"Link")).decode("latin-1"),
        "location": (headers.get(b"Location") or b"").decode("utf-8", "replace"),
        "etag": (headers.get(b"ETag") or b"").decode("latin-1"),
        "last-modified": (headers.get(b"Last-Modified") or b"").decode("latin-1"),
        "cache-control": b",".join(headers.getlist(b"Cache-Control")).decode("latin-1"),
        "expires": (headers.get(b"Expires") or b"").decode("latin-1"),
        "date": (headers.get(b"Date") or b"").decode("latin-1"),
        "age": (headers.get(b"Age") or b"").decode("latin-1"),
        "tdm-reservation": (headers.get(b"TDM-Reservation") or b"").decode("latin-1"),
        "x-robots-tag": b"\n".join(headers.getlist(b"X-Robots-Tag")).decode("latin-1"),
    }


def _folder_under_scrapyd(crawler: Crawler, job: str | None, topic_name: str) -> Path | None:
    """The crawl folder under Scrapyd, if Scrapyd has a ``jobs_dir`` and ``CRAWL_DIR`` is not set; else None.

    Scrapyd gives each job a separate ``JOBDIR``, ``<jobs_dir>/<project>/<spider>/<job>``. The crawl folder is next to these,
    under the name of its topic, so that the next job of the topic resumes the crawl.
    """
    jobdir = Path(crawler.settings.get("JOBDIR") or "")
    if not job or jobdir.name != job or crawler.settings.get("CRAWL_DIR"):
        return None
    return jobdir.parent / "crawls" / topic_name
