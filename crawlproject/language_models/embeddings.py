"""Sentence embeddings: of a model that is installed, or of an address that speaks ``/embeddings``."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from crawlproject.errors import BadSetting, NoAnswer
from crawlproject.language_models.base import Embed, Embedder

LIBRARIES = {  # what is tried, the cheaper first: class that has ``encode``, and how it is made from a name or a folder
    "model2vec": ("StaticModel", "from_pretrained"),
    "sentence_transformers": ("SentenceTransformer", ""),
}
SEARCH_KEY = "TOPICAL_SEARCH_KEY"  # environment variable
SECONDS = 60.0  # that the search waits for an answer; one about a query comes at once, or not


@cache
def search_model(setting: str) -> Embedder | None:
    """What ``SEARCH_MODEL`` names; None when it is empty. Raises ``BadSetting``."""
    address, _, model = setting.rpartition("#")
    if not address:
        return Embedder(setting, partial(of_model, setting, "SEARCH_MODEL")) if setting else None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or not model:
        wish = "expected a model that is installed, or an address and a model such as http://127.0.0.1:11434/v1#nomic"
        raise BadSetting("setting SEARCH_MODEL", wish)
    return Embedder(model, lambda: of_address(address.rstrip("/"), model, SECONDS, SEARCH_KEY))


def of_address(url: str, model: str, seconds: float, key: str) -> Embed:
    """The embeddings that ``url`` gives; ``key`` is the environment variable with its key. Calls raise ``NoAnswer``."""
    return partial(_ask, f"{url}/embeddings", model, seconds, key)


def _ask(url: str, model: str, seconds: float, key: str, texts: list[str]) -> list[Any]:
    from crawlproject.language_models.address import ask  # aiohttp takes a while to import

    answer = ask(url, {"model": model, "input": texts, "encoding_format": "float"}, seconds, key)
    try:
        return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
    except (KeyError, TypeError):
        raise NoAnswer("nonsense") from None


def of_model(name: str, setting: str, address: str = "an address") -> Embed:
    """A model of an installed library. Raises ``BadSetting`` about ``setting``, which names it; ``address`` would do instead."""
    place = f"setting {setting}"
    library = next((library for library in LIBRARIES if find_spec(library) is not None), None)
    if library is None:
        raise BadSetting(
            place, f"wants a model (pip install model2vec, or sentence-transformers, and its name), or {address}"
        )
    if not name:
        raise BadSetting(place, f"expected the name or the folder of a model of {library}")
    kind, maker = LIBRARIES[library]
    found = getattr(import_module(library), kind)
    try:
        model = (getattr(found, maker) if maker else found)(name)
    except Exception as failure:  # whatever a library of models raises
        raise BadSetting(place, f"{library} cannot load {name!r}: {failure}") from None
    return lambda texts: model.encode(texts)
