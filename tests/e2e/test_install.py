"""The command ``topical`` of an installed wheel, outside any project."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from scrapy.settings import Settings
from support.crawling import ROOT, stored
from support.installed import Installed, install

from crawlproject.__main__ import make_command, parser_of
from crawlproject.adapters.completion import script

pytestmark = pytest.mark.slow
SAMPLE = ("-s", "VIRTUAL_WEB=sample")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"))


def test_nothing_of_ours_lies_beside_the_package(installed: Installed) -> None:
    names = {path.name.partition("-")[0] for path in installed.packages.iterdir()}
    assert names == {"bin", "crawlproject", "topical_crawler"}


def test_a_crawl_from_topic_to_search(installed: Installed) -> None:
    """The working folder contains modules with the same names as imported ones, which must not run."""
    (installed.home / "pipelines.py").write_text("raise SystemExit('the folder of the user was imported')\n")
    shutil.copy(installed.home / "pipelines.py", installed.home / "spiders.py")
    done = installed.topical("topic", "new", "reefs.toml", "--query", "coral reef", *SAMPLE,
                             "--example", "http://www.nacre-divers.example/", "--pages", 12, "--sample", 0)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "topical crawl reefs.toml" in done.stdout and "scrapy" not in done.stdout
    quick = ("-s", "POLITENESS_MIN_DELAY=0", "-s", "POLITENESS_FACTOR=0")
    done = installed.topical(*SAMPLE, "crawl", "reefs.toml", *quick)
    assert done.returncode == 0, done.stderr
    folder = installed.home / "crawls" / "reefs"
    assert len(stored(folder)) == 12
    assert "topical why" in (folder / "report.html").read_text()
    lost = installed.topical("search", "crawls/reefs", "coral")
    assert lost.returncode == 2 and "make one: topical index crawls/reefs" in lost.stderr
    assert installed.topical("index", "crawls/reefs").returncode == 0
    assert json.loads(installed.topical("search", "crawls/reefs", "coral", "--json").stdout)["total"] > 0


def test_bundled_topics_rehearse(installed: Installed) -> None:
    done = installed.topical("rehearse", "sample", "demo", "--ordering", "dom", "--pages", 10)
    assert json.loads(done.stdout)["topic"] == "demo", done.stderr


# A default install without extras, spaCy included: importing their packages from the test environment is blocked.
# Each command is a fork of a process that has made the common imports, which take longer than the commands.
_DEFAULT = """
import json, os, sys
from crawlproject.extras import EXTRAS
sys.modules.update(dict.fromkeys((name for packages in EXTRAS.values() for name in packages)))
from crawlproject.__main__ import main
from crawlproject.commands import crawl, rehearse
for number, command in enumerate(json.loads(sys.argv[1])):
    if child := os.fork():
        with open(f"{number}.code", "w") as file:
            file.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
        continue
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{number}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.argv = ["topical", *command]
    main()
    break
