"""Every setting once: default, unit, source. ``docs/settings.md`` explains when to change which.

Settings of ours start with ``FRONTIER_``, ``ORDERING_``, ``TOPIC_``, ``PAGE_``, ``POLITENESS_``, ``TRAP_``, ``CRAWL_``,
``DASHBOARD``, ``SEED_`` or ``VIRTUAL_WEB``; a topic file may override most in its ``[crawl]`` table. The rest are Scrapy's,
with our choice of value.
"""

from importlib.util import find_spec

from crawlproject.parts import registry

# Spiders, middlewares and pipelines are beside this package in a checkout, and inside it once it is built
# (docs/adr/0043-one-package-when-installed.md).
installed = find_spec("crawlproject.spiders") is not None
program = "topical" if installed else "scrapy"  # what a person types, as hints and messages say it
_inside = "crawlproject." if installed else ""

# ---------------------------------------------------------------- frontier
FRONTIER = "memory"  # memory (journaled in the crawl folder), disk (ditto, no limit), redis (for several workers)
FRONTIER_BATCH_SIZE = 50  # k hosts: any k takes in a row are of k different hosts (003 section 4.1: D = 50)
FRONTIER_COMMIT = 1  # N URLs: take the best N before looking again (001 Figure 1; 1 = best-first)
FRONTIER_REQUEST_SCORE = 1.0  # of a Request that a spider makes itself; its priority is added
FRONTIER_MAX_URLS = 1_000_000  # waiting URLs kept, the best ones; 0 = no limit (000 section 2.1: MAX)
FRONTIER_DISK_CACHE = 536_870_912  # bytes of the frontier's files on disk that stay in memory
FRONTIER_REDIS_NAME = ""  # of the crawl in Redis; empty: the name of the topic, or of the spider
FRONTIER_REDIS_SLOTS = 1  # groups of hosts; 1 = exact order; more, one a CPU of the Redis Cluster, for speed
FRONTIER_REDIS_MESSAGES = 20_000  # fetches that Redis keeps for other workers to learn from; 0: each learns by itself
FRONTIER_REDIS_LEASE = 600.0  # seconds until others fetch what a worker held that is not heard of

# ---------------------------------------------------------------- Redis (as in scrapy-redis)
REDIS_URL = ""  # redis://[user:password@]host:port/db, rediss:// for TLS; wins over the next three
REDIS_HOST = "localhost"
REDIS_PORT = 6379
REDIS_DB = 0
REDIS_PARAMS: dict[str, object] = {}  # more arguments of the client
REDIS_ENCODING = "utf-8"  # of the seeds that are pushed
MAX_IDLE_TIME_BEFORE_CLOSE = 0.0  # seconds that workers wait for pushed seeds when nothing is left
REDIS_START_URLS_KEY = "%(name)s:start_urls"  # where seeds are pushed to; name: of the spider, and of the topic

# ---------------------------------------------------------------- ordering
ORDERING = "adaptive"  # a name of crawlproject/orderings; `-a ordering=NAME` wins
ORDERING_AGGREGATION_LEVEL = 1  # steps from a link up to its aggregation node, or "root" (003 section 4.4: the parent)
ORDERING_ARCHIVE = ""  # a web as in VIRTUAL_WEB, fetched before: what orderings that learn from an archive learn from
# Every parameter p of an ordering is the setting ORDERING_<P>, for example ORDERING_ALPHA = 0.25 for `dom`.

# ---------------------------------------------------------------- topic
TOPIC_TERMS = "stem"  # what words are compared by: stem, lemma (needs spacy-lookups-data) or word
TOPIC_RELEVANCE = "terms"  # terms: shared terms (000 equation 1); vectors: meaning, by word vectors of a spaCy pipeline
TOPIC_VECTORS = ""  # that pipeline, a package or a folder; empty: an installed one of the topic's language

