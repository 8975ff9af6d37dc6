"""Build an egg for Scrapyd (``python setup.py bdist_egg``) or install the project (``pip install .``)."""

import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup

REQUIREMENTS = Path(__file__).parent / "requirements.txt"


def extensions() -> list[Extension]:
    """The compiled parts, which are optional; an egg has none, for it is imported as a zip file, on another machine."""
    if "bdist_egg" in sys.argv:
        return []
    try:
        import lxml
        from Cython.Build import cythonize
    except ImportError:
        return []
    sources = sorted(map(str, Path("crawlproject").rglob("*.pyx")))
    parts = [
        Extension(
            source.removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=lxml.get_include(),
            extra_compile_args=[] if sys.platform == "win32" else ["-ffp-contract=off"],  # sums as Python rounds them
        )
        for source in sources
    ]
    compiled: list[Extension] = cythonize(parts, build_dir="build", quiet=True)
    for part in compiled:
        part.optional = True  # which cythonize forgets
    return compiled


# Beside the package in a checkout, where users of Scrapy look for them; inside it once built, for site-packages and eggs are
# shared with other projects, which have a ``spiders`` of their own (docs/adr/0043-one-package-when-installed.md).
BESIDE = ["spiders", "middlewares", "pipelines", "topics"]

setup(
    name="topical-crawler",
    version="0.1.0",
    packages=[*find_packages(include=["crawlproject*"]), *(f"crawlproject.{name}" for name in BESIDE)],
    package_dir={f"crawlproject.{name}": name for name in BESIDE},
    package_data={
        "crawlproject": ["*.pyi"],
        "crawlproject.companion": ["browser/*"],
        "crawlproject.dashboard": ["assets/*", "templates/*"],
        "crawlproject.parts.rendering.browser": ["*.js"],
        "crawlproject.frontier.redis": ["lua/*.lua"],
        "crawlproject.reports": ["templates/*"],
        "crawlproject.storage": ["*.json"],
        "crawlproject.webs.sample": ["phrases/*.toml"],
        "crawlproject.topics": ["*.toml"],
    },
    ext_modules=extensions(),
    install_requires=[line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")],
    extras_require={
        "frames": ["pandas>=2.2", "polars>=1.0"],  # pages as data frames (docs/library.md)
        "mcp": ["mcp==2.3.0"],  # a server for agents (docs/agents.md)
    },
    entry_points={
        "scrapy": ["settings = crawlproject.settings"],
        "scrapy.commands": [
            "frontier = crawlproject.commands.frontier:FrontierCommand"
        ],  # in projects with the add-on, too
        "console_scripts": ["topical = crawlproject.__main__:main"],
    },
)
