"""A server on loopback that speaks the OpenAI protocol for chat and embeddings, well or badly."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.httpserver import QuietHandler, listening

Answer = Callable[[str], object]


def embedding(text: str) -> list[float]:
    """How often words of the sea, and of the railway, occur in the text."""
    words = Counter(text.lower().split())
    return [1.0 + words["coral"] + words["reef"] + words["lagoon"], 1.0 + words["engine"] + words["boiler"]]


@dataclass
class JudgeServer:
    """``says`` returns the content of a chat message in reply to the user's text; bytes are sent unchanged.

    A ``status`` other than 200 is sent as an error. With ``hangs`` no answer comes until the block ends.
    """

    says: Answer = lambda asked: "80" if "reef" in asked.rpartition("The page:")[2].lower() else "3"
    status: int = 200
    hangs: bool = False
    tokens: int = 250
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def pages(self) -> list[str]:
        """The pages that requests asked about."""
        return [question["messages"][1]["content"].rpartition("The page:")[2] for question in self.asked]

    def answer(self, path: str, question: dict[str, Any]) -> bytes:
        if path.endswith("/embeddings"):
            rows = [{"index": number, "embedding": embedding(text)} for number, text in enumerate(question["input"])]
            return json.dumps({"data": rows[::-1]}).encode()
        said = self.says(question["messages"][1]["content"])
        if isinstance(said, bytes):
            return said
        choices = [{"message": {"role": "assistant", "content": said}}]
        return json.dumps({"choices": choices, "usage": {"total_tokens": self.tokens}}).encode()


@contextmanager
def judging(server: JudgeServer) -> Iterator[JudgeServer]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(question)
            server.keys.add(self.headers.get("Authorization", ""))
            if server.hangs:
                server.over.wait(60)
            body = server.answer(self.path, question)
            self.send_response(server.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if server.status == 307:
                self.send_header("Location", f"http://localhost:{server.port}/v1/elsewhere")
            self.end_headers()
            self.wfile.write(body)

    with listening(Handler) as port:
        server.port = port
        yield server
        server.over.set()