# ---------------------------------------------------------------- pages
PAGE_MAX_BYTES = 1_048_576  # bytes of a body that are read; the rest is not fetched (000 section 2.3)
PAGE_CONTENT_TYPES = ["text/html", "application/xhtml+xml", "text/plain"]  # others stop at the headers
PAGE_MAX_LINKS = 5_000  # links of a page that are looked at
PAGE_OBEY_NOFOLLOW = True  # honour rel=nofollow
PAGE_OBEY_META_ROBOTS = True  # honour <meta name=robots> and X-Robots-Tag: noindex, nofollow
PAGE_DUPLICATES = True  # recognise pages whose text was seen under another URL: their links are not followed again
PAGE_DUPLICATES_KNOWN = 1_000_000  # pages of whose text copies are recognised: the first ones, 250 bytes of memory each
PAGE_MAIN_TEXT = False  # items have the text without navigation and the like, as text_main: 2 ms of CPU a page
PAGE_VERSIONS = 1  # texts of a page that are kept, the latest ones, when it is visited again
PAGE_RELEVANT = 0.1  # similarity to the keywords from which a page counts as relevant in reports (000 section 4.2)

# ---------------------------------------------------------------- politeness
POLITENESS_PER = (
    "address"  # whose visits are one at a time and rest: of an "address" (004 section 2.3.1), or of a "host"
)
POLITENESS_MIN_DELAY = 1.0  # seconds between the end of a fetch and the next one of the same host
POLITENESS_FACTOR = 1.0  # times the duration of the last fetch of the host, when that is longer
POLITENESS_MAX_CRAWL_DELAY = 300.0  # seconds: a longer Crawl-delay counts as this (Heritrix does the same)

# ---------------------------------------------------------------- traps (0 = rule off)
TRAP_MAX_URL_LENGTH = 256  # characters (000 section 2.4)
TRAP_MAX_SEGMENT_REPEATS = 3  # the same path segment this many times at equal distances
TRAP_MAX_SEGMENTS = 20  # path segments
TRAP_MAX_DEPTH = 50  # links from a seed
TRAP_MAX_URLS_PER_HOST = 10_000  # URLs of one host that may enter the frontier
TRAP_EXTENSIONS: list[str] = []  # file name endings refused besides the built-in list, without the dot
TRAP_REDUNDANT = "series"  # learn which URLs show what others show, and refuse them: never, always, with CRAWL_SERIES
TRAP_TEMPLATES = True  # learn which URL templates lead to nothing new; these wait

