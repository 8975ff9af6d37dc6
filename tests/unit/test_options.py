"""Our settings: typed, checked, and named in the message when they are wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scrapy.settings import Settings
from support.crawling import crawl, topic_file

from crawlproject import settings as defaults
from crawlproject.configuration import (
    OURS,
    THEIRS,
    default_settings,
    known_settings,
    read_options,
    refuse_misspelt,
    refuse_unknown,
    set_models,
    setting_names,
    unknown_settings,
)
from crawlproject.errors import BadSetting
from crawlproject.options import Options
from crawlproject.parts.registry import settings_models


def test_without_settings_the_defaults_hold() -> None:
    options = read_options({})
    for name, value in default_settings().items():
        assert getattr(options, name.lower()) == getattr(defaults, name) == value, name


def test_every_default_is_a_value_that_the_setting_may_have() -> None:
    given = read_options(default_settings())
    assert {name: getattr(given, name.lower()) for name in setting_names()} == default_settings()


def test_settings_of_ours_begin_as_ours_do() -> None:
    assert [name for name in setting_names() if not name.startswith((*OURS, *THEIRS))] == []


@pytest.mark.parametrize("field", ["crawl_dir", "crawl_sitemaps"])
def test_two_settings_of_one_name_are_refused(field: str) -> None:
    twice = type("Twice", (Options,), {"__annotations__": {field: int}, field: 1})
    with pytest.raises(BadSetting, match=f"setting {field.upper()}: two parts define it"):
        set_models([*settings_models(), twice])


def test_settings_of_parts_that_are_not_there_are_left_out() -> None:
    assert known_settings({"CRAWL_DIR": "x", "CRAWL_NO_SUCH_PART": 1}) == {"CRAWL_DIR": "x"}


def test_of_a_part_that_is_not_there_nothing_is_read() -> None:
    class Absent(Options):
        crawl_absent: int = 0

    with pytest.raises(AssertionError, match="its part is not there"):
        read_options({}).of(Absent)


def test_no_setting_of_scrapy_looks_like_ours() -> None:
    assert list(unknown_settings(Settings())) == []


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("FRONTIER_BATCH_SIZE", "7", 7),
        ("POLITENESS_MIN_DELAY", "0.5", 0.5),
        ("PAGE_OBEY_NOFOLLOW", "False", False),
        ("PAGE_OBEY_NOFOLLOW", "1", True),
        ("ORDERING_AGGREGATION_LEVEL", "2", 2),
        ("ORDERING_AGGREGATION_LEVEL", "root", "root"),
        ("CRAWL_DIR", "some/folder", "some/folder"),
        ("PAGE_CONTENT_TYPES", "text/html, text/plain,", ["text/html", "text/plain"]),
        ("PAGE_CONTENT_TYPES", '["text/html", "text/plain"]', ["text/html", "text/plain"]),
        ("PAGE_CONTENT_TYPES", "html,TEXT", ["text/html", "application/xhtml+xml", "text/plain"]),
        ("PAGE_CONTENT_TYPES", "epub", ["text/html", "application/epub+zip"]),
        ("CRAWL_ALLOWED_DOMAINS", ' ["a.example"]', ["a.example"]),
        ("CRAWL_ALLOWED_DOMAINS", "", []),
        ("CRAWL_ALLOWED_DOMAINS", ".A.example, DE,10.0.0.1,[::1]", ["a.example", "de", "10.0.0.1", "[::1]"]),
        ("CRAWL_ALLOWED_DOMAINS", "Bücher.example,xn--bcher-kva.example.", ["xn--bcher-kva.example"] * 2),
        ("TRAP_EXTENSIONS", "[]", []),
    ],
)
def test_values_may_be_text_from_the_command_line(name: str, text: str, value: object) -> None:
    assert getattr(read_options({name: text}), name.lower()) == value


@pytest.mark.parametrize(
    "name", ["https://a.example/", "*.a.example", "a.example:80", "www.a.example/articles", "a..b", "."]
)
def test_what_is_no_domain_is_named(name: str) -> None:
    wish = f"CRAWL_ALLOWED_DOMAINS: .*a domain such as a.example.* not '{re.escape(name)}'$"
    with pytest.raises(BadSetting, match=wish):
        read_options({"CRAWL_ALLOWED_DOMAINS": ["b.example", name, "c.example:1"]})


def test_none_means_the_default() -> None:
    assert read_options({"FRONTIER_BATCH_SIZE": None}).frontier_batch_size == defaults.FRONTIER_BATCH_SIZE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FRONTIER_BATCH_SIZE", "many"),
        ("FRONTIER_BATCH_SIZE", 0),
        ("FRONTIER_MAX_URLS", -1),
        ("FRONTIER_MAX_URLS", "1.5"),
        ("FRONTIER", "rocks"),
        ("FRONTIER_REQUEST_SCORE", "nan"),
        ("POLITENESS_MIN_DELAY", "-1"),
        ("POLITENESS_MIN_DELAY", "nan"),
        ("POLITENESS_MIN_DELAY", "inf"),
        ("PAGE_RELEVANT", 1.1),
        ("PAGE_RELEVANT", "nan"),
        ("PAGE_OBEY_NOFOLLOW", "perhaps"),
        ("ORDERING_AGGREGATION_LEVEL", -1),
        ("ORDERING_AGGREGATION_LEVEL", "leaf"),
        ("PAGE_CONTENT_TYPES", '["text/html"'),
        ("PAGE_CONTENT_TYPES", [1]),
        ("PAGE_CONTENT_TYPES", "html,doc"),
        ("PAGE_CONTENT_TYPES", "[null]"),
        ("CRAWL_ROBOTS_CACHE_SIZE", 0),
    ],
)
def test_a_wrong_value_is_reported_with_the_name_and_the_value(name: str, value: object) -> None:
    with pytest.raises(BadSetting, match=f"setting {name}: ") as told:
        read_options({name: value})
    shown = {"[null]": None}.get(str(value), value[0] if isinstance(value, list) else value)
    assert repr(shown) in str(told.value)
    assert not re.search(r"Value error|\b(Input|String|List) should\b", str(told.value)), "the words of pydantic"


def test_every_wish_of_a_setting_is_reported() -> None:
    with pytest.raises(BadSetting, match=r"integer.* or .*'root'.*, not 'leaf'"):
        read_options({"ORDERING_AGGREGATION_LEVEL": "leaf"})


def test_parameters_of_orderings_are_gathered() -> None:
    options = read_options({"ORDERING": "dom", "ORDERING_ALPHA": "0.5", "ORDERING_AGGREGATION_LEVEL": 2})
    assert options.ordering_parameters == {"alpha": "0.5"}


def test_a_parameter_that_was_renamed_is_read_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        assert read_options({"ORDERING_ATTENTION": 8}).ordering_parameters == {"active": 8}
    assert read_options({"ORDERING_ATTENTION": 8, "ORDERING_ACTIVE": 9}).ordering_parameters == {"active": 9}
    assert [record.getMessage() for record in caplog.records] == [
        "setting ORDERING_ATTENTION is called ORDERING_ACTIVE now"
    ]


def test_what_is_scarce_is_one_of_three() -> None:
    assert read_options({}).crawl_scarce == "both"
    with pytest.raises(BadSetting, match=r"setting CRAWL_SCARCE: .*'pages', 'time' or 'both'"):
        read_options({"CRAWL_SCARCE": "money"})


def test_the_folder_is_named_by_the_setting_or_by_the_topic() -> None:
    assert read_options({"CRAWL_DIR": "here"}).folder("reef") == Path("here")
    assert read_options({}).folder("reef") == Path("crawls/reef")


# ------------------------------------------------------------ settings that are none


def test_what_looks_like_ours_is_found_with_the_nearest_name() -> None:
    settings = {
        "FRONTIER_BATCHSIZE": 1,
        "POLITENESS_DELAY": 1,
        "TOPIC_QQQQQQQQQQ": 1,
        "ORDERING_ALPHA": 1,
        "FRONTIER_MAX_URLS": 1,
        "DOWNLOAD_DELAY": 1,
    }
    assert dict(unknown_settings(settings)) == {
        "FRONTIER_BATCHSIZE": "FRONTIER_BATCH_SIZE",
        "POLITENESS_DELAY": "POLITENESS_MIN_DELAY",
        "TOPIC_QQQQQQQQQQ": "",
    }


def test_all_of_them_are_reported_at_once() -> None:
    with pytest.raises(
        BadSetting, match=r"no setting TOPIC_QQQQQQQQQQ, CRAWL_MAX_PAGE \(did you mean CRAWL_MAX_PAGES\?\)"
    ):
        refuse_unknown({"TOPIC_QQQQQQQQQQ": 1, "CRAWL_MAX_PAGE": 5})
    refuse_unknown({"CRAWL_MAX_PAGES": 5})


ADD_ONS = [
    "PLAYWRIGHT_BROWSER_TYPE",
    "PLAYWRIGHT_LAUNCH_OPTIONS",
    "PLAYWRIGHT_MAX_CONTEXTS",
    "SPLASH_URL",
    "SPLASH_COOKIES_DEBUG",
    "ZYTE_API_KEY",
    "CRAWLERA_ENABLED",
    "CRAWLERA_USER",
    "ZYTE_SMARTPROXY_ENABLED",
    "DELTAFETCH_ENABLED",
    "DELTAFETCH_DIR",
    "DELTAFETCH_RESET",
    "MAGICFIELDS",
    "ROTATING_PROXY_LIST",
    "ROTATING_PROXY_PAGE_RETRY_TIMES",
    "PROXY_LIST",
    "PROXY_MODE",
    "RANDOM_UA_TYPE",
    "FAKEUSERAGENT_PROVIDERS",
    "SELENIUM_DRIVER_NAME",
    "SCRAPEOPS_API_KEY",
    "SENTRY_DSN",
    "SPIDERMON_ENABLED",
    "SPIDERMON_REPORT_TEMPLATE",
    "MONGODB_URI",
    "MONGO_URI",
    "ELASTICSEARCH_SERVERS",
    "ELASTICSEARCH_INDEX",
    "IMAGES_STORE",
    "FILES_STORE",
    "IMAGES_THUMBS",
    "REDIS_HOST",
    "REDIS_PORT",
    "REDIS_DB",
    "REDIS_ENCODING",
    "REDIS_ITEMS_KEY",
    "REDIS_START_URLS_KEY",
    "SCHEDULER_PERSIST",
    "SCHEDULER_QUEUE_KEY",
    "SCHEDULER_DUPEFILTER_KEY",
    "HCF_AUTH",
    "DOTSCRAPY_ENABLED",
    "AWS_BUCKET",
    "JOB",
    "FRONTERA_SETTINGS",
    "BACKEND",
    "POET_OVERRIDES",
    "HTTPPROXY",
    "COOKIES_PATH",
    "TOR_PASSWORD",
    "NEWRELIC_KEY",
    "PROMETHEUS_PORT",
]


def test_settings_of_add_ons_and_of_a_settings_module_are_nobodys_business() -> None:
    refuse_misspelt(ADD_ONS, Settings())
    refuse_misspelt(["VIRTUALWEB"], ["VIRTUALWEB"])
    refuse_misspelt(["ORDERING_ATTENTION", "ORDERING_ANYTHING", "CRAWL_MAX_PAGES", "BOT_NAME"], Settings())
    with pytest.raises(BadSetting, match="did you mean VIRTUAL_WEB"):
        refuse_misspelt(["VIRTUALWEB"], Settings())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MAX_PAGES", "CRAWL_MAX_PAGES"),
        ("MAX_SECONDS", "CRAWL_MAX_SECONDS"),
        ("MIN_DELAY", "POLITENESS_MIN_DELAY"),
        ("ALLOWED_DOMAINS", "CRAWL_ALLOWED_DOMAINS"),
        ("batch_size", "FRONTIER_BATCH_SIZE"),
    ],
)
def test_a_prefix_that_was_forgotten_is_told(name: str, meant: str) -> None:
    with pytest.raises(BadSetting, match=rf"setting {name}: there is no such setting; did you mean {meant}\?"):
        refuse_misspelt([name], Settings())
    refuse_misspelt([name], [name])


def test_settings_of_others_may_end_as_ours_do() -> None:
    refuse_misspelt(["API_KEY", "SEARCH_URL", "RATE", "REDIS_PREFIX"], Settings())


def test_a_typing_error_ends_a_crawl_before_it_starts(tmp_path: Path) -> None:
    done = crawl(topic_file(tmp_path, "http://a.example/"), tmp_path / "crawl", CRAWL_MAX_PAGE=5)
    assert done.returncode == 2
    assert (
        "CRAWL_MAX_PAGE: there is no such setting; did you mean CRAWL_MAX_PAGES?" in done.stderr
        and "Traceback" not in done.stderr
    )
    assert not (tmp_path / "crawl").exists()


def test_a_typing_error_in_a_topic_file_ends_a_crawl_too(tmp_path: Path) -> None:
    topic = topic_file(tmp_path, "http://a.example/", extra="[crawl]\nTRAP_MAX_DEPHT = 3\n")
    done = crawl(topic, tmp_path / "crawl")
    assert done.returncode == 2
    assert "line 4, crawl: there is no setting TRAP_MAX_DEPHT; did you mean TRAP_MAX_DEPTH?" in done.stderr
    assert "Traceback" not in done.stderr
