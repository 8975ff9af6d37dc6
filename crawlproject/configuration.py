"""Reads the project's settings from a mapping of names: Scrapy's settings, a dict. Values may be text, as on a command line.

``crawlproject.settings`` registers the models besides ``Options``: those of the installed parts.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from importlib.util import find_spec
from typing import Any

from pydantic import ValidationError, create_model
from pydantic.fields import FieldInfo

from crawlproject.errors import BadSetting
from crawlproject.options import Options, StarterOnly

logger = logging.getLogger(__name__)

THEIRS = ("REDIS_", "MAX_IDLE_TIME_BEFORE_CLOSE")  # settings with the names and meanings of scrapy-redis
OURS = (
    "FRONTIER",
    "ORDERING",
    "TOPIC_",
    "JUDGE_",
    "PAGE_",
    "POLITENESS_",
    "TRAP_",
    "CRAWL_",
    "DASHBOARD",
    "SEARCH_MODEL",
    "SEED_",
    "COMPANION",
    "VIRTUAL_WEB",
)
# Spiders, middlewares and pipelines are next to this package in a checkout, and inside it in a built package
# (docs/adr/0043-one-package-when-installed.md).
installed = find_spec("crawlproject.spiders") is not None
program = "topical" if installed else "scrapy"  # the command, as named in hints and messages

_RENAMED = {"ORDERING_ATTENTION": "ORDERING_ACTIVE"}  # old folders and scripts use the old names
_PARAMETERS = "ordering_parameters"  # not a setting: the field that collects the parameters of the ordering

_FORGOTTEN = "CRAWL_", "POLITENESS_", "FRONTIER_"  # prefixes that people leave out
_LONG_NAME = 10  # letters; in a name of at least this length, two letters may be wrong
_SHOULD = re.compile(r"\b(?:Input|String|List|Value) should\b")  # how messages of pydantic begin
_WRONG = "Value error, "  # how pydantic announces a message of ours

_models: list[type[Options]] = []  # one, of all settings, once ``set_models`` has been called


def set_models(models: Iterable[type[Options]]) -> None:
    """Register the settings besides those of every crawl. Raises ``BadSetting`` if two parts define the same name."""
    models = tuple(models)
    for name, times in Counter(name for model in models for name in own_fields(model)).items():
        if times > 1 or name in Options.model_fields:
            raise BadSetting(f"setting {name.upper()}", "two parts define it")
    _models[:] = [create_model("AllOptions", __base__=models or Options)]


def _model() -> type[Options]:
    if not _models:
        raise RuntimeError("crawlproject.settings, which says what settings there are, is being imported")
    return _models[0]


def own_fields(model: type[Options]) -> Mapping[str, FieldInfo]:
    """The settings that a model adds."""
    return {name: field for name, field in model.model_fields.items() if name in model.__annotations__}


def default_settings() -> dict[str, Any]:
    """All settings of the project with their defaults, by names in capitals as in Scrapy."""
    return {name.upper(): field.default for name, field in _model().model_fields.items() if name != _PARAMETERS}


def setting_names() -> Set[str]:
    """The names of all settings of the project, in capitals."""
    return {name.upper() for name in _model().model_fields} - {_PARAMETERS.upper()}


@cache
def starter_settings() -> Mapping[str, str]:
    """The settings that only the person who starts a crawl may set (``StarterOnly``), with the reasons."""
    fields = _model().model_fields.items()
    return {
        name.upper(): mark.why for name, field in fields for mark in field.metadata if isinstance(mark, StarterOnly)
    }


def known_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``settings`` that this version, with the installed parts, knows."""
    return {name: value for name, value in settings.items() if name in setting_names()}


def read_options(settings: Mapping[str, Any]) -> Options:
    """Read options from a mapping of setting names; None is the default. Raises ``BadSetting`` with the setting and the wish."""
    given = {name.lower(): settings.get(name) for name in setting_names()}
    values = {name: value for name, value in given.items() if value is not None}
    try:
        return _model()(**values, ordering_parameters=dict(_ordering_parameters(settings)))
    except ValidationError as invalid:
        raise _bad_setting(invalid) from None