# ---------------------------------------------------------------- crawl
CRAWL_DIR = ""  # folder of the crawl; empty: crawls/<topic name>
CRAWL_WORKER = ""  # name of this worker of a shared frontier, the same after a restart; empty: name of the machine
CRAWL_MAX_PAGES = 0  # pages stored before the crawl ends, over all resumes; 0 = until the frontier is empty
CRAWL_MAX_SECONDS = 0.0  # this run may take, pages in flight not counted; 0 = no limit
CRAWL_RETRY_DELAY = 5.0  # seconds until a host is tried again that did not answer; doubles each time, to 60 times
CRAWL_MIN_TIMEOUT = (
    5.0  # seconds of silence after which the quickest hosts are given up; 0: DOWNLOAD_TIMEOUT, as for others
)
CRAWL_MAX_OUTAGE = 3_600.0  # seconds without network after which the crawl ends, to be resumed; 0 = waits for ever
CRAWL_SITE_BUDGET = 1.0  # times the fetches that links and pages earn a site (a registrable domain); 0: no budgets
CRAWL_BLOCKED_REST = 30.0  # seconds a host rests after a block, besides what it asks for; doubled with each further one
CRAWL_BLOCKS_UNTIL_GIVEN_UP = 6  # blocks, less pages that came, after which a host is given up; 0: never
CRAWL_CLOAKING_PROBE = (
    0.0  # share of the pages that are fetched again as a browser, to see whether it is shown the same
)
CRAWL_CLOAKING_AGENT = (  # the User-Agent of these fetches: a common browser's
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)
CRAWL_SOFT_404_PROBE = 0  # pages of a host after which it is asked for one that is not there; 0: never
CRAWL_RENDER = "never"  # which pages are rendered in a browser: never, needed (what only a browser can read) or always
CRAWL_RENDER_COST = 4.0  # fetches that a rendering counts for in the budget of its site, besides that of the page
CRAWL_RENDER_POSTS = 0  # POST requests that the scripts of a page may make to its own site, each with a question
CRAWL_RENDER_PAGES = 2  # that are rendered at the same time
CRAWL_RENDER_SECONDS = 10.0  # until a page is read as it is, settled or not
CRAWL_RENDER_MEMORY = 536_870_912  # bytes that a process of the browser may take, about one a page: else it is killed
CRAWL_BROWSER = ""  # executable of the browser; empty: the Chromium or Chrome that is installed
CRAWL_SCARCE = "both"  # what the crawl is to save: pages, time, or both, as its budgets say (see docs/orderings.md)
CRAWL_MIN_HARVEST = 0.0  # share of relevant pages below which the crawl is saturated and ends; 0 = never
CRAWL_HARVEST_WINDOW = 500  # pages that are looked at for it
CRAWL_REVISIT = ""  # how pages are visited again: a policy of crawlproject/revisits; empty: each page is visited once
CRAWL_REVISIT_ROUND = 0  # fetches after which such a crawl ends, as soon as politeness permits; 0 = it goes on for ever
CRAWL_RATE = 0.0  # fetches an hour after the first harvest, new pages and old; 0 = as many a week as there are pages
CRAWL_NEW_SHARE = "price"  # of these fetches while new URLs wait, 0 to 1; price: what is worth more at the moment
CRAWL_REVISIT_MIN = 3_600.0  # seconds between two visits of a page, at least
CRAWL_CLICKS = ""  # a file of clicks: then pages are worth visits by their clicks, not by their relevance
CRAWL_KEEP_PAGES = 0  # pages of a collection that is visited again, the most relevant; 0 = CRAWL_MAX_PAGES
CRAWL_CHANGE_HOOK = ""  # command, or http(s) URL, that is given JSON for each change of a relevant page, and at the end
CRAWL_HOOK_PAGES = 0  # new relevant pages after which it is told of them, each time; 0 = never
CRAWL_WEBSUB_CALLBACK = ""  # public URL at which hubs deliver what is new in feeds; empty: no hub is asked to
CRAWL_WEBSUB_PORT = (
    8994  # where they are heard, behind a reverse proxy: http://CRAWL_WEBSUB_HOST:PORT/; 0 = any that is free
)
CRAWL_WEBSUB_HOST = "127.0.0.1"  # address it listens on
CRAWL_FAIRNESS = (
    0.5  # share of its quota of fetches that each of several topics is sure of, 0 to 1 (orderings/several/)
)
CRAWL_SEED = 1  # of the random generator: same seed, same choices
CRAWL_ALLOWED_DOMAINS: list[str] = []  # stay on these domains and their sub-domains; empty: the whole web
CRAWL_EXCLUDED: list[str] = []  # never fetched: hosts, domains, beginnings of URLs, /regular expressions/
CRAWL_EXCLUDED_FILE = ""  # more of them, one a line, read again when the file changes; empty: none
CRAWL_LANGUAGES: list[str] = []  # codes such as en: links of pages in other languages are not followed; empty: all
CRAWL_LANGUAGES_KEEP = False  # store pages in other languages
CRAWL_ALLOWED_ADDRESSES: list[str] = []  # besides the public Internet: networks, addresses, host, host:port
CRAWL_REFUSED_ADDRESSES: list[str] = []  # networks and addresses that are public, and the operator's own all the same
CRAWL_ALLOWED_PORTS = [80, 443, 8000, 8008, 8080, 8081, 8088, 8443, 8888]  # of web servers; empty: all
CRAWL_MAX_HEADERS = 256  # of a response; one with more is not read
CRAWL_MAX_HEADER_BYTES = 65_536  # of a status line or of one header: some sites send long policies
CRAWL_URL_STRIP_PARAMETERS: list[str] = []  # query parameters removed besides the built-in list; `x_*` is a prefix
CRAWL_URL_DEFAULT_PAGES = True  # remove index.html and its kin from URLs (000 section 2.4)
CRAWL_URL_QUERY_RULES = True  # sort query parameters, remove tracking and session parameters
CRAWL_LEARN_RULES = True  # learn from copies which parts of URLs make no difference on a host
CRAWL_RULES: list[str] = []  # crawl folders, or files like their rules.jsonl: rules learned by earlier crawls
CRAWL_SPAM_MODEL = (
    ""  # a file of `scrapy spam`, in place of the built-in weights of the signs of spam (004 section 6.3)
)
CRAWL_ROBOTS_MAX_AGE = 86_400  # seconds a robots.txt is believed at most (RFC 9309 section 2.4)
CRAWL_ROBOTS_CACHE_SIZE = 10_000  # origins whose robots.txt is kept in memory
CRAWL_WARC = False  # archive requests and responses while they come, in the folder warc/ of the crawl folder
CRAWL_WARC_MAX_BYTES = 1_000_000_000  # size from which another WARC file is begun
CRAWL_SITEMAPS = 0  # sitemaps of a host that are read, of those that its robots.txt names; 0 = none
CRAWL_FEEDS = 0  # feeds (RSS, Atom, JSON Feed) of a host that are read, of those that its pages name; 0 = none
CRAWL_SERIES = (
    0  # pages of a series (an article in parts, a list of results) that are fetched in order, 0 = as other links
)
CRAWL_SITE_TEMPLATES: dict[str, str] = {}  # own templates of sites: host to package.module.Class
CRAWL_SITEMAP_URLS = (
    1_000  # links of a sitemap or feed that are followed: the nearest to the topic, the first of a feed
)
CRAWL_FORMS = 0  # result pages fetched from each search form that a relevant page has; 0 = no form is ever filled in
CRAWL_FORM_SELECTION = "relevant_new"  # which query comes next: a policy of crawlproject/parts/forms/selection
CRAWL_PROGRESS_SECONDS = 10.0  # seconds between progress lines; 0 = none
CRAWL_METRICS_PORT = 0  # of http://CRAWL_METRICS_HOST:PORT/metrics for Prometheus; 0 = none
CRAWL_METRICS_HOST = "127.0.0.1"  # address it listens on
CRAWL_METRICS_FILE = ""  # the same as a file, for node_exporter's textfile collector; empty: none

