"""The project's settings for every crawl: default, unit, meaning and source, each written only here.

The text below a field is its row in ``docs/settings.md``: unit, meaning and source, separated by ``|``; without a ``|`` it
is the meaning. The setting of a field is its name in capitals (``configuration.py`` reads the settings). Each part defines its
settings in its own ``options.py``.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import ada_url
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

WORKERS = "workers"  # subfolder of a crawl folder with one folder for each worker of a shared frontier
NEAREST = 50  # pages from which the worth of a URL with a similar score is estimated (core/stopping.py)


def as_list(value: object) -> object:
    """Parse a list setting from the command line: JSON or comma-separated, as Scrapy parses its own."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [part.strip() for part in value.split(",") if part.strip()]


def as_object(value: object) -> object:
    """Parse a dict setting from the command line: JSON, as Scrapy parses its own."""
    return json.loads(value) if isinstance(value, str) else dict(value) if isinstance(value, Mapping) else value


DOCUMENT_TYPES = {  # name, which is also the file extension -> media type
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "epub": "application/epub+zip",
}
_PAGE_TYPES = {
    "html": ("text/html", "application/xhtml+xml"),
    "text": ("text/plain",),
    **{name: (media_type,) for name, media_type in DOCUMENT_TYPES.items()},
}
_DOMAIN = re.compile(r"\[[\da-fA-F:.]+\]|(?!.*\.\.)[^\s/?#@:\\*%,;]+")


def media_types(names: list[str]) -> list[str]:
    """Media types in lower case, with short names expanded. HTML is added to documents, because they are converted to it."""
    found: list[str] = []
    for name in map(str.lower, names):
        if "/" not in name and name not in _PAGE_TYPES:
            raise ValueError(f"expected media types, or names of {', '.join(_PAGE_TYPES)}; not {name!r}")
        found += _PAGE_TYPES.get(name, (name,))
    if not {*DOCUMENT_TYPES.values()}.isdisjoint(found):
        found.insert(0, "text/html")
    return [*dict.fromkeys(found)]


def domain_name(name: str) -> str:
    """The name of a host or a domain as in canonical URLs, without leading and trailing dots."""
    host = name.strip(". ")
    with suppress(ValueError):
        if _DOMAIN.fullmatch(host):
            return str(ada_url.URL(f"http://{host}/").hostname)
    raise ValueError("expected a domain such as a.example or de, without scheme, port, path or *")


Names = Annotated[list[str], BeforeValidator(as_list)]
Domains = Annotated[list[Annotated[str, AfterValidator(domain_name)]], BeforeValidator(as_list)]
ContentTypes = Annotated[list[str], BeforeValidator(as_list), AfterValidator(media_types)]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Port = Annotated[int, Field(ge=0, le=65_535)]
Ports = Annotated[list[Annotated[int, Field(ge=1, le=65_535)]], BeforeValidator(as_list)]
TermForm = Literal["stem", "lemma", "word"]
Level = Count | Literal["root"]


PartOptions = TypeVar("PartOptions", bound="Options")


class StarterOnly(NamedTuple):
    """Marks a setting that only the person who starts a crawl may set, not a topic file or a foreign folder; ``why`` says why."""

    why: str


