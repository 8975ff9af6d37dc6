"""Settings of the part: where a judge is asked, and what that may cost.

None of them can be set in a topic file: a topic file from elsewhere must not decide where pages, and the key, are sent.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from crawlproject.options import Count, Options, Seconds

KEY = "TOPICAL_JUDGE_KEY"  # environment variable with the key of the address


def _base_url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query):
        raise ValueError("expected an address such as http://127.0.0.1:11434/v1, without a query")
    return value.rstrip("/")


class JudgeOptions(Options):
    """The [judge](judges.md) that `TOPIC_RELEVANCE` names."""

    judge_url: Annotated[str, AfterValidator(_base_url), Field(exclude=True)] = ""  # may carry a password
    """URL | address of a server that speaks the OpenAI protocol, without `/chat/completions` and `/embeddings`, for the
    judges `llm` and `embeddings`; the environment variable `TOPICAL_JUDGE_KEY` holds its key, if it requires one"""
    judge_model: str = ""
    """the server's name for the model; for `embeddings` without an address, an installed model or a folder"""
    judge_seconds: Annotated[Seconds, Field(gt=0)] = 10.0
    """seconds | longest wait for an answer, after which a page is judged by its words"""
    judge_unsure: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 2.0
    """times | `llm` is asked about pages that the cheap judge places between `PAGE_RELEVANT` divided by this and
    `PAGE_RELEVANT` times this"""
    judge_questions: Count = 1_000
    """questions | maximum questions to `llm` in a crawl, over all resumes, by each worker; then the cheap judge
    continues alone"""
    judge_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """money | price of 1,000 tokens, for questions and answers alike"""
    judge_money: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """money | maximum cost of `llm` in a crawl at that price; 0: no limit"""
