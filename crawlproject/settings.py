"""The settings of the project: our own, with the defaults of their models, and those of Scrapy that we change.

``docs/settings.md`` explains all of them. A topic file may override most of our own in its ``[crawl]`` table.
"""

from crawlproject.configuration import default_settings, installed, set_models
from crawlproject.parts import registry

_inside = "crawlproject." if installed else ""

# Our own settings are defined in ``crawlproject/options.py`` and in the ``options.py`` of each part.
set_models(registry.settings_models())
globals().update(default_settings())

# ---------------------------------------------------------------- Scrapy
BOT_NAME = "topical"
SPIDER_MODULES = [f"{_inside}spiders"]
NEWSPIDER_MODULE = f"{_inside}spiders"
COMMANDS_MODULE = "crawlproject.commands"
USER_AGENT = "topical-crawler/0.1 (polite research crawler; set USER_AGENT to say who you are)"

SCHEDULER = "crawlproject.adapters.scheduler.FrontierScheduler"
ITEM_PROCESSOR = "crawlproject.adapters.extensions.failures.WatchedPipelines"
ROBOTSTXT_OBEY = True
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlproject.http.http_handler.HttpDownloadHandler")
CONCURRENT_REQUESTS = 64
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # the frontier keeps one fetch per host in flight
CONCURRENT_ITEMS = 1  # one item per page; more would only start idle workers for each response
DOWNLOAD_DELAY = 0  # the frontier is responsible for politeness
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_FAIL_ON_DATALOSS = False  # a lying Content-Length is no reason to lose the page
RETRY_TIMES = 2
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # a page that fails is in the history and in the report
HTTPERROR_ALLOW_ALL = True  # the spider records every status itself
COOKIES_ENABLED = False
WARN_ON_GENERATOR_RETURN_VALUE = False  # reads the spider's source during the crawl: pages would fail after an upgrade
METAREFRESH_ENABLED = False  # a refresh is a link of the page, see crawlproject/pages/html/document_builder.py
DEPTH_STATS_VERBOSE = False

DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    f"{_inside}middlewares.canonicalize.CanonicalizeMiddleware": 50,
    f"{_inside}middlewares.traps.TrapMiddleware": 60,
    f"{_inside}middlewares.safety.SafetyMiddleware": 70,
    f"{_inside}middlewares.server_address.ServerAddressMiddleware": 80,
    f"{_inside}middlewares.robots.RobotsMiddleware": 100,
    **registry.components(registry.MIDDLEWARES),
    f"{_inside}middlewares.default_pages.DefaultPageMiddleware": 545,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    f"{_inside}middlewares.retry.ReplyRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    f"{_inside}middlewares.decompression.DecompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    f"{_inside}middlewares.redirect.PageRedirectMiddleware": 600,
    f"{_inside}middlewares.truncate.TruncateMiddleware": 900,
}
SPIDER_MIDDLEWARES = {
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
ITEM_PIPELINES = {
    **registry.components(registry.PIPELINES),
    f"{_inside}pipelines.steps.ExaminePipeline": 50,
    f"{_inside}pipelines.steps.RelevancePipeline": 100,
    f"{_inside}pipelines.steps.LinksPipeline": 200,
    f"{_inside}pipelines.steps.PagesPipeline": 300,
    f"{_inside}pipelines.steps.HistoryPipeline": 400,
    f"{_inside}pipelines.steps.FrontierPipeline": 900,
}
EXTENSIONS = {
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "crawlproject.adapters.extensions.plain_log.PlainLog": 0,
    "crawlproject.adapters.extensions.failures.Failures": 0,
    "crawlproject.adapters.extensions.memory.MemoryWatch": 0,
    "crawlproject.dashboard.extension.DashboardServer": 5,
    "crawlproject.adapters.extensions.progress.Progress": 10,
    "crawlproject.adapters.extensions.report.ReportWriter": 20,
    "crawlproject.adapters.extensions.finished.FinishedMarker": 25,
    **registry.components(registry.EXTENSIONS),
    "crawlproject.adapters.extensions.metrics.Metrics": 30,
    "crawlproject.adapters.extensions.warc.WarcRecorder": 40,
}
# Both execute code for anyone who reaches the port.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

LOG_LEVEL = "WARNING"  # the progress display shows the state of the crawl; INFO adds Scrapy's own messages
LOG_FORMATTER = "crawlproject.adapters.extensions.log_formatter.QuietLogFormatter"
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"xml": "crawlproject.adapters.xml_feed.XmlFeed"}
FEED_STORAGES = {
    **dict.fromkeys(("", "file"), "crawlproject.adapters.feeds.FileStorage"),
    "stdout": "crawlproject.adapters.feeds.PipeStorage",
}
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
