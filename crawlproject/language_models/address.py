"""Sends one request to an address that speaks the OpenAI protocol. Must not be called in the event loop of a crawl."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import aiohttp
import orjson

from crawlproject.errors import NoAnswer

LONGEST = 2**24  # bytes of an answer


def ask(url: str, question: Mapping[str, Any], seconds: float, key: str) -> Any:
    """The JSON answer of ``url`` to ``question``, within ``seconds``. ``key`` names the environment variable that holds its
    key, so that the key never appears in folders, logs or command lines.

    Redirects are not followed: the key is for this address only. Raises ``NoAnswer``, whose reason quotes neither question
    nor answer.
    """
    try:
        return asyncio.run(_ask(url, question, seconds, os.environ.get(key, "").strip()))
    except TimeoutError:
        raise NoAnswer("timeout") from None
    except (aiohttp.ClientError, OSError, EOFError):
        raise NoAnswer("connection") from None
    except (orjson.JSONDecodeError, ValueError):
        raise NoAnswer("nonsense") from None


async def _ask(url: str, question: Mapping[str, Any], seconds: float, key: str) -> Any:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    limit = aiohttp.ClientTimeout(total=seconds)
    async with (
        aiohttp.ClientSession(timeout=limit, trust_env=True) as session,
        session.post(url, data=orjson.dumps(question), headers=headers, allow_redirects=False) as response,
    ):
        if response.status != 200:
            raise NoAnswer(f"status {response.status}")
        body = bytearray()
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > LONGEST:
                raise NoAnswer("too long")
    return orjson.loads(bytes(body))
