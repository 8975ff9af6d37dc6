"""Sentence embeddings, from an installed model or from an address that serves ``/embeddings``."""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from crawlproject.errors import BadSetting, NoAnswer
from crawlproject.language_models.base import Embed, Embedder

LIBRARIES = {  # tried in this order, cheapest first: class with ``encode``, and its constructor from a name or a folder
    "model2vec": ("StaticModel", "from_pretrained"),
    "sentence_transformers": ("SentenceTransformer", ""),
}
SEARCH_KEY = "TOPICAL_SEARCH_KEY"  # environment variable
SECONDS = 60.0  # timeout of a request of the search; a query is answered at once, or not at all


@cache
def search_model(setting: str) -> Embedder | None:
    """The model that the setting ``SEARCH_MODEL`` names; None if it is empty. Raises ``BadSetting``."""
    address, _, model = setting.rpartition("#")
    if not address:
        return Embedder(setting, partial(of_model, setting, "SEARCH_MODEL")) if setting else None
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or not model:
        wish = "expected a model that is installed, or an address and a model such as http://127.0.0.1:11434/v1#nomic"
        raise BadSetting("setting SEARCH_MODEL", wish)
    return Embedder(model, lambda: of_address(address.rstrip("/"), model, SECONDS, SEARCH_KEY))


def of_address(url: str, model: str, seconds: float, key: str) -> Embed:
    """A function that gets embeddings from ``url``. ``key`` names the environment variable that holds its key. The function
    raises ``NoAnswer``.
    """
    return partial(_ask, f"{url}/embeddings", model, seconds, key)


def _ask(url: str, model: str, seconds: float, key: str, texts: list[str]) -> list[Any]:
    from crawlproject.language_models.address import ask  # aiohttp takes a while to import

    answer = ask(url, {"model": model, "input": texts, "encoding_format": "float"}, seconds, key)
    try:
        return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
    except (KeyError, TypeError):
        raise NoAnswer("nonsense") from None


def of_model(name: str, setting: str, address: str = "an address") -> Embed:
    """Load the model ``name`` with an installed library. Raises ``BadSetting`` about ``setting``; its message offers
    ``address`` as the alternative.
    """
    place = f"setting {setting}"
    library = next((library for library in LIBRARIES if find_spec(library) is not None), None)
    if library is None:
        raise BadSetting(
            place, f"needs a model (pip install model2vec, or sentence-transformers, and its name), or {address}"
        )
    if not name:
        raise BadSetting(place, f"expected the name or the folder of a model of {library}")
    kind, maker = LIBRARIES[library]
    found = getattr(import_module(library), kind)
    try:
        model = (getattr(found, maker) if maker else found)(name)
    except Exception as failure:  # model libraries may raise anything
        raise BadSetting(place, f"{library} cannot load {name!r}: {failure}") from None
    return lambda texts: model.encode(texts)