def refuse_unknown(settings: Mapping[str, Any]) -> None:
    """Raise ``BadSetting`` for an unknown setting with a prefix of ours: a typing error must not go unnoticed.

    The parameters of orderings (``ORDERING_<P>``) are checked when an ordering is made.
    """
    unknown = dict(unknown_settings(settings))
    if unknown:
        wishes = [f"{name} (did you mean {near}?)" if near else name for name, near in unknown.items()]
        raise BadSetting("settings", f"there is no setting {', '.join(wishes)}")


def unknown_settings(settings: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the unknown settings with a prefix of ours, each with the most similar known name (or "")."""
    known = sorted(setting_names())
    for name in settings:
        if name.startswith(OURS) and name not in known and not name.startswith("ORDERING_"):
            yield name, next(iter(difflib.get_close_matches(name, known, 1)), "")


def refuse_misspelt(given: Iterable[str], others: Iterable[str]) -> None:
    """Raise ``BadSetting`` if a name that a person typed is unknown, but similar to that of a setting.

    ``others`` are the known names besides ours: those of Scrapy and of the settings module. A name that resembles no other may
    belong to an add-on.
    """
    known = {**dict.fromkeys(others), **dict.fromkeys(sorted(setting_names() | {*_RENAMED}))}
    for name in given:
        ours = name.isupper() and name.startswith("ORDERING_")  # a parameter of an ordering
        if name not in known and not ours and (near := _near(name, known)):
            raise BadSetting(f"setting {name}", f"there is no such setting; did you mean {near}?")


def _near(name: str, known: Iterable[str]) -> str:
    """The setting whose name differs only in case and underscores, in one letter (two in long names), or in a forgotten prefix;
    else empty.
    """
    plain = _plain(name)
    if plain.startswith("ORDERING") and name.upper().startswith("ORDERING_"):
        return name.upper()
    most = 1 if len(plain) < _LONG_NAME else 2
    distances = {found: _distance(plain, _plain(found), most) for found in known}
    nearest = min(distances, key=distances.__getitem__, default="")
    if nearest and distances[nearest] <= most:
        return nearest
    prefixed = (f"{prefix}{name.upper()}" for prefix in _FORGOTTEN if "_" in name)
    return next((found for found in prefixed if found in distances), "")


def _plain(name: str) -> str:
    return name.upper().replace("_", "").replace("-", "")


def _distance(one: str, other: str, most: int) -> int:
    """The number of letters to insert, delete, replace, or swap with a neighbour (edit distance), at most ``most`` + 1."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, its in enumerate(other, start=1):
            cost = min(row[j - 1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (letter != its))
            if i > 1 and j > 1 and (letter, one[i - 2]) == (other[j - 2], its):
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        rows = [rows[-1], row]
    return rows[-1][-1]


def is_code(judge: str) -> bool:
    """Whether a judge is a ``module:Class``, which only the person who starts a crawl may name."""
    return ":" in judge


def setting_wish(name: str, value: Any) -> str:
    """What is wrong with one setting, considered alone; empty: nothing. Names and parameters of orderings are not checked."""
    for unknown, near in unknown_settings((name,)):
        return f"there is no setting {unknown}" + (f"; did you mean {near}?" if near else "")
    try:
        read_options({name: value})
    except BadSetting as wrong:
        return f"{name} {wrong.wish}"
    return ""


def _ordering_parameters(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in settings:
        if name in _RENAMED:
            _warn_of_old_name(name)
            if _RENAMED[name] not in settings:
                yield _RENAMED[name].removeprefix("ORDERING_").lower(), settings[name]
        elif name.startswith("ORDERING_") and name not in setting_names():
            yield name.removeprefix("ORDERING_").lower(), settings[name]


@cache
def _warn_of_old_name(name: str) -> None:
    """Warn once per process and name."""
    logger.warning("setting %s is called %s now", name, _RENAMED[name])


def _bad_setting(invalid: ValidationError) -> BadSetting:
    first, *others = invalid.errors()
    of_one = [first, *(other for other in others if other["loc"][0] == first["loc"][0])]
    wishes = dict.fromkeys(_SHOULD.sub("must", error["msg"].removeprefix(_WRONG)) for error in of_one)
    return BadSetting(f"setting {str(first['loc'][0]).upper()}", f"{' or '.join(wishes)}, not {first['input']!r}")
