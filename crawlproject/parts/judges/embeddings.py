"""Relevance by sentence embeddings: of a model that is installed, or of an address that speaks ``/embeddings``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from crawlproject.errors import BadSetting
from crawlproject.parts.judges.address import ask
from crawlproject.parts.judges.base import Given, Judge, NoAnswer, Text
from crawlproject.parts.judges.options import JudgeOptions

CHARACTERS = 4_000  # of a page that are looked at: models cut after 256 to 8,192 tokens
EXAMPLES = 50  # positive examples that are looked at
LIBRARIES = {  # what is tried, the cheaper first: class that has ``encode``, and how it is made from a name or a folder
    "model2vec": ("StaticModel", "from_pretrained"),
    "sentence_transformers": ("SentenceTransformer", ""),
}

Vectors = NDArray[np.float64]
Embed = Callable[[list[str]], Any]


class EmbeddingsJudge(Judge):
    """The cosine of a page's title and beginning with the topic: the mean of the embeddings of its keywords, its description
    and its positive examples, each of length 1. A negative cosine counts as 0.

    Raises ``BadSetting`` where there is neither an address nor a model.
    """

    asks: ClassVar[bool] = True
    needs_text: ClassVar[bool] = True

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        options = given.options.of(JudgeOptions)
        self._embed: Embed = _of_address(options) if options.judge_url else _of_model(options.judge_model)
        topic = given.topic
        texts = [", ".join(topic.keywords), topic.description]
        if topic.positive:
            texts += [_spelled(Text.of(page)) for page in given.examples.positive[:EXAMPLES]]
        self._about = [text for text in texts if text.strip()]
        self._lock = Lock()

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        with self._lock:  # found out once; a failure is tried again by the next
            topic = self._topic
        spelled = [_spelled(text) for text in texts]
        asked = [text for text in spelled if text]
        cosines = iter((self._vectors(asked) @ topic).tolist() if asked else [])
        return [min(1.0, max(0.0, next(cosines))) if text else 0.0 for text in spelled]

    @cached_property
    def _topic(self) -> Vectors:
        mean = self._vectors(self._about).mean(axis=0)
        return mean / (np.linalg.norm(mean) or 1.0)

    def _vectors(self, texts: list[str]) -> Vectors:
        """A row of length 1 for each text."""
        try:
            found = np.asarray(self._embed(texts), np.float64)
        except (TypeError, ValueError):
            raise NoAnswer("nonsense") from None
        if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
            raise NoAnswer("nonsense")
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1.0)


def _spelled(text: Text) -> str:
    """What a model sees: no halves of characters, which JSON has not."""
    return f"{text.title}\n{text.text[:CHARACTERS]}".strip().encode("utf-8", "replace").decode()


def _of_address(options: JudgeOptions) -> Embed:
    return partial(_ask, f"{options.judge_url}/embeddings", options.judge_model, options.judge_seconds)


def _ask(url: str, model: str, seconds: float, texts: list[str]) -> list[Any]:
    answer = ask(url, {"model": model, "input": texts, "encoding_format": "float"}, seconds)
    try:
        return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
    except (KeyError, TypeError):
        raise NoAnswer("nonsense") from None


def _of_model(name: str) -> Embed:
    library = next((library for library in LIBRARIES if find_spec(library) is not None), None)
    if library is None:
        wish = (
            "wants a model (pip install model2vec, or sentence-transformers, and its name in JUDGE_MODEL), or JUDGE_URL"
        )
        raise BadSetting("judge embeddings", wish)
    if not name:
        raise BadSetting("setting JUDGE_MODEL", f"expected the name or the folder of a model of {library}")
    kind, maker = LIBRARIES[library]
    found = getattr(import_module(library), kind)
    try:
        model = (getattr(found, maker) if maker else found)(name)
    except Exception as failure:  # whatever a library of models raises
        raise BadSetting("setting JUDGE_MODEL", f"{library} cannot load {name!r}: {failure}") from None
    return lambda texts: model.encode(texts)