# ---------------------------------------------------------------- dashboard
DASHBOARD = False  # serve a page that shows the crawl while it runs
DASHBOARD_PORT = 8992  # of http://DASHBOARD_HOST:PORT/; 0 = any that is free
DASHBOARD_HOST = "127.0.0.1"  # address it listens on

# ---------------------------------------------------------------- seeds of a query (dashboard, topic new)
SEED_FILES: list[str] = []  # files with URLs and words about them, bookmarks, topic files: what matches may be a seed
SEED_SEARCH_URL = ""  # of a search service that answers as SearXNG does, with {query}; empty: none is asked
# ---------------------------------------------------------------- companion
COMPANION_DIR = ""  # folder of profile and token; empty: companion/ in the folder of the user's data
COMPANION_PORT = 8993  # of http://127.0.0.1:PORT/; 0 = any that is free
COMPANION_CLICKS = 3  # links ahead of the page at hand that pages are suggested from
COMPANION_FETCHES = 12  # for each page at hand, robots.txt included
COMPANION_RATE = 30  # fetches in any minute
COMPANION_ORDERING = "dom"  # which link is looked at first: a name of crawlproject/orderings
COMPANION_SUGGESTIONS = 5  # shown at a time

# ---------------------------------------------------------------- virtual web
VIRTUAL_WEB = ""  # a WARC, a folder of <host>/<path>, a crawl folder or "sample": crawl this, not the network
VIRTUAL_WEB_LATENCY = 0.0  # times the latency that the virtual web simulates; 0 = answers at once

