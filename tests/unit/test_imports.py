"""Who may import whom, and what the core may never ask for: checked over the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What stands above the line: these may import Scrapy and Twisted, ask the wall clock and open sockets.
GLUE = (
    "crawlproject.addon",
    "crawlproject.library",
    "crawlproject.__main__",
    "crawlproject.commands",
    "crawlproject.adapters",
    "crawlproject.http",
    "crawlproject.dashboard",
    "crawlproject.companion.extension",
    "crawlproject.companion.person",
    "crawlproject.companion.service",
    "crawlproject.exporting.search_server",
    "crawlproject.parts.judgments.judged_examples",
    "crawlproject.parts.judgments.watch",
    "crawlproject.parts.rendering.browser",
    "crawlproject.parts.rendering.pipeline",
    "crawlproject.parts.revisits.change_hook",
    "crawlproject.parts.revisits.delivery_server",
    "crawlproject.parts.revisits.websub",
    "crawlproject.parts.topics.adapter",
    "crawlproject.parts.topics.topics_folder",
    "crawlproject.parts.topics.views",
    "crawlproject.parts.workers.pushed_seeds",
)
FRAMEWORKS = {"scrapy", "twisted", "itemadapter", "scrapy_redis"}
NETWORK = {"aiohttp", "asyncio", "ftplib", "httpx", "redis", "requests", "smtplib", "socket", "ssl", "urllib3"}
NETWORK_PARTS = {"http.client", "http.server", "urllib.request"}
WALL_CLOCK = {
    "time.time",
    "time.time_ns",
    "time.localtime",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.date.today",
}
OWN_GENERATORS = {"Random", "SystemRandom"}

# The picture of docs/architecture.md: a package may import itself, the ground, and the packages named here. No arrow runs up.
GROUND = {"errors", "options", "records", "settings"}
BELOW = {"core", "frontier", "orderings", "pages", "storage", "topic", "urls", "webs"}
MAY_IMPORT = {
    "errors": set(),
    "records": {"errors"},
    "settings": set(),
    "options": {"errors", "settings"},
    "pages": GROUND,
    "urls": GROUND,
    "storage": GROUND | {"urls"},
    "orderings": GROUND | {"pages", "urls"},
    "frontier": GROUND | {"storage"},
    "webs": GROUND | {"storage", "pages", "urls"},
    "topic": GROUND | {"pages", "urls"},
    "core": GROUND | {"frontier", "orderings", "pages", "storage", "topic", "urls", "webs"},
    "parts": GROUND | BELOW,
    "assembly": GROUND | BELOW | {"parts"},
    "exporting": GROUND | {"storage", "pages", "parts", "urls"},
    "companion": GROUND | {"core", "frontier", "orderings", "pages", "urls"},
    "evaluation": GROUND | {"assembly", "core", "orderings", "pages", "parts", "storage", "urls", "webs"},
    "reports": GROUND | {"core", "evaluation", "orderings", "pages", "parts", "storage", "urls"},
}
MAY_IMPORT["http"] = MAY_IMPORT["adapters"] = {*MAY_IMPORT, "http"}
MAY_IMPORT["dashboard"] = {*MAY_IMPORT}
MAY_IMPORT["library"] = {*MAY_IMPORT}
MAY_IMPORT["commands"] = MAY_IMPORT["addon"] = {*MAY_IMPORT}
MAY_IMPORT["__main__"] = {*MAY_IMPORT}
TOLD = {"report", "why"}  # files of a part that say something to a person
CARD = {"spiders": {"middlewares", "pipelines"}, "middlewares": set(), "pipelines": set()}  # the folders beside it


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def package_of(module: str) -> str:
    """The second part of a dotted path: the package or file right under ``crawlproject``."""
    return module.split(".")[1] if "." in module else ""


def place_of(module: str) -> str:
    """The package whose imports a module may have: the glue of a part, or of the companion, stands with the adapters, and what a
    part tells a person with the reports.
    """
    package = package_of(module)
    if package not in ("companion", "parts"):
        return package
    if is_glue(module):
        return "adapters"
    return "reports" if package == "parts" and TOLD.intersection(module.split(".")[-1].split("_")) else package


def is_glue(module: str) -> bool:
    return any(module == glue or module.startswith(f"{glue}.") for glue in GLUE)


SOURCES = {module_of(path): path for path in sorted((ROOT / "crawlproject").rglob("*.py"))}
CORE = [module for module in SOURCES if not is_glue(module)]


def imports_of(tree: ast.AST, module: str) -> Iterator[str]:
    """Every module or name imported, with its dotted path; imports inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*package, node.module] if node.module else package)
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def uses_of(tree: ast.AST) -> Iterator[str]:
    """Every dotted name read, such as ``time.time``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def offences(source: str, module: str = "crawlproject.frontier.example") -> list[str]:
    """What a module below the line may not do."""
    tree = ast.parse(source)
    imported = set(imports_of(tree, module))
    used = imported | set(uses_of(tree))
    redis = module.startswith("crawlproject.frontier.redis.")
    forbidden = FRAMEWORKS - {"scrapy_redis"} if redis else FRAMEWORKS | NETWORK
    found = [name for name in imported if name.split(".")[0] in forbidden]
    found += [name for name in imported if any(f"{name}.".startswith(f"{part}.") for part in NETWORK_PARTS)]
    found += [name for name in imported if is_glue(name)]
    found += [name for name in used if name in WALL_CLOCK]
    found += [name for name in used if _draws_from_the_global_generator(name, imported)]
    return sorted(set(found))


def _draws_from_the_global_generator(name: str, imported: set[str]) -> bool:
    module, _, function = name.partition(".")
    if module != "random" or not function:
        return False
    if name not in imported and "random" not in imported:
        return False  # ``self.random`` and arguments called ``random`` are generators passed in
    return function.split(".")[0] not in OWN_GENERATORS


@pytest.mark.parametrize("module", CORE)
def test_the_core_needs_no_framework_no_network_no_clock_and_no_global_generator(module):
    assert offences(SOURCES[module].read_text(encoding="utf-8"), module) == []


@pytest.mark.parametrize("module", [module for module in SOURCES if package_of(module)])
def test_packages_import_only_what_is_below_them(module):
    package = package_of(module)
    imported = set(imports_of(ast.parse(SOURCES[module].read_text(encoding="utf-8")), module))
    ours = {package_of(name) for name in imported if name.startswith("crawlproject.")}
    assert ours <= MAY_IMPORT[place_of(module)] | {package, place_of(module)}
    assert not {name.split(".")[0] for name in imported} & {*CARD}


def test_no_two_packages_may_import_each_other():
    pairs = [(package, below) for package, others in MAY_IMPORT.items() for below in others]
    assert [
        (package, below) for package, below in pairs if package != below and package in MAY_IMPORT.get(below, ())
    ] == []


@pytest.mark.parametrize("folder", CARD)
def test_middlewares_and_pipelines_stand_apart(folder):
    for path in (ROOT / folder).glob("*.py"):
        imported = {name.split(".")[0] for name in imports_of(ast.parse(path.read_text(encoding="utf-8")), folder)}
        assert imported & {*CARD} <= CARD[folder] | {folder}


def test_every_file_of_the_glue_exists():
    assert [glue for glue in GLUE if not any(f"{module}.".startswith(f"{glue}.") for module in SOURCES)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import scrapy",
        "from twisted.internet import reactor",
        "def late():\n    from scrapy import Spider",
        "import time\nstarted = time.time()",
        "from time import time",
        "from datetime import datetime\nnow = datetime.now()",
        "import random\nrandom.shuffle([1, 2])",
        "from random import choice",
        "import socket",
        "from urllib.request import urlopen",
        "from crawlproject.adapters.scheduler import FrontierScheduler",
        "from ..adapters import scheduler",
    ],
)
def test_the_check_sees(source):
    assert offences(source)


@pytest.mark.parametrize(
    "source",
    [
        "from random import Random\ngenerator = Random(1)",
        "def draw(random):\n    return random.shuffle([1])",
        "import time\nstarted = time.perf_counter()",
        "from urllib.parse import urljoin",
        "from crawlproject.webs.warc_file import Archive",
    ],
)
def test_the_check_lets_pass(source):
    assert offences(source) == []
