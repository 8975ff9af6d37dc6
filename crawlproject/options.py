"""Settings of ours, checked and typed: what the core is built from.

``read_options`` takes any mapping of setting names (Scrapy's settings, a dict) and fills what is missing from
``crawlproject.settings``. Values may be strings, as the command line gives them.
"""

from __future__ import annotations

import difflib
import json
import logging
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from crawlproject import settings as defaults
from crawlproject.errors import BadSetting

logger = logging.getLogger(__name__)

THEIRS = ("REDIS_", "MAX_IDLE_TIME_BEFORE_CLOSE")  # settings that are named and mean what they do in scrapy-redis
WORKERS = "workers"  # folder of a crawl folder in which each worker of a shared frontier has its own
NEAREST = 50  # pages whose worth tells what a URL with such a score is worth (crawl/stopping.py)
OURS = (
    "FRONTIER",
    "ORDERING",
    "TOPIC_",
    "PAGE_",
    "POLITENESS_",
    "TRAP_",
    "CRAWL_",
    "DASHBOARD",
    "SEED_",
    "COMPANION",
    "VIRTUAL_WEB",
)


def _split_list(value: object) -> object:
    """A list setting from the command line is JSON or comma-separated, as Scrapy reads its own."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [part.strip() for part in value.split(",") if part.strip()]


def _read_object(value: object) -> object:
    """A dict setting from the command line is JSON, as Scrapy reads its own."""
    return json.loads(value) if isinstance(value, str) else dict(value) if isinstance(value, Mapping) else value


def _as_before(value: object) -> object:
    """``True`` and ``False`` mean what they meant before there was a third value."""
    return {"true": "always", "false": "never"}.get(str(value).lower(), value)


Names = Annotated[list[str], BeforeValidator(_split_list)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Ports = Annotated[list[Annotated[int, Field(ge=1, le=65_535)]], BeforeValidator(_split_list)]
TermForm = Literal["stem", "lemma", "word"]
Level = Annotated[int, Field(ge=0)] | Literal["root"]


class Options(BaseModel):
    """The settings of ours; see ``crawlproject/settings.py`` for units, defaults and sources."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    frontier: Literal["memory", "disk", "redis"]
    frontier_batch_size: Annotated[int, Field(ge=1)]
    frontier_commit: Annotated[int, Field(ge=1)]
    frontier_request_score: Annotated[float, Field(allow_inf_nan=False)]
    frontier_max_urls: Count
    frontier_disk_cache: Annotated[int, Field(ge=2**20)]
    frontier_redis_name: str
    frontier_redis_slots: Annotated[int, Field(ge=1)]
    frontier_redis_lease: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    frontier_redis_messages: Count
    redis_url: Annotated[str, Field(exclude=True)]  # may carry a password: it stays out of crawl.json
    redis_host: str
    redis_port: Annotated[int, Field(ge=0, le=65535)]
    redis_db: Count
    redis_params: Annotated[dict[str, Any], BeforeValidator(_read_object), Field(exclude=True)]
    redis_encoding: str
    redis_start_urls_key: str
    max_idle_time_before_close: Seconds
    ordering: str
    ordering_aggregation_level: Level
    ordering_archive: str
    topic_terms: TermForm
    topic_relevance: Literal["terms", "vectors"]
    topic_vectors: str
    page_max_bytes: Annotated[int, Field(ge=1)]
    page_content_types: Names
    page_max_links: Count
    page_obey_nofollow: bool
    page_obey_meta_robots: bool
    page_duplicates: bool
    page_duplicates_known: Annotated[int, Field(ge=1)]
    page_main_text: bool
    page_versions: Annotated[int, Field(ge=1)]
    page_relevant: Annotated[float, Field(ge=0, le=1)]
    politeness_min_delay: Seconds
    politeness_factor: Seconds
    politeness_max_crawl_delay: Seconds
    politeness_per: Literal["address", "host"]
    trap_max_url_length: Count
    trap_max_segment_repeats: Count
    trap_max_segments: Count
    trap_max_depth: Count
    trap_max_urls_per_host: Count
    trap_extensions: Names
    trap_redundant: Annotated[Literal["never", "series", "always"], BeforeValidator(_as_before)]
    trap_templates: bool
    crawl_dir: str
    crawl_worker: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*$")]
    crawl_max_pages: Count
    crawl_max_seconds: Seconds
    crawl_min_timeout: Seconds
    crawl_retry_delay: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    crawl_max_outage: Seconds
    crawl_site_budget: Seconds
    crawl_blocked_rest: Seconds
    crawl_blocks_until_given_up: Count
    crawl_cloaking_probe: Annotated[float, Field(ge=0, le=1)]
    crawl_cloaking_agent: Annotated[str, Field(pattern=r"^[\x20-\x7e]+$")]
    crawl_soft_404_probe: Count
    crawl_render: Literal["never", "needed", "always"]
    crawl_render_cost: Seconds
    crawl_render_posts: Count
    crawl_render_pages: Annotated[int, Field(ge=1)]
    crawl_render_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    crawl_render_memory: Annotated[int, Field(ge=2**27)]
    crawl_browser: str
    crawl_scarce: Literal["pages", "time", "both"]
    crawl_min_harvest: Annotated[float, Field(ge=0, le=1)]
    crawl_harvest_window: Annotated[int, Field(ge=NEAREST)]
    crawl_revisit: str
    crawl_revisit_round: Count
    crawl_rate: Seconds
    crawl_new_share: Literal["price"] | Annotated[float, Field(ge=0, le=1)]
    crawl_revisit_min: Seconds
    crawl_clicks: str
    crawl_keep_pages: Count
    crawl_change_hook: Annotated[str, Field(exclude=True)]  # may carry a token, and is not to run from a folder
    crawl_hook_pages: Count
    crawl_websub_callback: Annotated[str, Field(pattern=r"^$|^https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?$")]
    crawl_websub_port: Annotated[int, Field(ge=0, le=65_535)]
    crawl_websub_host: Annotated[str, Field(min_length=1)]
    crawl_fairness: Annotated[float, Field(ge=0, le=1)]
    crawl_seed: int
    crawl_allowed_domains: Names
    crawl_excluded: Names
    crawl_excluded_file: str
    crawl_languages: Names
    crawl_languages_keep: bool
    crawl_allowed_addresses: Names
    crawl_refused_addresses: Names
    crawl_allowed_ports: Ports
    crawl_max_headers: Annotated[int, Field(ge=1)]
    crawl_max_header_bytes: Annotated[int, Field(ge=1024)]
    crawl_url_strip_parameters: Names
    crawl_url_default_pages: bool
    crawl_url_query_rules: bool
    crawl_learn_rules: bool
    crawl_rules: Names
    crawl_spam_model: str
    crawl_robots_max_age: Seconds
    crawl_robots_cache_size: Annotated[int, Field(ge=1)]
    crawl_warc: bool
    crawl_warc_max_bytes: Annotated[int, Field(ge=1)]
    crawl_sitemaps: Count
    crawl_feeds: Count
    crawl_series: Count
    crawl_site_templates: Annotated[dict[str, str], BeforeValidator(_read_object)]
    crawl_sitemap_urls: Annotated[int, Field(ge=1)]
    crawl_forms: Count
    crawl_form_selection: str
    crawl_progress_seconds: Seconds
    crawl_metrics_port: Annotated[int, Field(ge=0, le=65_535)]
    crawl_metrics_host: Annotated[str, Field(min_length=1)]
    crawl_metrics_file: str
    dashboard: bool
    dashboard_port: Annotated[int, Field(ge=0, le=65_535)]
    dashboard_host: Annotated[str, Field(min_length=1)]
    seed_files: Annotated[Names, Field(exclude=True)]  # of those who start crawls, not of a crawl
    seed_search_url: Annotated[str, Field(exclude=True)]  # may carry a key
    companion_dir: str
    companion_port: Annotated[int, Field(ge=0, le=65_535)]
    companion_clicks: Annotated[int, Field(ge=1, le=5)]
    companion_fetches: Annotated[int, Field(ge=1)]
    companion_rate: Annotated[int, Field(ge=1)]
    companion_ordering: str
    companion_suggestions: Annotated[int, Field(ge=1, le=20)]
    virtual_web: str
    virtual_web_latency: Seconds
    ordering_parameters: Mapping[str, Any] = {}

    @property
    def learns_redundant(self) -> bool:
        """Whether it is learned which URLs of a site show what others show: ``TRAP_REDUNDANT``."""
        return self.trap_redundant == "always" or (self.trap_redundant == "series" and self.crawl_series > 0)

    @property
    def worker(self) -> str:
        """The name of this worker of a shared frontier: ``CRAWL_WORKER``, or the name of the machine."""
        return self.crawl_worker or re.sub(r"[^A-Za-z0-9_.-]", "-", platform.node()) or "worker"

    def folder(self, topic_name: str) -> Path:
        """The crawl folder: ``CRAWL_DIR``, or ``crawls/<topic name>``."""
        return Path(self.crawl_dir) if self.crawl_dir else Path("crawls") / topic_name

    def own_folder(self, crawl_folder: Path) -> Path:
        """Where this process writes: the crawl folder, or its own part of it when several workers fill it."""
        return crawl_folder / WORKERS / self.worker if self.frontier == "redis" else crawl_folder


