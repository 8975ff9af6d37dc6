"""Properties of every sub-command: wrong options and help."""

from __future__ import annotations

import errno
import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from subprocess import PIPE, Popen
from types import SimpleNamespace

import pytest
from scrapy.cmdline import ScrapyArgumentParser, ScrapyHelpFormatter
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from support.crawling import ROOT, command, environment, scrapy
from support.invoking import invoke
from support.items import a_crawl, an_item

from crawlproject import commands
from crawlproject.adapters.fetch_page import FetchCommand
from crawlproject.adapters.subcommand import INTERRUPTED, reporting_errors
from crawlproject.exporting.index import update

NAMES = [module.name for module in iter_modules(commands.__path__)]
REQUIRED = {"export": ["--to", "csv"]}


def command_of(name: str) -> ScrapyCommand:
    command: ScrapyCommand = getattr(import_module(f"crawlproject.commands.{name}"), f"{name.capitalize()}Command")()
    return command


@pytest.mark.parametrize("name", NAMES)
def test_an_option_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(UsageError, match="there is no option --limitt"):
        invoke(command_of(name), *REQUIRED.get(name, []), "crawls/demo", "--limitt=3")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("VIRTUALWEB", "VIRTUAL_WEB"),
        ("USERAGENT", "USER_AGENT"),
        ("crawl_max_pages", "CRAWL_MAX_PAGES"),
        ("CRAWL-MAX-PAGES", "CRAWL_MAX_PAGES"),
        ("DOWNLOD_DELAY", "DOWNLOAD_DELAY"),
        ("POLITENES_MIN_DEALY", "POLITENESS_MIN_DELAY"),
        ("ordering_active", "ORDERING_ACTIVE"),
    ],
)
def test_a_setting_that_is_misspelt_is_refused(name: str, typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"setting {typed}: there is no such setting; did you mean {meant}?"):
        invoke(command_of(name), *REQUIRED.get(name, []), "crawls/demo", "-s", f"{typed}=1")


