"""Naive Bayes over documents, and the taxonomy and the vocabulary around it."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlproject.orderings.context_graph import distinctive_terms
from crawlproject.orderings.taxonomy import NaiveBayes


def test_two_documents_worked_out_by_hand() -> None:
    """Two terms in two documents: each row has length 1, so ``P(term|class)`` is 1.5/2 or 0.5/2 with smoothing 0.5."""
    model = NaiveBayes({"reef": [{"coral": 1}], "rail": [{"steam": 4}]}, smoothing=0.5)
    assert model.classes == ("rail", "reef")
    assert model.probabilities({"coral": 3})["reef"] == pytest.approx(0.75)
    assert model.probabilities({"coral": 1, "steam": 1}) == pytest.approx({"rail": 0.5, "reef": 0.5})
    weighed = NaiveBayes(
        {"reef": [{"coral": 1}], "rail": [{"steam": 4}]}, smoothing=0.5, priors={"reef": 0.2, "rail": 0.8}
    )
    assert weighed.probabilities({"coral": 3})["reef"] == pytest.approx(0.75 * 0.2 / (0.75 * 0.2 + 0.25 * 0.8))


def test_a_document_without_known_terms_has_the_priors() -> None:
    model = NaiveBayes({"a": [{"x": 1}], "b": [{"y": 1}]}, priors={"a": 0.25, "b": 0.75}, vocabulary=["x", "y"])
    assert model.probabilities({}) == pytest.approx({"a": 0.25, "b": 0.75})
    assert model.probabilities({"z": 5}) == pytest.approx({"a": 0.25, "b": 0.75})


def test_without_any_term_there_are_only_priors() -> None:
    assert NaiveBayes({"a": [{}], "b": [{}, {}]}).probabilities({"x": 1}) == pytest.approx({"a": 0.5, "b": 0.5})
    silent = NaiveBayes({"a": [{"x": 1}], "b": [{"x": 1}]}, vocabulary=[])
    assert silent.probabilities({"x": 1}) == pytest.approx({"a": 0.5, "b": 0.5})


def test_only_the_vocabulary_is_looked_at() -> None:
    documents = {"a": [{"x": 1, "noise": 9}], "b": [{"y": 1, "noise": 1}]}
    model = NaiveBayes(documents, vocabulary=["x", "y"])
    assert model.probabilities({"noise": 50}) == pytest.approx({"a": 0.5, "b": 0.5})


texts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), max_size=8)


@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4), texts)
def test_probabilities_are_those_of_scikit_learn(one: list, other: list, document: dict) -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    one = [*one, {"a": 1}]  # scikit-learn wants one term at least
    reference = make_pipeline(
        DictVectorizer(), TfidfTransformer(sublinear_tf=True), MultinomialNB(alpha=0.01, fit_prior=False)
    )
    reference.fit([*one, *other], ["one"] * len(one) + ["other"] * len(other))
    [expected] = reference.predict_proba([document])
    assert list(NaiveBayes({"one": one, "other": other}).probabilities(document).values()) == pytest.approx(expected)


def test_distinctive_terms_are_frequent_here_and_rare_elsewhere() -> None:
    core = [Counter(coral=3, the=9), Counter(reef=2, fish=1, the=9)]
    corpus = [*core, Counter(fish=1, the=9), Counter(the=9)]
    weights = {"coral": 3 * log(5 / 2), "reef": 2 * log(5 / 2), "fish": log(5 / 3)}
    assert distinctive_terms(core, corpus, 9) == tuple(sorted(weights, key=lambda term: -weights[term]))
    assert distinctive_terms(core, corpus, 1) == ("coral",)