# ---------------------------------------------------------------- Scrapy
BOT_NAME = "topical"
SPIDER_MODULES = [f"{_inside}spiders"]
NEWSPIDER_MODULE = f"{_inside}spiders"
COMMANDS_MODULE = "crawlproject.commands"
USER_AGENT = "topical-crawler/0.1 (polite research crawler; set USER_AGENT to say who you are)"

SCHEDULER = "crawlproject.adapters.scheduler.FrontierScheduler"
ROBOTSTXT_OBEY = True
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.http.http_handler.HttpDownloadHandler")
CONCURRENT_REQUESTS = 64
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # the frontier keeps one fetch a host in flight
CONCURRENT_ITEMS = 1  # one item a page; more would only start idle workers for each response
DOWNLOAD_DELAY = 0  # politeness is the frontier's
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False  # a lying Content-Length is no reason to lose the page
RETRY_TIMES = 2
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # a page that fails is in the history and in the report
HTTPERROR_ALLOW_ALL = True  # the spider records every status itself
COOKIES_ENABLED = False
WARN_ON_GENERATOR_RETURN_VALUE = False  # it reads the spider's source during the crawl: an upgrade would fail pages
METAREFRESH_ENABLED = False  # a refresh is a link of the page, see crawlproject/pages/html/document_builder.py
DEPTH_STATS_VERBOSE = False

DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    f"{_inside}middlewares.canonicalize.CanonicalizeMiddleware": 50,
    f"{_inside}middlewares.traps.TrapMiddleware": 60,
    f"{_inside}middlewares.safety.SafetyMiddleware": 70,
    f"{_inside}middlewares.server_address.ServerAddressMiddleware": 80,
    f"{_inside}middlewares.robots.RobotsMiddleware": 100,
    f"{_inside}middlewares.default_pages.DefaultPageMiddleware": 545,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    f"{_inside}middlewares.retry.ReplyRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    f"{_inside}middlewares.decompression.DecompressionMiddleware": 590,
    f"{_inside}middlewares.truncate.TruncateMiddleware": 900,
}
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
ITEM_PIPELINES = {
    **registry.components(registry.PIPELINES),
    f"{_inside}pipelines.examine.ExaminePipeline": 50,
    f"{_inside}pipelines.relevance.RelevancePipeline": 100,
    f"{_inside}pipelines.links.LinksPipeline": 200,
    f"{_inside}pipelines.pages.PagesPipeline": 300,
    f"{_inside}pipelines.history.HistoryPipeline": 400,
    f"{_inside}pipelines.frontier.FrontierPipeline": 900,
}
EXTENSIONS = {
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "crawlproject.adapters.extensions.plain_log.PlainLog": 0,
    "crawlproject.adapters.extensions.failures.Failures": 0,
    "crawlproject.dashboard.extension.DashboardServer": 5,
    "crawlproject.adapters.extensions.progress.Progress": 10,
    "crawlproject.adapters.extensions.report.ReportWriter": 20,
    "crawlproject.adapters.extensions.finished.FinishedMarker": 25,
    **registry.components(registry.EXTENSIONS),
    "crawlproject.adapters.extensions.metrics.Metrics": 30,
    "crawlproject.adapters.extensions.warc.WarcRecorder": 40,
}
# Both execute code for whoever reaches the port.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = "WARNING"  # the progress display tells how it goes; INFO for Scrapy's own account
LOG_FORMATTER = "crawlproject.adapters.extensions.log_formatter.QuietLogFormatter"
FEED_EXPORT_ENCODING = "utf-8"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