"""


def test_what_a_default_install_does(installed: Installed) -> None:
    def run(*asked: Sequence[object]) -> list[subprocess.CompletedProcess[str]]:
        commands = [list(map(str, command)) for command in asked]
        whole = installed.python("-c", _DEFAULT, json.dumps(commands))
        assert whole.returncode == 0, whole.stderr
        told = [[installed.home / f"{n}.{name}" for name in ("code", "out", "err")] for n in range(len(commands))]
        return [
            subprocess.CompletedProcess(command, int(code.read_text()), out.read_text(), err.read_text())
            for command, (code, out, err) in zip(commands, told, strict=True)
        ]

    (done,) = run(("crawl", "demo", *SAMPLE, "-s", "CRAWL_MAX_PAGES=20", "-s", "CRAWL_DIR=crawls/default"))
    assert done.returncode == 0, done.stderr
    folder = installed.home / "crawls" / "default"
    *works, check = run(
        ("why", folder, sorted(stored(folder))[0]),
        ("report", folder),
        ("map", folder),
        ("frontier", "stats", folder),
        ("export", folder, "--to", "jsonl", "pages.jsonl"),
        ("rehearse", "sample", "demo", "demo-bread", "--ordering", "breadth_first", "adaptive", "--pages", 20,
         "--out", "rehearsals"),
        ("compare", "rehearsals"),
        ("topic", "check", "demo", *SAMPLE),
    )  # fmt: skip
    for done in works:
        assert done.returncode == 0, (done.args, done.stderr)
    assert check.returncode == 1 and "demo: 1 warning" in check.stdout, check.stderr
    lacking = (
        ("search", "index", folder),
        ("map", "map", folder, "--out", "map.png"),
        ("export", "export", folder, "--to", "parquet", "pages.parquet"),
        ("content", "export", folder, "--to", "markdown", "markdown"),
        ("mcp", "mcp", folder),
        ("learn", "crawl", "demo", *SAMPLE, "-a", "ordering=pagerank", "-s", "CRAWL_DIR=crawls/other"),
        ("redis", "crawl", "demo", *SAMPLE, "-s", "FRONTIER=redis", "-s", "CRAWL_DIR=crawls/other"),
        ("metrics", "crawl", "demo", *SAMPLE, "-s", "CRAWL_METRICS_FILE=m", "-s", "CRAWL_DIR=crawls/other"),
        ("content", "crawl", "demo", *SAMPLE, "-s", "PAGE_MAIN_TEXT=True", "-s", "CRAWL_DIR=crawls/other"),
    )
    for (missing, *_), done in zip(lacking, run(*(command for _, *command in lacking)), strict=True):
        told = f'pip install "topical-crawler[{missing}]"'
        assert done.returncode == 2 and told in done.stderr, (done.args, done.stderr)
        assert "Traceback" not in done.stderr


def test_the_companion_brings_its_extension(installed: Installed) -> None:
    folder = Path(installed.topical("companion", "--extension").stdout.strip())
    assert (folder / "manifest.json").is_file() and folder.is_relative_to(installed.packages.resolve())


def test_wrong_words_are_told(installed: Installed) -> None:
    wrong = installed.topical("crwl", "demo")
    assert wrong.returncode == 2 and "did you mean crawl?" in wrong.stderr
    none = installed.topical("crawl")
    assert none.returncode == 2 and "expected one topic: topical crawl TOPIC" in none.stderr


def test_zsh_and_fish_read_their_script() -> None:
    made = {name: make_command(name) for name in ("rehearse", "crawl")}
    parsers = {name: (made[name].short_desc(), parser_of(name, made[name], Settings())) for name in made}
    for shell, check in (("zsh", "-n"), ("fish", "--no-execute")):
        text = script(shell, "topical", parsers)
        assert all(word in text for word in ("topical", "rehearse", "overwrite-output"))
        if shutil.which(shell):
            subprocess.run([shell, check], input=text, text=True, check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(installed: Installed) -> None:
    script = installed.topical("completion", "bash").stdout
    ask = 'ask() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); COMPREPLY=(); _topical; echo "${COMPREPLY[*]}"; }\n'
    calls = "ask topical re\nask topical crawl --ou\nask topical crawl to\nask topical -s A=1 search --l"
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}{calls}"], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:4] == ["rehearse report revisit", "--output", "", "--limit --logfile --loglevel"]


# ---------------------------------------------------------------- container and unit


def instructions() -> list[tuple[str, str]]:
    """The instructions of the last stage of the Dockerfile, in order."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ").rpartition("\nFROM ")[2].splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in whole[1:] if line]


def test_the_container_is_not_root_keeps_its_crawls_and_is_watched() -> None:
    found = dict(instructions())
    assert found["USER"].isdigit() and int(found["USER"]) > 0
    assert (
        found["VOLUME"] == found["WORKDIR"] and f"install --directory --owner=topical {found['VOLUME']}" in found["RUN"]
    )
    assert json.loads(found["ENTRYPOINT"])[0] == "topical"


def test_what_the_container_copies_is_there_and_let_in() -> None:
    copied = [line.split()[1:-1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY")]
    names = {name for names in copied for name in names}
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert names == admitted and all((ROOT / name).exists() for name in names)


def test_the_health_check_asks_a_crawl(installed: Installed, tmp_path: Path) -> None:
    """The health check of the container succeeds while a crawl runs, and fails after its end."""
    found = dict(instructions())
    program, *options = json.loads(found["ENTRYPOINT"])
    _, *check = json.loads(found["HEALTHCHECK"].partition("CMD ")[2])
    assert program == "topical" and "CRAWL_METRICS_PORT=9410" in options
    crawl = [*options, "crawl", "demo", *SAMPLE, "-s", f"CRAWL_DIR={tmp_path / 'crawl'}", "-s", "CRAWL_MAX_SECONDS=4"]
    with subprocess.Popen(installed.command(*crawl), **installed.place()) as running:
        while (asked := installed.python(*check)).returncode and running.poll() is None:
            pass
        assert asked.returncode == 0
    assert running.returncode == 0 and installed.python(*check).returncode != 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (
        (ROOT / "scripts" / "topical@.service")
        .read_text()
        .replace("/opt/topical/bin/topical", shutil.which("env") or "")
    )
    (tmp_path / "topical@climate.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "topical@climate.service"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
