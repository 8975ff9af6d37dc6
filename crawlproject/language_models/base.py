"""The common interface of models that turn texts into vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawlproject.errors import NoAnswer

Vectors = NDArray[np.float32]
Embed = Callable[[list[str]], Any]


@dataclass(frozen=True)
class Embedder:
    """An embedding model called ``name``. It is loaded on first use; ``load`` raises ``BadSetting`` if that fails."""

    name: str
    load: Callable[[], Embed]

    @cached_property
    def embed(self) -> Embed:
        """The loaded model. Raises what ``load`` raises."""
        return self.load()

    def vectors(self, texts: list[str]) -> Vectors:
        """A row of length 1 for each text; zero vectors stay zero. Raises ``NoAnswer``, and what ``load`` raises."""
        spelled = [text.encode("utf-8", "replace").decode() for text in texts]  # JSON cannot encode lone surrogates
        embed = self.embed
        try:
            found = np.asarray(embed(spelled), np.float32)
        except NoAnswer:
            raise
        except Exception as failure:  # model libraries may raise anything
            is_shape = isinstance(failure, TypeError | ValueError)
            raise NoAnswer("nonsense" if is_shape else type(failure).__name__) from None
        if found.ndim != 2 or len(found) != len(texts) or not found.shape[1] or not np.isfinite(found).all():
            raise NoAnswer("nonsense")
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 0, lengths, 1), np.float32)
