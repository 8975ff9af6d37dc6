"""Build an egg for Scrapyd (``python setup.py bdist_egg``) or install the project (``pip install .``)."""

from pathlib import Path

from setuptools import find_packages, setup

REQUIREMENTS = Path(__file__).parent / "requirements.txt"

setup(
    name="topical-crawler",
    version="0.1.0",
    packages=find_packages(include=["crawlproject*", "spiders*", "middlewares*", "pipelines*", "topics"]),
    package_data={
        "crawlproject.components.dashboard": ["assets/*", "templates/*"],
        "crawlproject.frontier.redis": ["lua/*.lua"],
        "crawlproject.reports": ["templates/*"],
        "crawlproject.storage": ["*.json"],
        "crawlproject.webs.sample": ["phrases/*.toml"],
        "topics": ["*.toml"],
    },
    install_requires=[line for line in REQUIREMENTS.read_text().splitlines() if line and not line.startswith("#")],
    entry_points={
        "scrapy": ["settings = crawlproject.settings"],
        "scrapy.commands": [
            "frontier = crawlproject.commands.frontier:FrontierCommand"
        ],  # in projects with the add-on, too
    },
)