def test_an_interrupted_command_has_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(folder: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("crawlproject.commands.report.write_report", interrupted)
    assert invoke(command_of("report"), tmp_path) == INTERRUPTED
    assert capsys.readouterr().err == "scrapy: interrupted\n"


def test_a_closed_pipe_has_no_traceback(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path / "crawl", *(an_item(number, "coral " * 50) for number in range(300)))
    update(crawl)
    arguments = ("search", crawl, "coral", "--limit", 300)
    with Popen(command(*arguments), cwd=ROOT, env=environment(), stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.parametrize("name", NAMES)
def test_help_has_its_headings_and_no_others(name: str) -> None:
    """Scrapy turns any line that ends in a colon into a heading, such as one that was wrapped after "default:"."""
    command = command_of(name)
    command.settings = Settings()
    parser = ScrapyArgumentParser(
        prog="scrapy", usage=f"scrapy {name}", description=command.long_desc(), formatter_class=ScrapyHelpFormatter
    )
    command.add_options(parser)
    underlined = re.findall(r"^(.+)\n=+$", parser.format_help(), re.MULTILINE)
    assert underlined == ["Usage", "Options", "Examples"]


def test_a_spider_or_an_argument_that_does_not_exist_is_named(tmp_path: Path) -> None:
    lost = scrapy("crawl", "topicall", "-a", "topic=demo")
    assert lost.returncode == 2 and "there is no spider 'topicall'; expected topical" in lost.stderr
    typed = scrapy("crawl", "topical", "-a", "topic=demo", "-a", "ordring=dom", CRAWL_DIR=tmp_path / "crawl")
    assert typed.returncode == 2 and "-a ordring: there is no such argument" in typed.stderr
    inner = scrapy("crawl", "topical", "-a", "topic=demo", "-a", "assemble=x", CRAWL_DIR=tmp_path / "c")
    assert inner.returncode == 2 and "-a assemble: there is no such argument" in inner.stderr
    assert not (tmp_path / "crawl").exists()
    assert "Traceback" not in lost.stderr + typed.stderr


def test_a_file_in_the_place_of_the_crawl_folder_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("kept")
    done = scrapy("crawl", "topical", "-a", "topic=demo", VIRTUAL_WEB="sample", CRAWL_DIR=tmp_path / "notes")
    assert done.returncode == 2 and "expected a crawl folder, but this is a file" in done.stderr
    assert (tmp_path / "notes").read_text() == "kept"


@pytest.mark.parametrize("name", ["index", "report", "map", "rules"])
def test_a_file_is_no_crawl_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").write_text("kept")
    assert invoke(command_of(name), tmp_path / "notes") == 2
    assert "expected a crawl folder, but it has no crawl.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("history.jsonl", ["report"]),
        ("history.jsonl", ["why", "http://h.example/"]),
        ("history.jsonl", ["changes"]),
        ("history.jsonl", ["map"]),
        ("links.jsonl", ["map"]),
        ("items.jsonl", ["export", "--to", "jsonl", "-"]),
        ("items.jsonl", ["index"]),
        ("crawl.json", ["report"]),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    name: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test uses a folder in place of the file, since root may read every file."""
    crawl = a_crawl(tmp_path, an_item(0, "coral"))
    visit = {"url": "http://h.example/", "status": 200, "at": 1.0, "md5": "0" * 32}
    (crawl / "history.jsonl").write_text(json.dumps(visit) + "\n")
    (crawl / name).unlink(missing_ok=True)
    (crawl / name).mkdir()
    assert invoke(command_of(arguments[0]), crawl, *arguments[1:]) == 2
    assert capsys.readouterr().err == f"scrapy: {crawl / name}: cannot be read: Is a directory\n"


def test_a_file_that_may_not_be_opened_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    command = SimpleNamespace(exitcode=0)
    with reporting_errors(command):  # type: ignore[arg-type]
        raise PermissionError(errno.EACCES, "Permission denied", "crawls/reefs/pages")
    assert command.exitcode == 2
    assert capsys.readouterr().err == "scrapy: [Errno 13] Permission denied: 'crawls/reefs/pages'\n"


@pytest.mark.parametrize("arguments", [["index"], ["export", "--to", "csv"]])
def test_a_damaged_item_is_reported_with_its_line(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral"), an_item(1, "reef"))
    items = crawl / "items.jsonl"
    items.write_text(
        items.read_text().replace('"relevance"', '"importance"', 2).replace('"importance"', '"relevance"', 1)
    )
    place = [] if arguments == ["index"] else [tmp_path / "pages.csv"]
    assert invoke(command_of(arguments[0]), *arguments[1:], crawl, *place) == 2
    assert f"{items}, line 2: expected the fields of an item" in capsys.readouterr().err


def test_an_export_to_standard_output_is_that_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral"), an_item(1, "reef"))
    assert invoke(command_of("export"), "--to", "csv", "--fields", "text", crawl, "-") == 0
    said = capfdbinary.readouterr()
    assert said.out.split() == [b"text", b"coral", b"reef"] and said.err == b"2 pages in -\n"
    assert not (tmp_path / "-").exists()
    assert invoke(command_of("export"), "--to", "markdown", crawl, "-") == 2
    assert b"markdown is a file a page" in capfdbinary.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_export_to_a_full_standard_output_has_no_traceback(tmp_path: Path) -> None:
    crawl = a_crawl(tmp_path / "crawl", an_item(0, "coral"))
    with Path("/dev/full").open("w") as full:
        process = Popen(
            command("export", crawl, "--to", "csv", "-"), stdout=full, stderr=PIPE, env=environment(), cwd=ROOT
        )
        _, said = process.communicate()
    assert process.returncode == 3 and said == b"scrapy: cannot write to standard output: No space left on device\n"


def test_what_a_command_needs_is_said_of_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    command = FetchCommand()  # its module has another name
    with reporting_errors(command):
        raise ModuleNotFoundError(name="resiliparse")
    assert command.exitcode == 2
    assert 'scrapy fetch needs resiliparse: pip install "topical-crawler[content]"' in capsys.readouterr().err
