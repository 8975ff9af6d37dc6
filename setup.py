"""What ``pyproject.toml`` cannot say: the compiled parts, the folders beside the package, and the copy of the stop words.

Builds an egg for Scrapyd, too: ``python setup.py bdist_egg``.
"""

import os
import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py


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
            # Sums as Python rounds them; debug information would take a sixth of the time.
            extra_compile_args=[] if sys.platform == "win32" else ["-ffp-contract=off", "-g0"],
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


class BuildWithStopWords(build_py):
    """Copies spaCy's stop words into the package, which then does without spaCy."""

    def run(self) -> None:
        super().run()
        lists = runpy.run_path("crawlproject/pages/text/stop_word_lists.py")
        copy = lists["as_json"]()
        if copy is not None and not self.editable_mode:
            Path(self.build_lib, "crawlproject", "pages", "text", lists["COPY"]).write_bytes(copy)


setup(
    packages=[*find_packages(include=["crawlproject*"]), *(f"crawlproject.{name}" for name in BESIDE)],
    package_dir={f"crawlproject.{name}": name for name in BESIDE},
    ext_modules=extensions(),
    cmdclass={"build_py": BuildWithStopWords},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