_RENAMED = {"ORDERING_ATTENTION": "ORDERING_ACTIVE"}  # old folders and scripts have these names

_SHOULD = re.compile(r"\b(?:Input|String|List|Value) should\b")  # how pydantic begins

_FIELDS = frozenset(Options.model_fields) - {"ordering_parameters"}


def read_options(settings: Mapping[str, Any]) -> Options:
    """Options from a mapping of setting names; raises ``BadSetting`` naming the setting and the wish."""
    values = {name: settings.get(name.upper(), getattr(defaults, name.upper())) for name in _FIELDS}
    values = {name: getattr(defaults, name.upper()) if value is None else value for name, value in values.items()}
    values["ordering_parameters"] = dict(_ordering_parameters(settings))
    try:
        return Options(**values)
    except ValidationError as invalid:
        raise _bad_setting(invalid) from None


def refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Raise ``BadSetting`` when a setting looks like ours and is not: a typing error must not pass in silence.

    The parameters of orderings (``ORDERING_<P>``) are checked where an ordering is made.
    """
    unknown = dict(unknown_settings(settings))
    if unknown:
        wishes = [f"{name} (did you mean {near}?)" if near else name for name, near in unknown.items()]
        raise BadSetting("settings", f"there is no setting {', '.join(wishes)}")


def unknown_settings(settings: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Settings that look like ours and are not, each with the nearest name that is (or "")."""
    known = sorted(name.upper() for name in _FIELDS)
    for name in settings:
        if name.startswith(OURS) and name not in known and not name.startswith("ORDERING_"):
            yield name, next(iter(difflib.get_close_matches(name, known, 1)), "")


