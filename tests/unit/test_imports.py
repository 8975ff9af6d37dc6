"""Permitted imports between packages, and forbidden calls in the core, checked on the source."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from crawlproject.parts.registry import NEEDS, OURS

ROOT = Path(__file__).resolve().parents[2]

# Packages above the line: these may import Scrapy and Twisted, read the wall clock and open sockets.
GLUE = (
    "crawlproject.addon",
    "crawlproject.library",
    "crawlproject.opening",
    "crawlproject.__main__",
    "crawlproject.commands",
    "crawlproject.adapters",
    "crawlproject.http",
    "crawlproject.language_models.address",
    "crawlproject.language_models.embeddings",
    "crawlproject.dashboard",
    "crawlproject.companion.extension",
    "crawlproject.companion.person",
    "crawlproject.companion.service",
    "crawlproject.exporting.search_server",
    "crawlproject.parts.documents.middleware",
    "crawlproject.parts.judges.appointed",
    "crawlproject.parts.judges.embeddings",
    "crawlproject.parts.judges.llm",
    "crawlproject.parts.judges.part",
    "crawlproject.parts.judges.pipeline",
    "crawlproject.parts.judgments.judged_examples",
    "crawlproject.parts.judgments.watch",
    "crawlproject.parts.logins.middleware",
    "crawlproject.parts.mirror",
    "crawlproject.parts.rendering.browser",
    "crawlproject.parts.rendering.pipeline",
    "crawlproject.parts.revisits.change_hook",
    "crawlproject.parts.topics.adapter",
    "crawlproject.parts.websub.extension",
    "crawlproject.parts.workers.pushed_seeds",
    "crawlproject.storage.remote",
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

# The picture of docs/architecture.md: a package may import itself and the packages named here. No arrow runs up. Names with a
# dot are slices of a package: the Scrapy side of the parts and of the companion, the ``report.py`` and ``why.py`` of the parts.
CONTRACT, REGISTRY = "contract", "registry"  # core/part.py and parts/registry.py
GROUND = {"configuration", "errors", "extras", "options", "records", "zstandard"}
BELOW = {"core", "frontier", "orderings", "pages", "storage", "topic", "urls", "webs"}
MAY_IMPORT = {
    "moved": set(),
    "errors": set(),
    "extras": {"errors"},
    "records": {"errors"},
    "zstandard": set(),
    CONTRACT: {"records"},
    "options": set(),
    "configuration": {"errors", "options"},
    REGISTRY: {CONTRACT, "errors", "options"},
    "settings": {REGISTRY, "configuration"},
    "pages": GROUND | {"urls"},
    "urls": GROUND,
    "storage": GROUND | {"urls"},
    "orderings": GROUND | {"pages", "urls"},
    "frontier": GROUND | {"storage"},
    "webs": GROUND | {"storage", "pages", "urls"},
    "topic": GROUND | {"pages", "urls"},
    "core": GROUND | BELOW | {CONTRACT},
    "parts": GROUND | BELOW | {CONTRACT},
    "assembly": GROUND | BELOW | {CONTRACT, REGISTRY},
    "language_models": GROUND,
    "exporting": GROUND | {"language_models", REGISTRY, "storage", "pages", "parts", "urls"},
    "companion": GROUND | {"core", "frontier", "orderings", "pages", "urls"},
    "evaluation": GROUND | BELOW | {"assembly", "parts", REGISTRY},
    "reports": GROUND | BELOW | {REGISTRY, "evaluation"},
}
MAY_IMPORT["parts.accounts"] = {*MAY_IMPORT}
MAY_IMPORT["adapters"] = {*MAY_IMPORT} - {"parts.accounts"}
MAY_IMPORT["http"] = {*MAY_IMPORT} - {"parts.accounts"}
MAY_IMPORT["parts.glue"] = MAY_IMPORT["companion.glue"] = MAY_IMPORT["dashboard"] = {*MAY_IMPORT}
MAY_IMPORT["opening"] = {*MAY_IMPORT}
MAY_IMPORT["library"] = MAY_IMPORT["addon"] = {*MAY_IMPORT}
MAY_IMPORT["commands"] = {*MAY_IMPORT} - {"addon"}
MAY_IMPORT["__main__"] = {*MAY_IMPORT}
NO_PARTS = GROUND | BELOW  # packages that may not even name a part, in an annotation or in a function
BETWEEN_PARTS = {  # dependent part and needed part -> reason; docs/architecture.md has the same table
    ("revisits", "listings"): "feeds and sitemaps are visited again, too, and say which pages have changed",
    ("websub", "revisits"): "what a hub says makes a feed due",
    ("websub", "listings"): "a feed names its hub",
}
CIRCLES = [  # modules that import each other, in functions: heavy modules are imported where they are needed
    {"pages.text.relevance", "pages.text.term_vectors"},
    {"parts.verticals.layout", "parts.verticals.site_template"},
]
CARD = {"spiders": {"middlewares", "pipelines"}, "middlewares": set(), "pipelines": set()}  # the folders beside it


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def package_of(module: str) -> str:
    """The package or file right under ``crawlproject``, or the slice of it (``MAY_IMPORT``)."""
    names = module.split(".")
    package = names[1] if len(names) > 1 else ""
    if package == "companion" and is_glue(module):
        return "companion.glue"
    if module == "crawlproject.core.part":
        return CONTRACT
    if module == "crawlproject.parts.registry":
        return REGISTRY
    if package == "parts" and is_glue(module):
        return "parts.glue"
    return "parts.accounts" if package == "parts" and re.match("report$|why", names[-1]) else package


def part_of(module: str) -> str:
    """The folder of the part that a module belongs to; empty if it belongs to none."""
    names = module.split(".")
    return names[2] if names[1:2] == ["parts"] and len(names) > 2 and module != "crawlproject.parts.registry" else ""


def is_glue(module: str) -> bool:
    return any(module == glue or module.startswith(f"{glue}.") for glue in GLUE)


SOURCES = {module_of(path): path for path in sorted((ROOT / "crawlproject").rglob("*.py"))}
CORE = [
    module for module in SOURCES if not is_glue(module) and module != "crawlproject"
]  # which is a door to the library


@cache
def source_of(module: str) -> str:
    return SOURCES[module].read_text(encoding="utf-8")


@cache
def names_in(module: str) -> set[str]:
    """The imports of a module, see ``imports_of``."""
    return {*imports_of(ast.parse(source_of(module)), module)}


def imports_of(tree: ast.AST, module: str) -> Iterator[str]:
    """Every imported module or name with its dotted path, including imports inside functions and by quoted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: -node.level] if node.level else []
            origin = ".".join([*package, node.module] if node.module else package)
            yield from (f"{origin}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2].lstrip("_")
            if called in _LOADERS and [*_constants(node.args)]:
                yield f"{_LOADERS[called]}{'.'.join(str(ast.literal_eval(arg)) for arg in _constants(node.args))}"


_LOADERS = {"import_module": "", "import__": "", "part_module": "crawlproject.parts."}


def _constants(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    return takewhile(lambda node: isinstance(node, ast.Constant), nodes)


def modules_of(names: Iterator[str] | set[str]) -> set[str]:
    """Our modules that these names denote or belong to."""
    found = set()
    for name in names:
        while name and name not in SOURCES:
            name = name.rpartition(".")[0]
        found.add(name)
    return found - {"", "crawlproject"}


class _AtRunTime(ast.NodeTransformer):
    """Removes imports for type checkers only and, on request, imports that run when a function is called."""

    def __init__(self, functions: bool) -> None:
        self._functions = functions

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return node.orelse
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return self.generic_visit(node) if self._functions else None

    visit_AsyncFunctionDef = visit_FunctionDef


@cache
def imported_by(module: str, *, functions: bool = True) -> set[str]:
    """Our modules that a module imports at run time."""
    tree = ast.parse(source_of(module))
    return modules_of(imports_of(_AtRunTime(functions).visit(tree), module)) - {module}


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The strongly connected components with more than one module (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        path.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
            if other in path:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            at = path.index(node)
            found.append(set(path[at:]))
            del path[at:]

    for node in graph:
        if node not in number:
            visit(node)
    return [circle for circle in found if len(circle) > 1]


def uses_of(tree: ast.AST) -> Iterator[str]:
    """Every dotted name read, such as ``time.time``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def offences(source: str, module: str = "crawlproject.frontier.example") -> list[str]:
    """Violations of the rules for modules below the line."""
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


def test_the_core_needs_no_framework_no_network_no_clock_and_no_global_generator():
    found = {module: offences(source_of(module), module) for module in CORE}
    assert {module: offence for module, offence in found.items() if offence} == {}


def test_packages_import_only_what_is_below_them():
    above = {}
    for module in filter(package_of, SOURCES):
        package = package_of(module)
        found = {package_of(name) for name in imported_by(module)} - MAY_IMPORT[package] - {package}
        above[module] = found | ({name.split(".")[0] for name in names_in(module)} & {*CARD})
    assert {module: found for module, found in above.items() if found} == {}


def test_no_two_packages_may_import_each_other():
    pairs = [(package, below) for package, others in MAY_IMPORT.items() for below in others]
    assert [
        (package, below) for package, below in pairs if package != below and package in MAY_IMPORT.get(below, ())
    ] == []


def test_nothing_below_the_parts_names_one():
    below = [module for module in SOURCES if package_of(module) in NO_PARTS]
    assert [
        (module, name) for module in below for name in names_in(module) if name.startswith("crawlproject.parts.")
    ] == []


@pytest.mark.parametrize("part", OURS)
def test_parts_know_no_other_part(part):
    others = {
        part_of(imported) for module in SOURCES if part_of(module) == part for imported in modules_of(names_in(module))
    }
    assert others - {"", part} == {needed for needing, needed in BETWEEN_PARTS if needing == part}
    assert others - {"", part} == set(NEEDS.get(part, ()))


def test_every_folder_of_parts_is_in_the_registry():
    assert {part_of(module) for module in SOURCES} - {""} == {*OURS}


def test_what_stands_above_the_parts_is_imported_without_them():
    about_revisits = "crawlproject.evaluation.freshness"  # imported only for revisits
    others = [module for module in SOURCES if not part_of(module) and not module.startswith(about_revisits)]
    assert [module for module in others if any(map(part_of, imported_by(module, functions=False)))] == []


def test_no_two_classes_have_one_name():
    classes = (
        node.name for module in SOURCES for node in ast.parse(source_of(module)).body if isinstance(node, ast.ClassDef)
    )
    assert {name for name, number in Counter(classes).items() if number > 1} == set()


def test_no_modules_import_each_other_in_a_circle():
    assert circles({module: imported_by(module, functions=False) for module in SOURCES}) == []
    found = circles({module: imported_by(module) for module in SOURCES})
    assert sorted(map(sorted, found)) == [sorted(f"crawlproject.{name}" for name in circle) for circle in CIRCLES]


def test_the_check_sees_circles():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "c"}}) == [{"b", "c"}]


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
        "part_module('judgments', 'watch')",
        "from importlib import import_module\nimport_module('crawlproject.adapters.scheduler')",
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
