"""Small spaCy pipelines with word vectors, created by the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

# Two groups of synonyms that share no word, and a third group.
SEA = {"reef": (1, 0, 0), "reefs": (1, 0.1, 0), "coral": (0.9, 0, 0.1), "atoll": (0.9, 0.1, 0.1)}
RAIL = {"engine": (0, 1, 0), "steam": (0, 0.9, 0.1), "railway": (0.1, 0.9, 0)}
BREAD = {"dough": (0, 0, 1), "flour": (0.1, 0, 0.9), "oven": (0, 0.1, 0.9)}
WORDS: dict[str, Sequence[float]] = {**SEA, **RAIL, **BREAD}


def a_pipeline(folder: Path, words: Mapping[str, Sequence[float]] = WORDS, *, language: str = "en") -> Path:
    """A pipeline in ``folder`` with these word vectors, and a component that cannot be loaded."""
    import spacy  # takes seconds
    from spacy.vectors import Vectors

    pipeline = spacy.blank(language)
    keys = [pipeline.vocab.strings.add(word) for word in words]
    if words:
        data = np.array(list(words.values()), np.float32)
        pipeline.vocab.vectors = Vectors(strings=pipeline.vocab.strings, data=data, keys=keys)
    folder.mkdir(parents=True, exist_ok=True)
    pipeline.to_disk(folder)
    config = folder / "config.cfg"
    config.write_text(config.read_text().replace("pipeline = []", 'pipeline = ["parser"]'))
    return folder


def install(site: Path, name: str, words: Mapping[str, Sequence[float]] = WORDS) -> None:
    """Write a package into ``site`` as ``spacy download`` does; its name is language, name and size: en_core_web_md."""
    language, _, rest = name.partition("_")
    package, about = site / name, site / f"{name}-1.0.dist-info"
    a_pipeline(package / f"{name}-1.0", words, language=language)
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (package / "meta.json").write_text(json.dumps({"lang": language, "name": rest, "version": "1.0"}))
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n")