def setting_wish(name: str, value: Any) -> str:
    """What is wrong with one setting of ours, taken alone; empty: nothing. Names and parameters of orderings are not checked."""
    for unknown, near in unknown_settings((name,)):
        return f"there is no setting {unknown}" + (f"; did you mean {near}?" if near else "")
    try:
        read_options({name: value})
    except BadSetting as wrong:
        return f"{name} {_SHOULD.sub('must', wrong.wish)}"
    return ""


def _ordering_parameters(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in settings:
        if name in _RENAMED:
            _warn_of_old_name(name)
            if _RENAMED[name] not in settings:
                yield _RENAMED[name].removeprefix("ORDERING_").lower(), settings[name]
        elif name.startswith("ORDERING_") and name.lower() not in _FIELDS:
            yield name.removeprefix("ORDERING_").lower(), settings[name]


@cache
def _warn_of_old_name(name: str) -> None:
    """Once in a process."""
    logger.warning("setting %s is called %s now", name, _RENAMED[name])


def _bad_setting(invalid: ValidationError) -> BadSetting:
    first, *others = invalid.errors()
    wishes = [first["msg"], *(other["msg"] for other in others if other["loc"][0] == first["loc"][0])]
    return BadSetting(f"setting {str(first['loc'][0]).upper()}", f"{' or '.join(wishes)}, not {first['input']!r}")
