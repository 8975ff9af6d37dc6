"""Relevance by sentence embeddings, from an installed model or from an address that serves ``/embeddings``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import ClassVar

import numpy as np

from crawlproject.language_models.base import Embedder, Vectors
from crawlproject.language_models.embeddings import of_address, of_model
from crawlproject.parts.judges.base import Given, Judge, Text
from crawlproject.parts.judges.options import KEY, JudgeOptions

CHARACTERS = 4_000  # of a page that are used: models cut after 256 to 8,192 tokens
EXAMPLES = 50  # positive examples that are used


class EmbeddingsJudge(Judge):
    """The cosine between the embedding of a page (title and beginning) and that of the topic, which is the mean of those of its
    keywords, its description and its positive examples, each of length 1. A negative cosine counts as 0.

    Raises ``BadSetting`` if there is neither an address nor a model.
    """

    asks: ClassVar[bool] = True
    needs_text: ClassVar[bool] = True

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        options = given.options.of(JudgeOptions)
        url, model, seconds = options.judge_url, options.judge_model, options.judge_seconds
        embed = of_address(url, model, seconds, KEY) if url else of_model(model, "JUDGE_MODEL", "JUDGE_URL")
        self._model = Embedder(model, lambda: embed)
        topic = given.topic
        texts = [", ".join(topic.keywords), topic.description]
        if topic.positive:
            texts += [_spelled(Text.of(page)) for page in given.examples.positive[:EXAMPLES]]
        self._about = [text for text in texts if text.strip()]
        self._lock = Lock()

    def judge(self, texts: Sequence[Text]) -> Sequence[float]:
        with self._lock:  # computed once; after a failure, the next call tries again
            topic = self._topic
        spelled = [_spelled(text) for text in texts]
        asked = [text for text in spelled if text]
        cosines = iter((self._model.vectors(asked) @ topic).tolist() if asked else [])
        return [min(1.0, max(0.0, next(cosines))) if text else 0.0 for text in spelled]

    @cached_property
    def _topic(self) -> Vectors:
        mean = self._model.vectors(self._about).mean(axis=0)
        return mean / (np.linalg.norm(mean) or 1.0)


def _spelled(text: Text) -> str:
    """What a model sees of a page: its title and beginning."""
    return f"{text.title}\n{text.text[:CHARACTERS]}".strip()