class Options(BaseModel):
    """The settings of a crawl, checked and typed. A part adds its settings in a subclass."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # ------------------------------------------------------------ frontier
    frontier: Literal["disk", "memory", "redis"] = "disk"
    """where URLs wait: `disk`, in files of the crawl folder; `memory`, journaled in the crawl folder (crawls of earlier
    versions keep it); `redis`, for [several workers](deploy.md#several-workers), each with the URLs of its hosts on its
    disk"""
    frontier_disk_cache: Annotated[int, Field(ge=0)] = 0
    """bytes | part of a disk frontier's files mapped into memory, which the system may drop at any time; 0: half of the
    machine's memory"""
    frontier_batch_size: Positive = 50
    """hosts | k of [host rotation](adr/0002-k-rule.md): any k leases in a row are of k different hosts, while k
    hosts have waiting URLs | 003 section 4.1"""
    frontier_commit: Positive = 1
    """URLs | N: lease the best N, in random order, before looking at new scores; 1: use the ordering's own batch
    size | 001 Figure 1"""
    frontier_request_score: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    """score | score of a Request that a spider makes itself; its `priority` is added"""
    frontier_max_urls: Count = 1_000_000
    """URLs | maximum URLs that may wait, apart from a batch of `FRONTIER_COMMIT`; the worst are dropped, and may come
    back; 0: no limit | 000 section 2.1"""
    frontier_full: Literal["best", "newest"] = "best"
    """| which URLs stay in a full frontier: `best`, those with the highest scores; `newest`, where a new URL replaces
    the worst, whatever its own score | 001 Figure 1"""
    frontier_redis_name: str = ""
    """name of the crawl in Redis; empty: the name of the topic, or of the spider"""
    frontier_redis_messages: Count = 20_000
    """messages | messages kept in Redis, by which workers learn from each other's fetches
    ([how](deploy.md#several-workers)); 0: each learns by itself"""
    frontier_redis_lease: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 600.0
    """seconds | time without a sign of a worker after which others get its hosts"""

    # ------------------------------------------------------------ redis, as in scrapy-redis
    redis_url: Annotated[str, Field(exclude=True)] = ""  # may carry a password: it stays out of crawl.json
    """address of the server, `redis://user:password@host:port/db`, or `rediss://` for TLS; overrides the next three.
    Settings that start with `REDIS_` are those of scrapy-redis"""
    redis_host: str = "localhost"
    """host of the server"""
    redis_port: Port = 6379
    """port of the server"""
    redis_db: Count = 0
    """number of the database; use one for all crawls of the live web: they share host clocks there"""
    redis_params: Annotated[dict[str, Any], BeforeValidator(as_object), Field(exclude=True)] = {}
    """further arguments of the client, such as `{"socket_timeout": 30}`"""

    # ------------------------------------------------------------ ordering
    ordering: str = "adaptive"
    """one of the [orderings](orderings.md); `-a ordering=NAME` overrides it"""
    ordering_aggregation_level: Level = 1
    """levels | from a link up to the element whose text is its context: 0 is the link, 1 its parent, `root` the whole
    page | 003 section 4.4"""
    ordering_archive: str = ""
    """pages fetched before this crawl, as a web (see `VIRTUAL_WEB`), from which orderings learn;
    [examples](topic-file.md#examples) are looked up there"""

    # ------------------------------------------------------------ topic
    topic_terms: TermForm = "stem"
    """| form in which words are compared: `stem`; `lemma`, the dictionary form, which needs the tables of
    `spacy-lookups-data` for the topic's language (`pip install`, 98 MB); `word`, as spelled | 000 section 2.4"""
    topic_relevance: Annotated[str, Field(min_length=1)] = "terms"
    """| the [judge](judges.md) of pages: `terms`, by the words they share with the keywords; `vectors`, by
    [meaning](#relevance-by-meaning); `examples`, `embeddings`, `llm`, or `module:Class`; `-a judge=NAME` overrides it |
    000 equation 1"""
    topic_queries: str = ""
    """| a file with a query, a tab and its frequency on each line, or the
    [`searches.jsonl`](crawl-folder.md#searchesjsonl) of a crawl; `search_impact` and the revisit policy `impact` use
    these queries instead of the keywords | 004 sections 4.1, 5.1.2"""
    topic_vectors: str = ""
    """the spaCy pipeline with word vectors, a package or a folder; empty: an installed `_lg` or `_md` pipeline of the
    topic's language"""

    # ------------------------------------------------------------ pages
    page_max_bytes: Positive = 1_048_576
    """bytes | maximum bytes of a body that are fetched; the rest is cut | 000 section 2.3"""
    page_content_types: ContentTypes = ["text/html", "application/xhtml+xml", "text/plain"]
    """media types that are read; `html`, `text`, `pdf`, `docx` and `epub` stand for
    [theirs](page-content.md#documents); other responses are dropped after the headers; a response without a type is
    read"""
    page_max_links: Count = 20_000
    """links | maximum links of a page that are considered"""
    page_obey_nofollow: bool = True
    """do not follow links with `rel=nofollow`"""
    page_obey_meta_robots: bool = True
    """honour `noindex`, `nofollow` and `unavailable_after` in `X-Robots-Tag` and `<meta name=robots>`, also when
    addressed to this crawler by name"""
    page_main_text: bool = False
    """add the [main content](page-content.md) of the page to its item, as `text_main`"""
    page_versions: Positive = 1
    """texts | latest texts of a page that are kept when it is visited again; earlier ones stay beside the page file, as
    `<md5>.<version>`"""
    page_relevant: Share = 0.1
    """similarity | minimum relevance at which a page counts as relevant in the report, and its
    [series](page-content.md#page-series) is continued | 000 section 4.2"""

    # ------------------------------------------------------------ politeness
    politeness_per: Literal["address", "host"] = "address"
    """| what is visited by one fetch at a time, with pauses: an `address`, with all host names that resolve to it
    ([how](adr/0037-politeness-per-address.md)), or a `host` | 004 section 2.3.1"""
    politeness_min_delay: Seconds = 1.0
    """seconds | minimum time from the end of a fetch to the next one of the same host; a live crawl adds 5 ms"""
    politeness_factor: Seconds = 1.0
    """times | the delay is at least the duration of the last fetch times this"""
    politeness_max_crawl_delay: Seconds = 300.0
    """seconds | longest `Crawl-delay` or `Retry-After` that is obeyed; longer ones count as this | as Heritrix does"""

    # ------------------------------------------------------------ traps
    trap_max_url_length: Count = 256
    """characters | longer URLs are refused; 0: rule off, as for all of `TRAP_` | 000 section 2.4"""
    trap_max_segment_repeats: Count = 3
    """times | fewest repeats of a path segment at equal distances (`/a/x/a/y/a`) for which a URL is refused; one more
    at any distances, one fewer for a run of segments (`/a/b/a/b`)"""
    trap_max_segments: Count = 20
    """segments | maximum segments of a path"""
    trap_max_depth: Count = 0
    """links | maximum links from a seed"""
    trap_max_urls_per_host: Count = 0
    """URLs | maximum URLs of a host that may enter the frontier"""
    trap_extensions: Names = []
    """file name endings, without dot, refused in addition to the [built-in
    ones](../crawlproject/urls/file_extensions.py)"""

    # ------------------------------------------------------------ crawl
    crawl_dir: str = ""
    """folder | the crawl folder; empty: `crawls/<topic name>`"""
    crawl_worker: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*$")] = ""
    """name of this worker, the same after a restart; empty: the name of the machine"""
    crawl_max_pages: Count = 0
    """pages | pages [stored](adr/0006-pages-count-the-budget.md) before the crawl ends, over all resumes; 0: no limit |
    000 section 2"""
    crawl_max_seconds: Seconds = 0.0
    """seconds | longest duration of this run; pages in flight are finished; 0: no limit"""
    crawl_min_timeout: Seconds = 5.0
    """seconds | shortest time-out for [silence](#safety), that of the quickest hosts; 0: `DOWNLOAD_TIMEOUT` for all
    hosts"""
    crawl_retry_delay: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 5.0
    """seconds | time until a host [that does not answer](adr/0028-an-outage-burns-nothing.md) is tried again; doubles
    each time, up to 60 times this"""
    crawl_max_outage: Seconds = 3_600.0
    """seconds | time without network after which the crawl ends, to be resumed; 0: it waits forever"""
    crawl_blocked_rest: Seconds = 30.0
    """seconds | rest of a host after a [block](glossary.md), unless it asks for a longer one; doubles with each
    further block, up to an hour"""
    crawl_scarce: Literal["pages", "time", "both"] = "both"
    """what the crawl saves. `"pages"`: only hosts above the [floor](adr/0027-a-floor-in-the-frontier.md) of the
    ordering are visited, and the crawl waits until host rotation permits one. `"time"`: if none of these is due, any
    host that is due is visited. `"both"`: [the budgets decide](adr/0031-pages-and-seconds.md): time without
    `CRAWL_MAX_PAGES`, else pages; with `CRAWL_MAX_SECONDS`, too, the budget that would last longer is spent faster"""
    crawl_min_harvest: Share = 0.0
    """share of pages | share of relevant pages below which a crawl is [saturated](adr/0020-when-a-crawl-has-enough.md)
    and ends, if its best waiting URL promises no more; 0: never | 000 section 4.2"""
    crawl_harvest_window: Annotated[int, Field(ge=NEAREST)] = 500
    """pages | latest pages from which saturation is computed"""
    crawl_seed: int = 1
    """seed of the random generator: the same number leads to the same choices"""
    crawl_allowed_domains: Domains = []
    """stay on these domains and their subdomains, such as `["de", "at"]` for countries; names without scheme, port,
    path or `*`; empty: the whole web"""
    crawl_allowed_addresses: Names = []
    """networks, addresses, host names, `host:port` that are allowed in addition to the public Internet; see
    [safety](#safety)"""
    crawl_refused_addresses: Names = []
    """public networks and addresses that are refused, such as those of your own organisation"""
    crawl_allowed_ports: Ports = [80, 443, 8000, 8008, 8080, 8081, 8088, 8443, 8888]
    """ports | ports that are allowed in addition to those in seeds; empty: all"""
    crawl_max_headers: Positive = 256
    """headers | maximum headers of a response; a response with more is not read"""
    crawl_max_header_bytes: Annotated[int, Field(ge=1024)] = 65_536
    """bytes | longest status line or header"""
    crawl_url_strip_parameters: Names = []
    """query parameters removed in addition to the [built-in ones](../crawlproject/urls/canonical.py); `x_*` is a
    prefix"""
    crawl_url_default_pages: bool = True
    """| remove `index.html` and the like from URLs; if the folder is then not found, the original link is followed |
    000 section 2.4"""
    crawl_url_query_rules: bool = True
    """| sort query parameters; remove tracking parameters and session ids | 000 section 2.4"""
    crawl_robots_max_age: Seconds = 86_400
    """seconds | longest validity of a fetched robots.txt; its HTTP headers may shorten it, but not below a minute, or
    ten if they forbid caching | RFC 9309 section 2.4"""
    crawl_robots_cache_size: Positive = 10_000
    """origins | origins whose robots.txt is kept in memory"""

    crawl_checkpoint_seconds: Seconds = 60.0
    """seconds | time between two [checkpoints](adr/0062-checkpoints-of-the-parts.md) of what was learned, from which a
    crawl resumes; the state of the ordering is written six times as often; 0: none, and a resume reads all pages
    again"""
    crawl_fsync_seconds: Seconds = 0.0
    """seconds | time between two moments when all written data is forced onto the disk, against [power
    failures](crawl-folder.md#power-failures); 0: the operating system decides"""

    # ------------------------------------------------------------ archive
    crawl_warc: bool = False
    """| archive requests and responses as [WARC files](hand-over.md#warc) in `warc/` of the crawl folder | ISO 28500"""
    crawl_warc_max_bytes: Positive = 1_000_000_000
    """bytes | size of a WARC file after which the next one is begun"""

    # ------------------------------------------------------------ what a person sees
    crawl_progress_seconds: Seconds = 10.0
    """seconds | time between two progress lines; 0: only at the end"""
    crawl_metrics_port: Port = 0
    """port of `http://<CRAWL_METRICS_HOST>:<port>/metrics` for [Prometheus](deploy.md#metrics); 0: none"""
    crawl_metrics_host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """address of the metrics; anyone who can reach it can read what is crawled"""
    crawl_metrics_file: Annotated[str, StarterOnly("it replaces that file")] = ""
    """file | a file (`.prom`) with the same metrics for the textfile collector of node_exporter, written every 15
    seconds"""
    dashboard: bool = False
    """| serve a [dashboard](commands.md#scrapy-dashboard) of the running crawl | 000 section 5.1"""
    dashboard_port: Port = 8992
    """port of `http://<DASHBOARD_HOST>:<port>/`; 0: any free one"""
    dashboard_host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """address of the dashboard; commands are accepted only from this machine"""

    # ------------------------------------------------------------ seeds
    seed_files: Annotated[Names, Field(exclude=True)] = []  # used before a crawl, so not part of its settings
    """files | files with URLs that may become seeds of a query, see [below](#seeds-of-a-query)"""
    seed_search_url: Annotated[str, Field(exclude=True)] = ""  # may carry a key
    """URL | a search service that is asked for seeds, with `{query}`, see [below](#seeds-of-a-query); empty: none | 000
    section 5.1"""

    # ------------------------------------------------------------ search
    search_model: Annotated[str, Field(exclude=True)] = ""  # may carry a password
    """the model for [search by meaning](hand-over.md#by-meaning): name or folder of one that model2vec or
    sentence-transformers loads; or the address of a server that speaks the OpenAI protocol, `#`, and the server's name
    for the model, such as `http://127.0.0.1:11434/v1#nomic-embed-text`; the environment variable `TOPICAL_SEARCH_KEY`
    holds the key"""

    # ------------------------------------------------------------ companion
    companion_dir: str = ""
    """folder | profile and key of the [companion](companion.md); empty: `topical-crawler/companion` in the user's data
    folder"""
    companion_port: Port = 8993
    """port of `http://127.0.0.1:<port>/`; 0: any free one"""
    companion_clicks: Annotated[int, Field(ge=1, le=5)] = 3
    """links | distance explored ahead of the current page; 1 to 5 | 000 section 5.4"""
    companion_fetches: Positive = 12
    """fetches | maximum fetches for each current page, including robots.txt"""
    companion_rate: Positive = 30
    """fetches | maximum fetches in any minute"""
    companion_ordering: str = "dom"
    """the [ordering](orderings.md) that chooses which link to follow first"""
    companion_suggestions: Annotated[int, Field(ge=1, le=20)] = 5
    """pages | suggestions shown at a time; 1 to 20"""

    # ------------------------------------------------------------ virtual web
    virtual_web: str = ""
    """crawl this instead of the network: a WARC, a folder of `<host>/<path>` files, a crawl folder, or `sample`"""
    virtual_web_latency: Seconds = 0.0
    """times | factor for the latency that the virtual web simulates; 0: no latency"""

    ordering_parameters: Mapping[str, Any] = Field(
        default_factory=dict
    )  # the settings ``ORDERING_*`` that are not above

    def of(self, model: type[PartOptions]) -> PartOptions:
        """These settings, typed as those of a part."""
        assert isinstance(self, model), f"{model.__name__} is not among the settings: its part is not there"
        return self

    @property
    def worker(self) -> str:
        """The name of this worker of a shared frontier: ``CRAWL_WORKER``, or the name of the machine."""
        return self.crawl_worker or re.sub(r"[^A-Za-z0-9_.-]", "-", platform.node()) or "worker"

    def folder(self, topic_name: str) -> Path:
        """The crawl folder: ``CRAWL_DIR``, or ``crawls/<topic name>``."""
        return Path(self.crawl_dir) if self.crawl_dir else Path("crawls") / topic_name

    def own_folder(self, crawl_folder: Path) -> Path:
        """The folder to which this process writes: the crawl folder, or the folder of this worker in it if there are several."""
        return crawl_folder / WORKERS / self.worker if self.frontier == "redis" else crawl_folder
